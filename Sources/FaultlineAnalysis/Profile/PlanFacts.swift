internal import FaultlineTrace

/// What is read of SQLite's plan for a statement (https://www.sqlite.org/eqp.html).
struct PlanFacts: Sendable {
    /// The only step that goes to a table.
    struct Access: Sendable, Hashable {
        /// Whether it goes through the table row by row, and not by an index.
        var isScan: Bool
        /// Columns of the index that are compared for equality.
        var equalities: Int
        /// Rows that SQLite expects it to go to, by its statistics; `nil`: it has none of the table.
        var expectedRows: UInt64?
        /// Indexes of the table that it goes through, each as its columns.
        var indexes: Set<String>

        init(_ step: PlanEntry.Row) {
            isScan = step.detail.hasPrefix("SCAN ")
            equalities = step.detail.matches(of: /[^<>]=\?/).count
            expectedRows = step.expectedRows.map { UInt64(max(0, $0)) }
            indexes = isScan ? Set(step.indexes ?? []) : []
        }
    }

    /// The plan's lines.
    let text: String
    /// `nil`: several tables are joined, or one is gone to several times.
    let access: Access?
    /// Whether the rows are sorted, all of them at a time.
    let sortsRows: Bool

    init(_ plan: PlanEntry) {
        text = plan.rows.map(\.detail).joined(separator: "\n")
        let steps = plan.rows.filter { $0.detail.hasPrefix("SCAN ") || $0.detail.hasPrefix("SEARCH ") }
        access = steps.count == 1 ? Access(steps[0]) : nil
        sortsRows = plan.rows.contains { $0.detail == "USE TEMP B-TREE FOR ORDER BY" }
    }

    /// How many rows a run of a fetch's statement went to, where SQLite's statistics say what it had expected.
    ///
    /// - Parameter isCut: Whether a limit or an offset keeps rows back.
    /// - Returns: `nil` if they do not, or the statement counts or groups rows. What a limit cut off, and what an index led
    ///   to and another term kept out, is not counted: then there may have been more.
    func expectation(
        of statement: TraceEvent.Statement, _ shape: ShapeEntry, isCut: Bool
    ) -> StatementTable.Expectation? {
        guard let access, let expected = access.expectedRows, statement.error == 0,
            shape.resultType == "objects" || shape.resultType == "objectIDs"
        else { return nil }
        if access.isScan {
            // Without a step it may be one row, none, or a predicate that nothing fulfils.
            guard statement.scannedRows > 0 else { return nil }
            return .init(
                runs: 1, expectedRows: expected, rows: statement.scannedRows, exactRuns: isCut ? 0 : 1)
        }
        let terms = shape.terms ?? []
        guard terms.allSatisfy(\.isEquality), !terms.contains(where: { $0.operation == "IN" }) else { return nil }
        let isExact = !isCut && !terms.isEmpty && terms.count == access.equalities
        return .init(runs: 1, expectedRows: expected, rows: UInt64(statement.rows), exactRuns: isExact ? 1 : 0)
    }
}
