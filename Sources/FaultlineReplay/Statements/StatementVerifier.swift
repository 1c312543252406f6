public import FaultlineAnalysis

/// Tries the advice about the statements of a program without an object store on copies of its database.
///
/// The database itself is only read to be copied, and never opened.
public struct StatementVerifier {
    /// The database's name as given, and its resolved path.
    private let name: String
    private let path: String
    private let folder: ScratchFolder
    private let base: DatabaseFile

    /// The most runs to replay of a statement whose runs cost alike, and of one whose runs are joined.
    private static let fewRuns: UInt64 = 8
    private static let manyRuns: UInt64 = 100

    /// Copies a database.
    ///
    /// - Parameter path: An SQLite file.
    /// - Throws: ``ReplayError`` if the file cannot be read or copied, or is not an SQLite file.
    public init(path: String) throws(ReplayError) {
        name = path
        self.path = try StorePath.resolved(path)
        folder = try ScratchFolder()
        base = try DatabaseFile(copy: folder.copyStore(self.path), named: path)
    }

    /// Tries every finding that can be tried.
    ///
    /// - Parameter progress: Called before each finding is tried, with the finding and the number of finished ones.
    public func verify(_ analysis: Analysis, progress: (Finding, Int) -> Void = { _, _ in }) -> Verification {
        Verification(store: name, of: analysis, progress: progress) { trial(of: $0, analysis) }
    }

    private func trial(of finding: Finding, _ analysis: Analysis) -> Trial {
        guard case .statement(let change) = finding.remedy else {
            return Trial(finding, notTried: "Only the program's author can make its change.")
        }
        do {
            let (measurement, notes) = try pair(for: change).measure(change)
            return Trial(finding, measurement, recorded: analysis.recordedTime(of: finding), notes: notes)
        } catch {
            return Trial(finding, notTried: Untriable(error, copyOf: name).reason)
        }
    }

    private static let drawn = "The trace has no values, so they were drawn from the copy."

    // MARK: - Comparisons

    private func pair(for change: StatementChange) throws -> StatementPair {
        let rows = change.rows / max(1, change.executions)
        switch change.kind {
        case .indexes(let indexes):
            let statement = try draw(change, rows)
            let other = try copy("indexed.sqlite", indexes)
            return pair(statement, try side(statement, on: base), try side(statement, on: other))
        case .fullText(let table, let column):
            return try searchPair(change, table, column, rows)
        case .together(let runs):
            return try joinedPair(change, runs, rows)
        case .once(let runs):
            let statement = try DrawnStatement(change.sql, runs: 1, rows: rows, on: base)
            let query = try PreparedQuery(statement.text, on: base)
            let count = max(2, min(runs, Self.manyRuns))
            let values = Array(repeating: statement.values[0], count: Int(count))
            return StatementPair(
                before: .init(trips: count, run: { try query.run(values) }),
                after: .init(trips: 1, run: { try query.run([values[0]]) }), operations: count,
                notes: statement.values[0].isEmpty ? [] : [Self.drawn])
        case .prepared:
            let statement = try draw(change, rows)
            let query = try PreparedQuery(statement.text, on: base)
            var pair = pair(statement, try side(statement, on: base), try side(statement, on: base))
            pair.before.run = { [base] in
                try statement.values.reduce(0) { try $0 + PreparedQuery(statement.text, on: base).run([$1]) }
            }
            pair.after.run = { try query.run(statement.values) }
            return pair
        case .keyset(let column, let isDescending, let skipped):
            return try pagePair(change, column, isDescending, skipped, rows)
        case .transaction(let transactions):
            return try TransactionReplay(change, transactions, folder, named: name).pair
        }
    }

    /// The numbers of characters to try in a pattern.
    private static let patternLengths = [4, 3, 6, 10]

    /// Draws the values of a few runs: of patterns, those that find about as many rows as the recorded ones.
    private func draw(_ change: StatementChange, _ rows: UInt64) throws -> DrawnStatement {
        func drawn(_ length: Int) throws -> DrawnStatement {
            try DrawnStatement(
                change.sql, runs: Int(min(change.executions, Self.fewRuns)), rows: rows, length: length, on: base)
        }
        let first = try drawn(Self.patternLengths[0])
        guard first.pattern != nil else { return first }
        var best = (statement: first, difference: Double.infinity)
        for length in Self.patternLengths {
            guard let statement = try? drawn(length) else { continue }
            let found = try side(statement, on: base).run()
            let mean = Double(found) / Double(statement.values.count)
            let difference = abs(mean - Double(change.rows) / Double(max(1, change.executions)))
            if difference < best.difference { best = (statement, difference) }
        }
        return best.statement
    }

    private func pair(
        _ statement: DrawnStatement, _ before: StatementPair.Side, _ after: StatementPair.Side
    ) -> StatementPair {
        StatementPair(
            before: before, after: after, operations: UInt64(statement.values.count),
            notes: statement.values[0].isEmpty ? [] : [Self.drawn])
    }

    /// Runs of a statement, whose writes are undone.
    private func side(_ statement: DrawnStatement, on file: DatabaseFile) throws -> StatementPair.Side {
        let query = try PreparedQuery(statement.text, on: file)
        let trips = UInt64(statement.values.count)
        guard query.writes else { return .init(trips: trips, run: { try query.run(statement.values) }) }
        return .init(
            trips: trips,
            run: {
                try file.run("BEGIN")
                return try query.run(statement.values)
            }, clear: { try file.run("ROLLBACK") })
    }

    /// A copy that some statements have changed.
    private func copy(_ file: String, _ statements: [String]) throws -> DatabaseFile {
        let other = try DatabaseFile(copy: folder.duplicateStore(as: "\(file)-\(statements.hashValue)"), named: name)
        for statement in statements { try other.run(statement) }
        return other
    }

    /// A search with `LIKE` or `GLOB`, and the same one among the rows that a full-text index finds.
    private func searchPair(
        _ change: StatementChange, _ table: String, _ column: String, _ rows: UInt64
    ) throws -> StatementPair {
        let statement = try draw(change, rows)
        let slots = StatementSlots(change.sql)
        guard let pattern = statement.pattern, slots.tables.count == 1, !slots.hasAlternatives else {
            throw Untriable("The statement has more than one table or condition, so the search cannot be replaced.")
        }
        let index = DrawnStatement.quoted("faultline_search"), name = DrawnStatement.quoted(column)
        let other = try copy(
            "searched.sqlite",
            [
                "CREATE VIRTUAL TABLE \(index) USING fts5(\(name), content = \(DrawnStatement.quoted(table)), tokenize = 'trigram')",
                "INSERT INTO \(index)(\(index)) VALUES ('rebuild')",
            ])
        let operation = slots.patternOperation
        var changed = statement
        changed.insert(
            " AND \(DrawnStatement.quoted(table)).rowid IN (SELECT rowid FROM \(index) WHERE \(name) \(operation) ?)",
            repeating: pattern)
        return pair(statement, try side(statement, on: base), try side(changed, on: other))
    }

    /// Runs of a statement for one value each, and one run for all values.
    private func joinedPair(_ change: StatementChange, _ runs: UInt64, _ rows: UInt64) throws -> StatementPair {
        guard let joined = JoinedStatement(change.sql) else {
            throw Untriable("The statement has more conditions than one, so its runs cannot be joined.")
        }
        let statement = try DrawnStatement(
            change.sql, runs: Int(max(2, min(runs, Self.manyRuns))), rows: rows, isDistinct: true, on: base)
        guard statement.values.count > 1 else { throw Untriable("The store has only one value to compare with.") }
        let single = try PreparedQuery(statement.text, on: base)
        let all = try PreparedQuery(joined.text(values: statement.values.count), on: base)
        let values = [statement.values.flatMap { $0 }]
        return StatementPair(
            before: .init(trips: UInt64(statement.values.count), run: { try single.run(statement.values) }),
            after: .init(trips: 1, run: { try all.run(values) }), operations: UInt64(statement.values.count),
            notes: [Self.drawn])
    }

    /// A page behind an offset, and one behind the last row of the page before it.
    private func pagePair(
        _ change: StatementChange, _ column: String, _ isDescending: Bool, _ skipped: UInt64, _ rows: UInt64
    ) throws -> StatementPair {
        let statement = try DrawnStatement(
            change.sql, runs: 1, rows: rows, offset: skipped, on: base)
        guard statement.values[0].isEmpty, let page = StatementPage(change.sql, column, isDescending) else {
            throw Untriable("The statement has a condition, so another one cannot be added with certainty.")
        }
        let last = try base.values(page.last(before: skipped))
        guard let last = last.first else {
            throw Untriable("The store has fewer than \(Phrase.count(skipped, "row")) to skip.")
        }
        let before = try PreparedQuery(statement.text, on: base)
        let after = try PreparedQuery(page.text(rows: max(1, rows)), on: base)
        return StatementPair(
            before: .init(trips: 1, run: { try before.run([[]]) }),
            after: .init(trips: 1, run: { try after.run([last]) }),
            operations: 1, notes: ["One page stands for all, behind the mean offset."])
    }
}
