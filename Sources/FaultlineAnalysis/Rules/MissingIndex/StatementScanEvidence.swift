/// Runs of one statement at one line that stepped through a table, or for which SQLite built an index, outside any operation
/// of an object store.
public struct StatementScanEvidence: Sendable {
    public internal(set) var executions: UInt64 = 0
    /// The steps of full table scans.
    public internal(set) var fullScanSteps: UInt64 = 0
    /// The rows of indexes that SQLite built for one run each.
    public internal(set) var automaticIndexRows: UInt64 = 0
    /// The times that SQLite sorted rows.
    public internal(set) var sorts: UInt64 = 0
    public internal(set) var rows: UInt64 = 0
    /// The runs' time in SQLite, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    /// The libraries that ran the statement for the program, as names of ``StatementLibrary``.
    public internal(set) var libraries: Set<String> = []
    /// The lines of SQLite's plans that scan a table.
    public internal(set) var scans: Set<String> = []
    /// The lines of SQLite's plans that search such an index.
    public internal(set) var automaticIndexes: Set<String> = []
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The wall time of the scopes, or without scopes that of the runs, in nanoseconds.
    public internal(set) var wallTime: UInt64 = 0
}

extension StatementScanEvidence {
    /// The rows that the runs stepped over.
    ///
    /// SQLite counts the steps after the first row of each run.
    var steppedRows: Double { Double(fullScanSteps &+ executions) }
    var steppedRowsPerRun: Double { steppedRows / Double(max(1, executions)) }

    /// The time that an index would save, in nanoseconds, if a seek costs about ten steps.
    var timeWithoutScan: Double {
        let left = min(1, (Double(max(1, rows)) + 10 * Double(executions)) / max(1, steppedRows))
        return Double(time) * (1 - left)
    }

    /// Whether SQLite scans a table of a statement, as far as its plans are known.
    func mayScan(_ table: String, of statement: StatementText) -> Bool {
        scans.isEmpty ? statement.conditions.names.count <= 1 : scan(of: table, in: statement) != nil
    }

    /// A sentence with the line of SQLite's plan that scans a table, if it is known.
    func plan(of table: String, in statement: StatementText) -> [Wording] {
        scan(of: table, in: statement).map { ["SQLite's plan: \(code: $0)."] } ?? []
    }

    /// A line of a plan that scans a table: `SCAN book` or, with an alias, `SCAN b`.
    private func scan(of table: String, in statement: StatementText) -> String? {
        let names = Set(statement.conditions.names.filter { $0.table == table }.map(\.alias)).union([table])
        return scans.sorted().first { line in
            let scanned = line.dropFirst("SCAN ".count)
            return names.contains { scanned == $0 || scanned.hasPrefix($0 + " ") }
        }
    }
}

extension StatementScanEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<StatementScanEvidence>] = [
        .sum("executions", \.executions), .sum("fullScanSteps", \.fullScanSteps),
        .sum("sorts", \.sorts), .sum("rows", \.rows), .sum("time", \.time), .sum("mainThreadTime", \.mainThreadTime),
        .sum("wallTime", \.wallTime), .union("libraries", \.libraries), .union("scans", \.scans),
        .sum("automaticIndexRows", \.automaticIndexRows), .union("automaticIndexes", \.automaticIndexes),
        .part("scopes", \.scopes),
    ]
}
