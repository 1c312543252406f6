internal import FaultlineFindings
internal import FaultlineTrace

/// The answers of SQLite's planner and a copy of the database about indexes for the statements of a trace.
package struct IndexExaminations: Sendable {
    private var statements: [String: StatementExamination] = [:]
    /// The reason why SQLite could not be asked about any statement, as a sentence, or `nil` if it was asked.
    package var problem: String?
    /// The full-text tables of the database, by the tables whose texts they index, both in lowercase.
    package var fullTextTables: [String: String] = [:]
    /// The pages of the program's database, and the bytes of one, or `nil` if its file is not at hand.
    package var pages: (count: UInt64, size: UInt64)?
    /// The column that has most of the bytes of a statement's rows, by statement.
    package var widestColumns: [String: WideColumn] = [:]

    /// No examinations.
    package init() {}

    /// Whether SQLite was asked about no statement.
    var isEmpty: Bool { statements.isEmpty && widestColumns.isEmpty }

    /// The number of statements that SQLite has answered about.
    var answers: Int { statements.values.count { if case .notExamined = $0 { false } else { true } } }

    /// Sentences about the statements that SQLite could not be asked about, one for each reason.
    var omissions: [Wording] {
        var reasons: [String: Int] = [:]
        for case .notExamined(let reason) in statements.values { reasons[reason, default: 0] += 1 }
        return reasons.ordered(on: \.key).map { reason, number in
            "SQLite could not be asked about \(count: number, "statement"). \(reason)"
        }
    }

    package subscript(sql: String) -> StatementExamination? {
        get { statements[sql] }
        set { statements[sql] = newValue }
    }
}

/// The answer about one statement.
package enum StatementExamination: Sendable, Hashable {
    /// A change that saves steps.
    case change(StatementTuning)
    /// No index that the planner would use saves steps, with values of the trace or with values drawn from the copy.
    ///
    /// The mismatches are columns of different types that the statement compares with each other.
    case nothing(hasRecordedValues: Bool, mismatches: [TypeMismatch] = [])
    /// The reason why it could not be examined, as a sentence.
    case notExamined(String)
}

/// The column that has most of the bytes of a statement's rows, in the first rows on a copy of the database.
package struct WideColumn: Sendable, Hashable {
    package var name: String
    /// The mean number of bytes in a row.
    package var bytes: Double
    /// The share of the rows' bytes, from 0 to 1.
    package var share: Double
    /// The number of rows.
    package var rows: UInt64

    package init(name: String, bytes: Double, share: Double, rows: UInt64) {
        (self.name, self.bytes, self.share, self.rows) = (name, bytes, share, rows)
    }
}

/// A column whose index SQLite cannot use, because it is compared with a column of another type.
///
/// If one column is of a numeric type and the other is not, SQLite compares numbers, and an index of texts has another order
/// (https://sqlite.org/datatype3.html#type_conversions_prior_to_comparison).
package struct TypeMismatch: Sendable, Hashable {
    /// The column and its table, and the declared type.
    package var column: String
    package var type: String
    /// The column that it is compared with, and its table, and the declared type.
    package var other: String
    package var otherType: String

    package init(column: String, type: String, other: String, otherType: String) {
        (self.column, self.type, self.other, self.otherType) = (column, type, other, otherType)
    }

    var sentence: Wording {
        "It compares \(code: column), which is \(code: type.isEmpty ? "without a type" : type), with \(code: other), which is "
            + "\(code: otherType.isEmpty ? "without a type" : otherType): for that, SQLite uses no index on \(code: column). "
            + "Declare both with the same type."
    }
}

/// Indexes and statistics with which SQLite takes fewer steps for a statement, measured on a copy of the database.
package struct StatementTuning: Sendable, Hashable {
    package struct Index: Sendable, Hashable {
        package var table: String
        /// The columns and expressions, in SQL.
        package var columns: [String]
        /// The condition of the rows that it has, in SQL, or `nil` for all rows.
        package var condition: String?
        /// Whether its table is temporary, so that the index is created after it.
        package var isTemporary: Bool
        /// The statement that creates it.
        package var code: String
        /// The times to insert a row into the table, or `nil` if they were not measured.
        package var insertion: Insertion?

        package init(
            table: String, columns: [String], condition: String? = nil, isTemporary: Bool = false, code: String,
            insertion: Insertion? = nil
        ) {
            (self.table, self.columns, self.condition, self.isTemporary) = (table, columns, condition, isTemporary)
            (self.code, self.insertion) = (code, insertion)
        }
    }

    /// The CPU times to insert a row without and with an index, in nanoseconds, measured on a copy of the database.
    package struct Insertion: Sendable, Hashable {
        package var without: Double
        package var with: Double

        package init(without: Double, with: Double) { (self.without, self.with) = (without, with) }
    }

    /// The work of the measured runs.
    package struct Work: Sendable, Hashable {
        /// The steps of SQLite's virtual machine.
        package var steps: UInt64
        /// The times that SQLite sorted rows, for which it counts no steps.
        package var sorts: UInt64
        /// The CPU time in nanoseconds.
        package var time: Double
        /// The lines of SQLite's plan.
        package var plan: [String]

        package init(steps: UInt64, sorts: UInt64 = 0, time: Double, plan: [String]) {
            (self.steps, self.sorts, self.time, self.plan) = (steps, sorts, time, plan)
        }
    }

    /// A statement for which the change is a disadvantage.
    package struct Slowdown: Sendable, Hashable {
        package var sql: String
        /// The steps of SQLite's virtual machine without the change and with it.
        package var before: UInt64
        package var after: UInt64

        package init(sql: String, before: UInt64, after: UInt64) {
            (self.sql, self.before, self.after) = (sql, before, after)
        }
    }

    package var indexes: [Index]
    /// Whether SQLite needs statistics about the tables.
    package var analyzes: Bool
    /// The number of measured runs.
    package var runs: UInt64
    package var before: Work
    package var after: Work
    /// Whether the runs had values of the trace, and not values drawn from the copy.
    package var hasRecordedValues: Bool
    /// Whether the runs took about as many steps as those of the trace.
    package var resemblesRecording: Bool
    /// Whether the statement forces or forbids an index.
    package var forcesIndex: Bool
    /// Other statements that get slower.
    package var slower: [Slowdown]

    package init(
        indexes: [Index], analyzes: Bool, runs: UInt64, before: Work, after: Work, hasRecordedValues: Bool,
        resemblesRecording: Bool = true, forcesIndex: Bool = false, slower: [Slowdown] = []
    ) {
        (self.indexes, self.analyzes, self.runs, self.before, self.after) = (indexes, analyzes, runs, before, after)
        (self.hasRecordedValues, self.resemblesRecording) = (hasRecordedValues, resemblesRecording)
        (self.forcesIndex, self.slower) = (forcesIndex, slower)
    }

    /// The SQL of the change.
    package var code: [String] { indexes.map(\.code) + (analyzes ? ["ANALYZE"] : []) }

    /// The time from which two times can be compared, in nanoseconds.
    package static let measurable = 1_000_000.0

    /// The share of the time that the change saves on the copy, or of the steps if the runs are too short to measure, from 0 to 1.
    package var savedShare: Double {
        let share =
            before.time >= Self.measurable
            ? after.time / before.time : Double(after.steps) / Double(max(1, before.steps))
        return max(0, 1 - share)
    }
}
