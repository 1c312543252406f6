import CSQLite
package import FaultlineProfile
package import FaultlineRules
internal import FaultlineTrace

/// Asks SQLite which indexes would serve statements, and measures them on a copy of the database.
///
/// The planner is asked twice: through virtual tables that listen to its questions (``ListeningTables``), for what it could
/// use, and on a sample of the tables with all indexes that the answers suggest (``SampledTables``), for what it does use.
/// The copy then shows whether that saves steps. No pattern of SQL takes part, except for expressions.
package final class IndexAdvisor {
    private let folder: ScratchFolder
    let base: DatabaseFile
    let schema: AdvisedSchema
    let temporary: RemadeTables
    let sampled: SampledTables
    /// The functions that an index can have, in lowercase.
    let functions: Set<String>
    /// The longest time of one run of a statement, in nanoseconds.
    var longestRun: UInt64 = 2_000_000_000
    /// The longest time to look for values like those of a recorded statement, in nanoseconds.
    var valuesPatience: UInt64 = 1_500_000_000
    /// The time to stop at, on the wall clock in nanoseconds.
    private let deadline: UInt64

    /// The longest time for all statements, in nanoseconds.
    private static let patience: UInt64 = 15_000_000_000

    /// The most attached databases that are copied.
    private static let mostAttached = 4

    /// Copies a database, and the databases that the program had attached to it.
    ///
    /// - Parameters:
    ///   - path: An SQLite file.
    ///   - attached: The names of attached databases and their files. Those that cannot be copied are left out.
    ///   - tables: The temporary tables of the program. Those that cannot be made are left out.
    ///   - settings: Statements that change how SQLite plans.
    /// - Throws: ``ReplayError`` if the file cannot be read or copied, or is not an SQLite file.
    package init(
        path: String, attaching attached: [String: String] = [:], creating tables: [TemporaryTable] = [],
        setting settings: [String] = []
    ) throws(ReplayError) {
        folder = try ScratchFolder()
        let copy = try folder.copyStore(StorePath.resolved(path))
        base = try DatabaseFile(copy: copy, named: path)
        var copies = [copy], names: [String] = []
        for (number, other) in attached.ordered(on: \.key).prefix(Self.mostAttached).enumerated() {
            guard let path = try? StorePath.resolved(other.value),
                let copy = try? folder.copyStore(path, as: "attached-\(number).sqlite"),
                (try? DatabaseFile(copy: copy, named: path)) != nil,
                (try? base.attach(copy, as: other.key)) != nil
            else { continue }
            copies.append(copy)
            names.append(other.key)
        }
        temporary = RemadeTables(tables, on: base)
        schema = try AdvisedSchema(base, attached: names)
        sampled = try SampledTables(schema, of: copies)
        base.forbidOtherFiles()
        try base.run("PRAGMA foreign_keys = ON")
        try base.run("PRAGMA cache_size = -65536")
        for setting in settings { try base.run(setting) }
        csqlite_explain_triggers(base.connection)
        functions = try Self.indexableFunctions(base)
        deadline = TrialClock.wall.now &+ Self.patience
    }

    /// The scalar functions whose result depends on their arguments alone.
    private static func indexableFunctions(_ file: DatabaseFile) throws(ReplayError) -> Set<String> {
        // The flag is SQLITE_DETERMINISTIC.
        let rows = try file.rows(
            """
            SELECT name FROM pragma_function_list GROUP BY name
            HAVING max(type <> 's') = 0 AND min(flags & 0x800) <> 0
            """)
        return Set(rows.map { $0[0].text.lowercased() })
    }

    /// Examines statements in turn, lets one index serve several of them, and checks that no other one gets slower.
    ///
    /// - Parameters:
    ///   - others: Statements that need no index, but that could use one to their disadvantage.
    ///   - written: The tables that the program writes to, in lowercase, for which an index costs time.
    ///   - progress: Called before each statement, with the number of finished ones.
    package func examine(
        _ statements: [StatementToExamine], besides others: [StatementToExamine] = [],
        writing written: Set<String> = [], progress: (Int) -> Void = { _ in }
    ) -> IndexExaminations {
        var examinations = IndexExaminations()
        examinations.fullTextTables = schema.fullTextTables
        var changes: [Change] = []
        var examined: [StatementRuns] = []
        for (number, statement) in statements.enumerated() {
            progress(number)
            guard TrialClock.wall.now < deadline else {
                examinations[statement.sql] = .notExamined("The statements before it took too long.")
                continue
            }
            do {
                let runs = try StatementRuns(statement, on: self)
                examined.append(runs)
                let before = try runs.measure()
                if let tuning = try runs.tuning(before) {
                    changes.append(Change(runs: runs, before: before, tuning: tuning))
                } else {
                    examinations[statement.sql] = runs.answerWithoutChange(before)
                }
            } catch {
                examinations[statement.sql] = .notExamined(Untriable(error, copyOf: "the database").reason)
            }
        }
        share(&changes)
        if changes.contains(where: { !$0.tuning.indexes.isEmpty }) {
            let untouched = others.filter { other in !statements.contains { $0.sql == other.sql } }
            protect(examined + untouched.compactMap { try? StatementRuns($0, on: self) }, from: &changes)
        }
        let names = names(changes.flatMap(\.tuning.indexes))
        let times = insertion(changes.flatMap(\.tuning.indexes).filter { written.contains($0.table.lowercased()) })
        for change in changes {
            examinations[change.runs.statement.sql] = .change(change.described(names, times, temporary.names))
        }
        return examinations
    }

    /// The columns that have most of the bytes of rows, by statement.
    ///
    /// A statement whose values are not known is missing.
    package func widestColumns(of statements: [StatementToExamine]) -> [String: WideColumn] {
        var found: [String: WideColumn] = [:]
        for statement in statements where TrialClock.wall.now < deadline {
            found[statement.sql] = try? StatementRuns(statement, on: self).widestColumn()
        }
        return found
    }

    /// A change that serves a statement.
    private struct Change {
        var runs: StatementRuns
        var before: StatementRuns.Work
        var tuning: StatementRuns.Tuning
        var slower: [StatementTuning.Slowdown] = []

        /// - Parameters:
        ///   - names: The names of indexes.
        ///   - insertion: The times to insert a row without and with those that were measured.
        ///   - temporary: The tables that are temporary in the program, in lowercase.
        func described(
            _ names: [IndexCandidate: String], _ insertion: [IndexCandidate: StatementTuning.Insertion],
            _ temporary: Set<String>
        ) -> StatementTuning {
            let indexes = tuning.indexes.map { index in
                var created = index
                if index.database == "main", temporary.contains(index.table.lowercased()) { created.database = "temp" }
                return StatementTuning.Index(
                    table: index.table, columns: index.keys.map(\.text), condition: index.condition,
                    isTemporary: created.database == "temp", code: created.creation(named: names[index] ?? ""),
                    insertion: insertion[index])
            }
            let plan = tuning.work.plan.map { line in
                tuning.indexes.enumerated().reduce(line) { line, index in
                    line.replacing(StatementRuns.name(index.offset), with: names[index.element] ?? "")
                }
            }
            return StatementTuning(
                indexes: indexes, analyzes: tuning.analyzes, runs: runs.count,
                before: .init(steps: before.steps, sorts: before.sorts, time: before.time, plan: before.plan),
                after: .init(
                    steps: tuning.work.steps, sorts: tuning.work.sorts, time: tuning.work.time, plan: plan),
                hasRecordedValues: runs.hasRecordedValues, resemblesRecording: runs.resemblesRecording,
                forcesIndex: runs.forcesIndex, slower: slower)
        }
    }

    /// Replaces indexes by longer ones of other statements that begin with them, where those serve as well.
    private func share(_ changes: inout [Change]) {
        let all = changes.flatMap(\.tuning.indexes)
        for position in changes.indices {
            var tuning = changes[position].tuning
            for number in tuning.indexes.indices {
                let own = tuning.indexes[number]
                if let longer = all.first(where: { own.isPrefix(of: $0) && own != $0 }) {
                    tuning.indexes[number] = longer
                }
            }
            guard tuning.indexes != changes[position].tuning.indexes,
                let work = try? changes[position].runs.measure(with: tuning.indexes, analyzing: tuning.analyzes),
                work.isAsGood(as: tuning.work)
            else { continue }
            tuning.work = work
            changes[position].tuning = tuning
        }
    }

    /// Adds `ANALYZE` to changes without which another statement gets slower, or returns the one that does.
    private func protect(_ all: [StatementRuns], from changes: inout [Change]) {
        for position in changes.indices where !changes[position].tuning.indexes.isEmpty {
            guard TrialClock.wall.now < deadline else { return }
            try? protect(all, from: &changes[position])
        }
    }

    private func protect(_ all: [StatementRuns], from change: inout Change) throws {
        let (indexes, tables) = (change.tuning.indexes, Set(change.tuning.indexes.map { $0.table.lowercased() }))
        let others = all.filter { $0.statement.sql != change.runs.statement.sql && !$0.tables.isDisjoint(with: tables) }
        // Only another plan can make them slower.
        let plans = others.map { try? $0.plan() }
        let affected = try with(indexes, analyzing: change.tuning.analyzes) {
            zip(others, plans).filter { runs, plan in (try? runs.plan()) != plan }.map(\.0)
        }
        guard !affected.isEmpty else { return }
        let before = try affected.map { try $0.measure() }
        func slower(analyzing: Bool) throws -> [StatementTuning.Slowdown] {
            let after = try with(indexes, analyzing: analyzing) { try affected.map { try $0.measure() } }
            return affected.indices.filter { after[$0].isMuchWorse(than: before[$0]) }.map {
                .init(sql: affected[$0].statement.sql, before: before[$0].steps, after: after[$0].steps)
            }
        }
        change.slower = try slower(analyzing: change.tuning.analyzes)
        guard !change.slower.isEmpty, !change.tuning.analyzes, try slower(analyzing: true).isEmpty else { return }
        let work = try with(indexes, analyzing: true) { try change.runs.measure() }
        guard work.isAsGood(as: change.tuning.work) else { return }
        (change.tuning.analyzes, change.tuning.work, change.slower) = (true, work, [])
    }

    /// Does some work on the copy with indexes, and removes them again.
    func with<Result>(_ indexes: [IndexCandidate], analyzing: Bool, _ work: () throws -> Result) throws -> Result {
        try base.run("SAVEPOINT advice")
        defer {
            try? base.run("ROLLBACK TO advice")
            try? base.run("RELEASE advice")
            // Statistics in memory outlast the transaction that made them.
            for database in schema.databases {
                try? base.reloadStatistics(of: database)
            }
        }
        for (number, index) in indexes.enumerated() {
            try base.run(index.creation(named: StatementRuns.name(number)))
        }
        if analyzing { try base.run("ANALYZE") }
        return try work()
    }

    /// The times to insert a row without and with each index.
    ///
    /// An index is missing if SQLite cannot insert rows here, as into a table without row IDs.
    private func insertion(_ indexes: [IndexCandidate]) -> [IndexCandidate: StatementTuning.Insertion] {
        var insertion: [IndexCandidate: StatementTuning.Insertion] = [:]
        // The rows of a sample may have others that refer to them.
        try? base.run("PRAGMA foreign_keys = OFF")
        for index in indexes where insertion[index] == nil && TrialClock.wall.now < deadline {
            let name = DatabaseFile.qualified(StatementRuns.name(0), in: index.database)
            let times = try? with([index], analyzing: false) {
                try base.insertTimes(index.table, in: index.database, without: name)
            }
            insertion[index] = times.map { .init(without: $0.after, with: $0.before) }
        }
        try? base.run("PRAGMA foreign_keys = ON")
        return insertion
    }

    /// Names for indexes that nothing in the database has.
    private func names(_ indexes: [IndexCandidate]) -> [IndexCandidate: String] {
        var taken = schema.names
        var names: [IndexCandidate: String] = [:]
        for index in indexes where names[index] == nil {
            let plain = ([index.table] + index.keys.map(\.name)).joined(separator: "_")
            var (name, number) = (plain, 2)
            while !taken.insert(name.lowercased()).inserted {
                name = "\(plain)_\(number)"
                number += 1
            }
            names[index] = name
        }
        return names
    }
}
