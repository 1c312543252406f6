import CSQLite
internal import FaultlineFindings
import FaultlineProfile
import FaultlineRules
import Foundation

/// Runs of a statement on a copy of the database, and the indexes that serve them.
struct StatementRuns {
    let statement: StatementToExamine
    private let advisor: IndexAdvisor
    private var runs: ReplayedRuns
    private let listening: ListeningText
    /// The text that the planner is asked about.
    private let question: String
    /// The tables that it names, in lowercase.
    let tables: Set<String>

    var count: UInt64 { runs.count }
    var hasRecordedValues: Bool { !statement.samples.isEmpty }
    var forcesIndex: Bool { listening.forcesIndex }
    private var base: DatabaseFile { advisor.base }

    /// The most runs to measure.
    private static let mostRuns = 2
    /// The time after which no further round is measured, in nanoseconds, and the most rounds.
    private static let enough = 20_000_000.0
    private static let rounds = 5

    /// - Throws: ``Untriable`` if the values of the runs are unknown, ``ReplayError`` with SQLite's message.
    init(_ statement: StatementToExamine, on advisor: IndexAdvisor) throws {
        (self.statement, self.advisor) = (statement, advisor)
        // The tables that are temporary in the program are in the main database here.
        let (sql, samples) = (
            TemporaryTable.unqualified(statement.sql), statement.samples.map(TemporaryTable.unqualified)
        )
        tables = Set(StatementSlots(sql).tables.map { $0.lowercased() })
        let schema = advisor.schema
        if let sample = samples.first {
            runs = ReplayedRuns(recorded: Array(samples.prefix(Self.mostRuns)))
            listening = ListeningText(sample, schema, functions: advisor.functions)
            question = listening.text
        } else {
            listening = ListeningText(sql, schema, functions: advisor.functions)
            let expressions = listening.expressions
            let drawn = try DrawnStatement(
                listening.text, runs: Self.mostRuns, rows: statement.rows / max(1, statement.executions),
                guessing: true, on: advisor.base
            ) { name, tables in
                guard let found = expressions.first(where: { $0.name == name }) else { return nil }
                let own = found.tables.map { schema.tables[$0].name }
                let table = own.first { name in tables.contains { $0.lowercased() == name.lowercased() } }
                return table.map { ($0, found.sql) }
            }
            question = drawn.text
            runs = ReplayedRuns(drawn).changingTexts(listening.restoring)
            try chooseValues(among: drawn)
            if drawn.hasGuesses, statement.steps == 0 || !resemblesRecording {
                throw Untriable(DrawnStatement.unknownValues)
            }
        }
    }

    // MARK: - Values

    /// Whether the runs with drawn values take about as many steps as the recorded ones.
    private(set) var resemblesRecording = true

    /// The difference from the recorded work, as the logarithm of a ratio, from which other values are tried.
    private static let smallDifference = 0.3
    /// The greatest difference of values that are taken.
    private static let fittingDifference = 0.6
    /// The greatest difference of steps with which runs are like the recorded ones.
    private static let greatDifference = 1.1

    /// Takes the values with which the statement takes about as many steps as it did in the recording, for as many rows.
    ///
    /// A program often asks for rare values, such as the open jobs of a queue, and the rows of a table seldom have them.
    private mutating func chooseValues(among drawn: DrawnStatement) throws {
        guard statement.steps > 0 else { return }
        // It must do no more than read and write rows.
        _ = try writtenTables()
        let end = TrialClock.wall.now &+ advisor.valuesPatience
        let before = try difference(of: runs)
        var best = (runs: runs, difference: before)
        let text = runs.runs[0].text
        let rows = UInt64((Double(statement.rows) / Double(max(1, statement.executions))).rounded())
        resemblesRecording = before.steps <= Self.greatDifference
        guard before.work > Self.smallDifference else { return }
        // An aggregate returns a row whatever it finds, so that nothing shows whether the values are absent.
        let isAggregated = StatementText(statement.sql).isAggregated
        for values in drawn.variations(finding: rows, absent: !isAggregated, until: end, on: base) {
            if TrialClock.wall.now >= end { break }
            let others = ReplayedRuns(text, values)
            guard let found = try? difference(of: others), found.work < best.difference.work else { continue }
            best = (others, found)
            if found.work <= Self.smallDifference { break }
        }
        guard best.difference.work <= Self.fittingDifference else { return }
        (runs, resemblesRecording) = (best.runs, true)
    }

    /// The difference between the work of runs and that of the recorded ones.
    private struct Difference {
        var steps = Double.infinity
        var rows = Double.infinity

        /// Finding other rows is less of a difference than taking other steps.
        var work: Double { steps + rows / 4 }
    }

    private func difference(of runs: ReplayedRuns) throws -> Difference {
        let work = try measure(runs, rounds: 1)
        func ratio(_ measured: UInt64, _ recorded: UInt64, beyond few: Double) -> Double {
            let one = Double(measured) / Double(max(1, runs.count)) + few
            return abs(log(one / (Double(recorded) / Double(max(1, statement.executions)) + few)))
        }
        guard !work.isCutShort else { return Difference() }
        return Difference(
            steps: ratio(work.steps, statement.steps, beyond: 100), rows: ratio(work.rows, statement.rows, beyond: 1))
    }

    // MARK: - Measuring

    /// The work of the runs.
    struct Work {
        /// The steps of SQLite's virtual machine, and its sorts.
        var steps: UInt64 = 0
        var sorts: UInt64 = 0
        /// The CPU time in nanoseconds, the shortest of several rounds.
        var time = Double.infinity
        var rows: UInt64 = 0
        var plan: [String] = []
        /// Whether a run was interrupted because it took too long.
        var isCutShort = false

        /// The steps up to which a sort is one of few rows.
        private static let fewSteps: UInt64 = 2000

        /// How many times longer is not as good.
        private static let longer = 1.5

        func isAsGood(as other: Work) -> Bool {
            Double(steps) <= Double(other.steps) * 1.1 + 50 && (sorts <= other.sorts || steps <= Self.fewSteps)
                && time <= max(other.time, StatementTuning.measurable) * Self.longer
        }

        func isMuchWorse(than other: Work) -> Bool { steps > other.steps &* 5 &+ 10_000 }
    }

    /// Runs the statement on the copy.
    func measure() throws -> Work {
        var work = try measure(runs, rounds: Self.rounds)
        work.plan = try plan()
        return work
    }

    private func measure(_ runs: ReplayedRuns, rounds: Int) throws -> Work {
        var work = Work()
        var total = 0.0
        for _ in 0..<rounds where total < Self.enough {
            let start = TrialClock.thread.now
            (work.steps, work.sorts, work.rows) = (0, 0, 0)
            for (query, values) in try runs.prepared(on: base) {
                if query.writes { try base.run("SAVEPOINT run") }
                defer {
                    if query.writes {
                        try? base.run("ROLLBACK TO run")
                        try? base.run("RELEASE run")
                    }
                }
                do {
                    let returned = try base.limitingQueries(to: advisor.longestRun) { try query.run([values]) }
                    let isChange = query.writes && returned == 0
                    work.rows &+= isChange ? UInt64(max(0, sqlite3_changes(base.connection))) : returned
                } catch  where base.wasInterrupted {
                    total = Self.enough
                    work.isCutShort = true
                } catch  where base.hasViolatedConstraint {
                    // Drawn values can be those of rows that others refer to. SQLite has looked for those rows by then.
                }
                work.steps &+= query.taken(SQLITE_STMTSTATUS_VM_STEP)
                work.sorts &+= query.taken(SQLITE_STMTSTATUS_SORT)
            }
            let time = Double(TrialClock.thread.now - start)
            work.time = min(work.time, time)
            total += time
        }
        return work
    }

    /// Runs the statement on the copy with indexes.
    func measure(with indexes: [IndexCandidate], analyzing: Bool) throws -> Work {
        try advisor.with(indexes, analyzing: analyzing) { try measure() }
    }

    /// The lines of SQLite's plan for the first run.
    func plan() throws -> [String] {
        try PreparedQuery("EXPLAIN QUERY PLAN " + runs.runs[0].text, on: base).details(runs.runs[0].values)
    }

    /// The name of an index on the copy.
    static func name(_ number: Int) -> String { "faultline_advice_\(number)_" }

    /// The answer if no index and no statistics help.
    func answerWithoutChange(_ work: Work) -> StatementExamination {
        if work.isCutShort { return .notExamined("Its runs take too long on the copy.") }
        if !resemblesRecording {
            let (here, there) = (work.steps / max(1, count), statement.steps / max(1, statement.executions))
            return .notExamined(
                "With values drawn from the copy, a run takes \(Phrase.count(here)) steps there, and took \(Phrase.count(there)) in the "
                    + "program. Record with --values to try those of the program.")
        }
        return .nothing(
            hasRecordedValues: hasRecordedValues,
            mismatches: TypeMismatch.all(in: StatementSlots(statement.sql), advisor.schema))
    }

    // MARK: - Columns

    /// The most rows to look at for the bytes of their columns.
    private static let weighedRows = 500

    /// The column that has most of the bytes, if a row has many.
    func widestColumn() throws -> WideColumn? {
        let run = runs.runs[0], query = try PreparedQuery(run.text, on: base)
        guard !query.writes else { return nil }
        let found = try base.limitingQueries(to: advisor.longestRun) {
            try query.bytes(run.values, rows: Self.weighedRows)
        }
        let all = found.columns.reduce(0) { $0 + $1.bytes }
        guard let place = found.columns.indices.max(by: { found.columns[$0].bytes < found.columns[$1].bytes }),
            found.rows > 0, found.columns.count > 1
        else { return nil }
        let column = found.columns[place]
        let items = StatementText(statement.sql).selectedColumns
        let name = items.count == found.columns.count ? items[place] ?? column.name : column.name
        return WideColumn(
            name: name, bytes: Double(column.bytes) / Double(found.rows),
            share: Double(column.bytes) / Double(max(1, all)),
            rows: found.rows)
    }

    // MARK: - Choosing

    /// Indexes and statistics that serve the runs.
    struct Tuning {
        var indexes: [IndexCandidate]
        var analyzes: Bool
        var work: Work
    }

    /// How many times better than `ANALYZE` alone indexes must be, because it is the lesser change and helps other statements, too.
    private static let worthOfIndexes: UInt64 = 3

    /// The least change that saves much, or `nil` if none does.
    func tuning(_ before: Work) throws -> Tuning? {
        let (candidates, nullTests) = try candidates()
        var best: Tuning?
        if mayAnalyze {
            let analyzed = try measure(with: [], analyzing: true)
            if gains(analyzed, over: before) { best = Tuning(indexes: [], analyzes: true, work: analyzed) }
        }
        let chosen = try advisor.sampled.choose(among: candidates, for: runs.runs[0].text, runs.runs[0].values)
        let sets = chosen.analyzed == chosen.plain ? [chosen.plain] : [chosen.analyzed, chosen.plain]
        for set in sets where !set.isEmpty {
            // The planner's choice proves no gain.
            guard let tuning = try tuning(with: set, nullTests, before) else { continue }
            let handicap = best?.indexes.isEmpty == true ? Self.worthOfIndexes : 1
            if best.map({ tuning.work.steps &* handicap < $0.work.steps }) ?? true { best = tuning }
        }
        return best
    }

    /// Whether statistics are a change to advise: those of a temporary table are gone with it.
    private var mayAnalyze: Bool { tables.isDisjoint(with: advisor.temporary.names) }

    /// The indexes that the planner could use, and the tests for `NULL` that could restrict them.
    private func candidates() throws -> ([IndexCandidate], [NullTest]) {
        let schema = advisor.schema
        // The statement must fit the database before the planner is asked.
        let (written, replaces) = try writtenTables()
        var found = IndexCandidates(schema, listening.expressions)
        var asked: Set<Int> = []
        let texts = [listening.restoring(question), question].uniqued
        let plain = try ListeningTables(schema, listening.expressions)
        for text in texts {
            for question in try plain.questions(about: text) {
                asked.insert(question.table)
                found.add(question)
            }
        }
        for text in schema.statements(ofTriggersOn: written) {
            // Some can only be prepared in a trigger, because of RAISE.
            for question in (try? plain.questions(about: text)) ?? []
            where schema.tables[question.table].columns.allSatisfy(\.hasKnownCollation) {
                asked.insert(question.table)
                found.add(question)
            }
        }
        for collation in listening.collations {
            let forced = try ListeningTables(schema, listening.expressions, collation: collation)
            for text in texts {
                for var question in try forced.questions(about: text) where !question.order.isEmpty {
                    // Only its order is by that collation.
                    question.comparisons = []
                    found.add(question)
                }
            }
        }
        for table in written where replaces || statement.deletesOrUpdates { found.addReferences(to: table) }
        asked.formUnion(found.all.compactMap { schema.table($0.table, in: $0.database) })
        for table in asked {
            if let unknown = schema.tables[table].columns.first(where: { !$0.hasKnownCollation }) {
                throw Untriable(
                    "Only the program has the collation \(unknown.collation) of the column \(unknown.name).")
            }
        }
        try advisor.sampled.sample(asked)
        return (found.all, found.nullTests.sorted { $0.text < $1.text })
    }

    /// The tables that the statement writes to, also by triggers, and whether it replaces rows.
    ///
    /// - Throws: ``ReplayError`` if the statement does more than read and write rows.
    private func writtenTables() throws -> ([String], replaces: Bool) {
        var tables: [String] = []
        let text = runs.runs[0].text
        try withUnsafeMutablePointer(to: &tables) { tables in
            sqlite3_set_authorizer(
                base.connection,
                { context, action, table, _, _, _ in
                    if [SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE].contains(action), let table {
                        context?.assumingMemoryBound(to: [String].self).pointee.append(String(cString: table))
                        return SQLITE_OK
                    }
                    let reading = [SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE]
                    return reading.contains(action) ? SQLITE_OK : SQLITE_DENY
                }, tables)
            defer { sqlite3_set_authorizer(base.connection, nil, nil) }
            _ = try PreparedQuery(text, on: base)
        }
        let words = StatementText.tokens(of: text).prefix(3).map { $0.text.uppercased() }
        return (tables.uniqued, words.contains("REPLACE"))
    }

    /// The fewest columns and indexes of a set that save as much, with `ANALYZE` only if they need it.
    private func tuning(
        with set: [IndexCandidate], _ nullTests: [NullTest], _ before: Work
    ) throws -> Tuning? {
        let whole = try measure(with: set, analyzing: true)
        let plain = try measure(with: set, analyzing: false)
        let analyzes = mayAnalyze && !plain.isAsGood(as: whole)
        let goal = analyzes ? whole : plain
        guard gains(goal, over: before) else { return nil }
        var tuning = Tuning(indexes: set, analyzes: analyzes, work: goal)
        /// Takes other indexes if they serve as well.
        func take(_ indexes: [IndexCandidate]) throws -> Bool {
            guard !indexes.isEmpty else { return false }
            let work = try measure(with: indexes, analyzing: analyzes)
            guard work.isAsGood(as: goal), gains(work, over: before) else { return false }
            tuning = Tuning(indexes: indexes, analyzes: analyzes, work: work)
            return true
        }
        var position = 0
        while position < tuning.indexes.count {
            var fewer = tuning.indexes
            fewer.remove(at: position)
            if try take(fewer) { continue }
            while tuning.indexes[position].keys.count > 1 {
                var shorter = tuning.indexes
                shorter[position].keys.removeLast()
                guard try take(shorter) else { break }
            }
            position += 1
        }
        for position in tuning.indexes.indices {
            for test in nullTests where try isSelective(test, of: tuning.indexes[position]) {
                var partial = tuning.indexes
                partial[position] = partial[position].restricted(to: test)
                if try take(partial) { break }
            }
        }
        return tuning
    }

    /// The greatest share of a table's rows for which an index is restricted to them.
    private static let selectiveShare = 0.2

    /// Whether few rows of an index's table meet a condition.
    private func isSelective(_ test: NullTest, of index: IndexCandidate) throws -> Bool {
        let table = advisor.schema.tables[test.table]
        guard (table.database, table.name) == (index.database, index.table) else { return false }
        let rows = "FROM \(table.qualifiedName)"
        let met = try base.number("SELECT count(*) \(rows) WHERE \(test.text)")
        return Double(met) <= Self.selectiveShare * Double(try base.number("SELECT count(*) \(rows)"))
    }

    /// The steps that SQLite takes for a row it finds, and the minimum ratio and number of steps that a change saves.
    private static let stepsPerRow = 10.0
    private static let leastGain = 2.0
    /// The minimum ratio of times where the steps are about the same.
    private static let leastTimeGain = 3.0
    private static let leastSteps: UInt64 = 1000

    /// Whether a change saves much, if each run finds as many rows as the recorded ones did.
    private func gains(_ after: Work, over before: Work) -> Bool {
        // Steps that visit pages in another order can take longer, however few they are.
        guard after.time < before.time || before.time.isInfinite else { return false }
        let recorded = Double(statement.rows) / Double(max(1, statement.executions)) * Double(runs.count)
        let missing = max(0, recorded - Double(after.rows)) * Self.stepsPerRow
        let savesSteps =
            Double(before.steps) + missing >= Self.leastGain * (Double(after.steps) + missing)
            && before.steps > after.steps + Self.leastSteps
        // SQLite counts no steps for comparing rows that it sorts.
        let savesSorting =
            after.sorts < before.sorts && after.steps < before.steps && after.time * Self.leastGain < before.time
            && Double(before.steps) > Self.stepsPerRow * Double(after.rows)
        // Nor for seeking the rows of a table, which an index with all columns spares.
        let savesSeeks =
            before.time >= StatementTuning.measurable && after.time * Self.leastTimeGain < before.time
            && after.steps <= before.steps && missing < Double(before.steps)
        return savesSteps || savesSorting || savesSeeks
    }
}
