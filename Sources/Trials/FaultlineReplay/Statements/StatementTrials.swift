import FaultlineFindings
import FaultlineProfile
import FaultlineRules

/// Trials of a statement's change on copies of a database.
struct StatementTrials {
    let change: StatementChange
    /// Texts of the statement with the values of recorded runs; none if the trace has no values.
    let samples: [String]
    /// A copy that no trial changes.
    let base: DatabaseFile
    /// The database's own path, without links (``StorePath``).
    let path: String
    /// The database's name, for errors.
    let name: String

    /// The most runs to replay of a statement whose runs cost alike, and of one whose runs are joined.
    private static let fewRuns: UInt64 = 8
    private static let manyRuns: UInt64 = 100

    /// A remark on values that were drawn.
    private var drawn: String {
        samples.isEmpty
            ? "The trace has no values, so they were drawn from the copy." : "Other values were drawn from the copy."
    }

    /// The mean number of rows of a run.
    private var rows: UInt64 { change.rows / max(1, change.executions) }

    /// The work with and without the change.
    ///
    /// - Throws: ``Untriable`` if it cannot be tried, ``ReplayError`` with SQLite's message.
    func pair() throws -> StatementPair {
        switch change.kind {
        case .indexes(let indexes):
            let runs = try runs()
            let (folder, other) = try copy(indexes)
            return pair(runs, try side(runs, on: base), try side(runs, on: other), in: folder)
        case .fullText(let table, let column): return try searchPair(table, column)
        case .together(let runs): return try joinedPair(runs)
        case .once(let runs): return try repeatedPair(runs)
        case .prepared:
            let runs = try runs()
            let after = try side(runs, on: base)
            var before = after
            before.run = { [base] in
                try runs.runs.reduce(0) { try $0 + PreparedQuery($1.text, on: base).run([$1.values]) }
            }
            return pair(runs, before, after)
        case .keyset(let column, let isDescending, let skipped):
            return try pagePair(column, isDescending, skipped)
        case .columns(let names): return try selectionPair(keepsRows: true) { $0.columns(names) }
        case .count: return try selectionPair(keepsRows: false, \.count)
        case .existence: return try selectionPair(keepsRows: false, \.existence)
        case .transaction(let transactions):
            return try TransactionReplay(change, transactions, of: path, named: name).pair
        }
    }

    // MARK: - Runs

    /// Some runs with recorded values, or `nil` if the trace has none.
    private func recordedRuns(_ most: UInt64) throws -> ReplayedRuns? {
        guard !samples.isEmpty else { return nil }
        // A trace can contain anything.
        let verb = Self.verb(change.sql)
        guard samples.allSatisfy({ Self.verb($0) == verb }) else {
            throw Untriable("The trace has other statements in the place of this one's values.")
        }
        let count = min(samples.count, Int(most))
        return ReplayedRuns(recorded: (0..<count).map { samples[$0 * samples.count / count] })
    }

    /// A few runs, with the recorded values if there are any.
    private func runs() throws -> ReplayedRuns { try recordedRuns(Self.fewRuns) ?? ReplayedRuns(draw()) }

    /// The numbers of characters to try in a pattern.
    private static let patternLengths = [4, 3, 6, 10]
    /// The maximum time to try one of them, in nanoseconds.
    private static let drawingLimit: UInt64 = 1_000_000_000

    /// Draws the values of a few runs: of patterns, those that find about as many rows as the recorded ones.
    private func draw() throws -> DrawnStatement {
        func drawn(_ length: Int) throws -> DrawnStatement {
            try DrawnStatement(
                change.sql, runs: Int(min(change.executions, Self.fewRuns)), rows: rows, length: length, on: base)
        }
        let first = try drawn(Self.patternLengths[0])
        guard first.pattern != nil else { return first }
        var best = (statement: first, difference: difference(of: first) ?? .infinity)
        for length in Self.patternLengths.dropFirst() {
            guard let statement = try? drawn(length), let difference = difference(of: statement) else { continue }
            if difference < best.difference { best = (statement, difference) }
        }
        return best.statement
    }

    /// The difference between the mean numbers of rows that drawn and recorded runs find, or `nil` if the drawn ones fail.
    private func difference(of statement: DrawnStatement) -> Double? {
        let found = base.limitingQueries(to: Self.drawingLimit) {
            try? side(ReplayedRuns(statement), on: base).run()
        }
        guard let found else { return nil }
        let mean = Double(found) / Double(statement.values.count)
        return abs(mean - Double(change.rows) / Double(max(1, change.executions)))
    }

    private func pair(
        _ runs: ReplayedRuns, _ before: StatementPair.Side, _ after: StatementPair.Side, in folder: ScratchFolder? = nil
    ) -> StatementPair {
        StatementPair(
            before: before, after: after, folder: folder, operations: runs.count, notes: runs.hasValues ? [drawn] : [])
    }

    /// Runs of a statement, whose writes are undone.
    private func side(_ runs: ReplayedRuns, on file: DatabaseFile) throws -> StatementPair.Side {
        let prepared = try runs.prepared(on: file)
        return .init(
            trips: runs.count, run: { try prepared.reduce(0) { try $0 + $1.query.run([$1.values]) } }, file: file,
            isUndone: prepared.contains(where: \.query.writes))
    }

    /// A copy that some statements have changed, with its folder.
    private func copy(_ statements: [String]) throws -> (folder: ScratchFolder, file: DatabaseFile) {
        let folder = try ScratchFolder()
        let other = try DatabaseFile(copy: folder.copyStore(path), named: name)
        for statement in statements { try other.run(statement) }
        other.forbidOtherFiles()
        return (folder, other)
    }

    // MARK: - Other statements

    /// A search with `LIKE` or `GLOB`, and the same one among the rows that a full-text index finds.
    private func searchPair(_ table: String, _ column: String) throws -> StatementPair {
        let statement = try draw()
        let slots = StatementSlots(change.sql)
        guard let pattern = statement.pattern, slots.tables.count == 1, !slots.hasAlternatives else {
            throw Untriable("The statement has more than one table or condition, so the search cannot be replaced.")
        }
        let index = DatabaseFile.quoted("faultline_search"), name = DatabaseFile.quoted(column)
        let (folder, other) = try copy(
            [
                "CREATE VIRTUAL TABLE \(index) USING fts5(\(name), content = \(DatabaseFile.quoted(table)), tokenize = 'trigram')",
                "INSERT INTO \(index)(\(index)) VALUES ('rebuild')",
            ])
        var changed = statement
        changed.insert(
            " AND \(DatabaseFile.quoted(table)).rowid IN (SELECT rowid FROM \(index) WHERE \(name) \(pattern.operation) ?)",
            repeating: pattern)
        let runs = ReplayedRuns(statement)
        return pair(runs, try side(runs, on: base), try side(ReplayedRuns(changed), on: other), in: folder)
    }

    /// Runs of a statement, and the same ones with another selection.
    private func selectionPair(keepsRows: Bool, _ change: (StatementSelection) -> String) throws -> StatementPair {
        let runs = try runs()
        let changed = try runs.changingTexts { text in
            guard let selection = StatementSelection(text) else {
                throw Untriable("The statement's selection cannot be replaced with certainty.")
            }
            return change(selection)
        }
        var pair = pair(runs, try side(runs, on: base), try side(changed, on: base))
        pair.keepsRows = keepsRows
        return pair
    }

    /// Runs of a statement for one value each, and one run for all values.
    private func joinedPair(_ runs: UInt64) throws -> StatementPair {
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
            before: .init(trips: UInt64(statement.values.count), run: { try single.run(statement.values) }, file: base),
            after: .init(trips: 1, run: { try all.run(values) }, file: base),
            operations: UInt64(statement.values.count),
            notes: [drawn])
    }

    /// Several runs with the same values, and one.
    private func repeatedPair(_ runs: UInt64) throws -> StatementPair {
        let one =
            try recordedRuns(1)
            ?? ReplayedRuns(DrawnStatement(change.sql, runs: 1, rows: rows, on: base))
        guard let run = try one.prepared(on: base).first else {
            throw Untriable("The store has no values to compare with.")
        }
        let count = max(2, min(runs, Self.manyRuns))
        let values = Array(repeating: run.values, count: Int(count))
        return StatementPair(
            before: .init(trips: count, run: { try run.query.run(values) }, file: base, isUndone: run.query.writes),
            after: .init(trips: 1, run: { try run.query.run([run.values]) }, file: base, isUndone: run.query.writes),
            operations: count, notes: one.hasValues ? [drawn] : [], keepsRows: false)
    }

    /// A page behind an offset, and one behind the last row of the page before it.
    private func pagePair(_ column: String, _ isDescending: Bool, _ skipped: UInt64) throws -> StatementPair {
        let statement = try DrawnStatement(
            change.sql, runs: 1, rows: rows, offset: skipped, on: base)
        guard statement.values[0].isEmpty,
            let page = StatementPage(
                change.sql, column, isUnique: try isUnique(column), isDescending: isDescending)
        else {
            throw Untriable("The statement has a condition, so another one cannot be added with certainty.")
        }
        let last = try base.values(page.last(before: skipped))
        guard let last = last.first else {
            throw Untriable("The store has fewer than \(Phrase.count(skipped, "row")) to skip.")
        }
        let before = try PreparedQuery(statement.text, on: base)
        let after = try PreparedQuery(page.text(rows: max(1, rows)), on: base)
        return StatementPair(
            before: .init(trips: 1, run: { try before.run([[]]) }, file: base),
            after: .init(trips: 1, run: { try after.run([last]) }, file: base),
            operations: 1, notes: ["One page, at the mean offset, represents all."])
    }

    /// Whether a column of the statement's table has each value once: it is the whole primary key.
    private func isUnique(_ column: String) throws -> Bool {
        guard let table = StatementSlots(change.sql).tables.first else { return false }
        if DatabaseFile.isRowID(column) { return true }
        let key = try base.rows("SELECT name FROM pragma_table_info(\(DatabaseFile.literal(table))) WHERE pk > 0")
        return key.count == 1 && key[0][0].text.lowercased() == column.lowercased()
    }

    private static func verb(_ sql: String) -> String {
        sql.drop { $0.isWhitespace || $0 == "(" }.prefix { $0.isLetter }.uppercased()
    }
}
