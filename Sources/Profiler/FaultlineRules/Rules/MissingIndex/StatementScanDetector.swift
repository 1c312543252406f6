internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// Detects statements that step through a table, or for which SQLite builds an index, outside any operation of an object
/// store.
struct StatementScanDetector: EvidenceDetector {
    static let name = "statementScans"
    static let kinds: Set<EventKind> = [.sql]
    /// The most statements and lines to keep.
    private static let capacity = 8192

    var evidence: [StatementSite: StatementScanEvidence] = [:]
    /// The parts of the plans that have been seen, at most one for each in the dictionary.
    private var plans: [DictionaryID: Scans] = [:]

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        guard case .sql(let statement) = event.detail, event.parent == 0, statement.error == 0,
            statement.fullScanSteps > 0 || statement.automaticIndexes > 0, !context.isSetup(event.scope),
            let sql = context.dictionary.statement(statement.statement)?.sql
        else { return }
        let key = StatementSite(sql: sql, site: context.stackSite(of: event))
        guard hasRoom(for: key, among: Self.capacity) else { return }
        let surroundings = surroundings(of: event.scope, for: key, outside: event.duration, in: &context)
        let (library, scans) = (context.library(on: event.stack), scans(of: statement.plan, in: &context))
        evidence[key, default: StatementScanEvidence()].add(statement, event, in: surroundings, by: library, scans)
    }

    /// The lines of a plan that scan a table, and those that search an index made for one run.
    private mutating func scans(of plan: DictionaryID, in context: inout ProcessContext) -> Scans? {
        if let known = plans[plan] { return known }
        guard let text = context.plan(plan)?.text else { return nil }
        let lines = text.split(separator: "\n").map(String.init)
        let scans = Scans(
            tables: Set(lines.filter { $0.hasPrefix("SCAN ") }),
            automaticIndexes: Set(lines.filter { $0.contains(" USING AUTOMATIC ") }))
        plans[plan] = scans
        return scans
    }

    fileprivate struct Scans {
        var tables: Set<String>
        var automaticIndexes: Set<String>
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}
}

extension Profile {
    /// Statements that scanned tables, outside any operation of an object store.
    var statementScans: [(key: StatementSite, evidence: StatementScanEvidence)] {
        evidence(of: StatementScanDetector.self)
    }
}

/// Runs of one statement at one line that stepped through a table, or for which SQLite built an index, outside any operation
/// of an object store.
struct StatementScanEvidence: RunEvidence {
    var runs = RunSums()
    /// The steps of full table scans.
    var fullScanSteps: UInt64 = 0
    /// The rows of indexes that SQLite built for one run each.
    var automaticIndexRows: UInt64 = 0
    /// The times that SQLite sorted rows.
    var sorts: UInt64 = 0
    /// The lines of SQLite's plans that scan a table.
    var scans: Set<String> = []
    /// The lines of SQLite's plans that search such an index.
    var automaticIndexes: Set<String> = []
}

extension StatementScanEvidence {
    fileprivate mutating func add(
        _ statement: TraceEvent.Statement, _ event: TraceEvent, in surroundings: Surroundings,
        by library: StatementLibrary?,
        _ plan: StatementScanDetector.Scans?
    ) {
        add(statement, event, in: surroundings, by: library)
        fullScanSteps &+= UInt64(statement.fullScanSteps)
        automaticIndexRows &+= UInt64(statement.automaticIndexes)
        sorts &+= UInt64(statement.sorts)
        guard let plan else { return }
        scans.formUnion(plan.tables)
        automaticIndexes.formUnion(plan.automaticIndexes)
    }

    /// The rows that the runs stepped over.
    ///
    /// SQLite counts the steps after the first row of each run.
    var steppedRows: Double { Double(fullScanSteps &+ runs.executions) }
    var steppedRowsPerRun: Double { steppedRows / Double(max(1, runs.executions)) }

    /// The time that an index would save, in nanoseconds, if a seek costs about ten steps.
    var timeWithoutScan: Double {
        let left = min(1, (Double(max(1, runs.rows)) + 10 * Double(runs.executions)) / max(1, steppedRows))
        return Double(runs.time) * (1 - left)
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

extension StatementScanEvidence {
    static let parts: [SumPart<StatementScanEvidence>] = [
        .members(\.runs), .sum("fullScanSteps", \.fullScanSteps), .sum("sorts", \.sorts), .union("scans", \.scans),
        .sum("automaticIndexRows", \.automaticIndexRows), .union("automaticIndexes", \.automaticIndexes),
    ]
}

extension Finding {
    /// Completes a finding whose SQL keeps a statement from scanning a table: where it was seen, what it rests on, how it can
    /// be tried, and whether its saving matters.
    mutating func complete(_ key: StatementSite, _ evidence: StatementScanEvidence, trying change: StatementChange.Kind)
    {
        codeLanguage = "sql"
        seenAt = [Sighting(site: key.site, count: evidence.executions, time: evidence.time)]
        subjects = [.statement(key.sql)]
        scopes = evidence.scopes.names
        self.evidence += [
            Evidence("executions", evidence.executions, .count), Evidence("rows", evidence.rows, .rows),
            Evidence("fullScanSteps", evidence.fullScanSteps, .count), Evidence("time", evidence.time, .nanoseconds),
            Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        claims = [Claim(StatementScanDetector.self, key, balance: Double(evidence.time))]
        remedy = .statement(
            StatementChange(
                sql: key.sql, executions: evidence.executions, rows: evidence.rows, time: evidence.time, kind: change))
        // A scan grows with its table, whatever it costs now.
        if !Significance.isMet(
            saving: saving.time.median, wallTime: evidence.wallTime,
            isMainThread: Significance.isMost(evidence.mainThreadTime, of: evidence.time))
        {
            reservations.append(Significance.notProven)
        }
    }
}

/// The findings about statements of programs without an object store.
extension MissingIndexRule {
    func statementScans(_ profile: Profile) -> [Finding] {
        profile.statementScans.filter { !examinations.hasAnswer($0.key.sql) }
            .compactMap { finding($0.key, $0.evidence, profile) }.joined("The index")
    }

    private func finding(_ key: StatementSite, _ evidence: StatementScanEvidence, _ profile: Profile) -> Finding? {
        let steps = evidence.steppedRows, perRun = evidence.steppedRowsPerRun
        let rows = Double(max(1, evidence.rows))
        guard perRun >= FetchIndexing.minimumRows.value, steps >= FetchIndexing.stepsPerRow.value * rows else {
            return nil
        }
        let text = StatementText(key.sql)
        guard let indexes = StatementIndexes(text, evidence) else { return nil }
        let columns = Wording.properties(indexes.columns)
        let library = StatementLibrary(names: evidence.libraries)
        let saved = evidence.timeWithoutScan
        var finding = Finding(
            rule: id, ruleName: name, title: "Create an index on \(entity: indexes.table)(\(columns))",
            change: key.site,
            severity: Severity.of(perRun, warning: FetchIndexing.minimumRows.value, error: 50_000),
            fix: "SQLite then seeks the matching rows instead of stepping through the table.",
            code: indexes.code,
            saving: Saving(
                time: text.isAggregated
                    ? .init(median: saved / 2, low: 0, high: saved)
                    : .init(median: saved, low: saved / 2, high: Double(evidence.time))),
            confidence: text.isAggregated
                ? .low("the trace does not show how many rows matched")
                : .medium("the costs of a step and a seek are estimated"),
            signature: ([id, "sql"] + indexes.code).joined(separator: "|"))
        finding.alternatives = indexes.columns.count == 1 ? library?.indexing(indexes.columns[0]) ?? [] : []
        finding.explanation = [
            "\(count: evidence.executions, "run") of \(code: text.summary) stepped over \(decimal: steps, places: 0, of: .rows) rows "
                + "to \(text.isAggregated ? "return" : "find") \(count: evidence.rows), in \(duration: evidence.time)."
        ]
        finding.explanation += evidence.plan(of: indexes.scanned, in: text)
        finding.complete(key, evidence, trying: .indexes(indexes.code))
        if !Significance.isMet(saving: finding.saving.time.high, wallTime: profile.wallTime, isMainThread: false) {
            finding.downgrade("\(Significance.tooLittle(of: "the run")).")
        }
        return finding
    }
}

/// The indexes with which SQLite need not scan a table for a statement.
struct StatementIndexes {
    /// The table of the first index, and its columns.
    let table: String
    let columns: [String]
    /// The table that SQLite scans.
    let scanned: String
    /// The statements that create the indexes.
    let code: [String]

    /// The most columns of an index.
    private static let mostColumns = 3

    /// The reason why a statement is not examined, as a clause, or `nil` if it is.
    static func obstacle(_ text: StatementText, _ runs: RunSums) -> Wording? {
        let conditions = text.conditions
        if text.isOfSQLite { return "the statement reads the schema" }
        if text.isPaged, !text.looksUpRows(runs) { return "the steps may be those over the rows before a page" }
        if text.isGrouped { return "the statement groups the rows that it reads" }
        if conditions.hasAlternatives { return "it does not look into OR and NOT" }
        if conditions.hasCollation { return "it does not look into conditions with a collation" }
        return conditions.equalities.isEmpty ? "no condition compares a column with one value" : nil
    }

    /// - Returns: `nil` if no index is certain to help: one condition of several suffices, a condition compares texts by
    ///   other rules than its column, or the compared columns are not those of the scanned table or of one joined to it.
    init?(_ text: StatementText, _ evidence: StatementScanEvidence) {
        let conditions = text.conditions
        guard Self.obstacle(text, evidence.runs) == nil else { return nil }
        var compared: [(table: String, columns: [String])] = []
        for column in conditions.equalities {
            guard let table = column.table else { continue }
            let place = compared.firstIndex { $0.table == table } ?? compared.endIndex
            if place == compared.endIndex { compared.append((table, [])) }
            if !compared[place].columns.contains(column.name) { compared[place].columns.append(column.name) }
        }
        let index = { (table: String, columns: [String]) in
            StatementText.index(on: table, columns.map { .init(name: $0) })
        }
        if let found = compared.first(where: { evidence.mayScan($0.table, of: text) }) {
            (table, columns) = (found.table, Array(found.columns.prefix(Self.mostColumns)))
            scanned = table
            code = [index(table, columns)]
            return
        }
        // Rows of a joined table are chosen, but SQLite scans the other one, because neither has an index.
        for (table, columns) in compared {
            for join in conditions.joins {
                guard join.contains(where: { $0.table == table }),
                    let other = join.first(where: { $0.table != table }), let scanned = other.table,
                    evidence.mayScan(scanned, of: text)
                else { continue }
                (self.table, self.columns) = (table, Array(columns.prefix(Self.mostColumns)))
                self.scanned = scanned
                code = [index(table, self.columns), index(scanned, [other.name])]
                return
            }
        }
        return nil
    }
}
