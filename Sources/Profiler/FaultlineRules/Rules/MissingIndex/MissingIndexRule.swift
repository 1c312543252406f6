internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R06: full table scans for a few rows that an index would find.
///
/// SQLite counts the steps of full scans (`SQLITE_STMTSTATUS_FULLSCAN_STEP`,
/// https://www.sqlite.org/c3ref/c_stmtstatus_counter.html). Fetches that the same index serves share a finding.
struct MissingIndexRule: Rule {
    let id = "R06"
    let name = "Missing index"
    let purpose = "Full table scans that return few rows, which an index would avoid."
    let kinds: Set<EventKind> = [.fetch, .sql]
    let asksSQLite = true

    /// The cost of maintaining an index, in nanoseconds per written row: a few pages of a tree that is in memory.
    static let upkeep = 2000.0
    /// The reservation about an index that costs more than it saves.
    static var costsMore: Wording { "Maintaining the index would cost more than it saves here." }

    let examinations: IndexExaminations

    init() { self.init(knowing: IndexExaminations()) }

    /// - Parameter examinations: SQLite's answers about indexes for the statements of the trace.
    init(knowing examinations: IndexExaminations) { self.examinations = examinations }

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let examined = profile.fetches.reduce(0) { $0 &+ $1.counts.statements }
        if examined > 0 {
            outcome.examined = "the scans of \(count: examined, "fetch", plural: "fetches")"
        } else if let statements = profile.statementsWithoutOperations {
            outcome.examined = "the scans of \(count: statements, "statement")"
        } else if profile.totals.outermostWrites > 0, profile.allProcesses.lacks(.operations) {
            outcome.examined = "the scans of \(count: profile.totals.outermostWrites, "statement")"
        }
        outcome.obstacles = examinations.problem.map { ["SQLite was not asked about indexes. \($0)"] } ?? []
        outcome.obstacles += examinations.omissions
        let demands = Self.demands(profile)
        outcome.findings = demands.map { finding(for: $0, profile, costs.machine) }
        outcome.findings += examinedFetches(profile, besides: demands)
        outcome.findings += automaticIndexes(profile) + needlessIndexes(profile) + longFetches(profile)
        outcome.findings += statementScans(profile) + automaticIndexesOfStatements(profile)
        outcome.findings += examinations.findings(self, profile, analyzing: false)
        return outcome
    }

    /// An index with the fetches that need it, the longest total time first.
    struct Demand {
        var index: IndexProposal
        var fetches: [FetchProfile]

        /// The rows that the largest scan steps over.
        var scannedRows: Double { fetches.map(\.counts.scannedRows).max() ?? 0 }
    }

    static func demands(_ profile: Profile) -> [Demand] {
        var wanted: [IndexProposal: [FetchProfile]] = [:]
        for fetch in profile.fetches {
            let indexing = FetchIndexing(fetch: fetch, profile: profile)
            let index = indexing.missing ?? joinedIndex(for: fetch, profile)
            if let index { wanted[index, default: []].append(fetch) }
        }
        let order = { (index: IndexProposal) in
            (-index.elements.count, index.entity, index.code.joined(), index.equalities)
        }
        var demands: [Demand] = []
        for (index, fetches) in wanted.ordered(by: { order($0.key) < order($1.key) }) {
            if let position = demands.firstIndex(where: { $0.index.serves(index) }) {
                demands[position].fetches += fetches
            } else {
                demands.append(Demand(index: index, fetches: fetches))
            }
        }
        return demands.map { Demand(index: $0.index, fetches: $0.fetches.longestFirst) }
    }

    private func finding(for demand: Demand, _ profile: Profile, _ machine: MachineCosts) -> Finding {
        let advice = MissingIndexAdvice(demand: demand, profile: profile)
        let first = demand.fetches[0]
        let scans = demand.fetches.map { $0.scanSaving(with: demand.index, machine) }
        let saved = scans.reduce(0) { $0 + $1.median }
        let writes = demand.index.writes(profile)
        let upkeep = Self.upkeep * Double(writes)
        let saving = Saving.Range(
            median: max(0, saved - upkeep), low: max(0, scans.reduce(0) { $0 + $1.low } - upkeep),
            high: scans.reduce(0) { $0 + $1.high })
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: first.key.site,
            severity: Severity.of(demand.scannedRows, warning: FetchIndexing.minimumRows.value, error: 50_000),
            fix: advice.fix,
            code: demand.index.code,
            saving: Saving(time: saving),
            confidence: upkeep * 2 < saved
                ? .medium("the costs of a step and a seek are estimated")
                : .low("updating the index may cost as much as it saves"),
            signature: first.signature(id, demand.index.properties.text))
        finding.seenAt = demand.fetches.dropFirst().map(\.sighting)
        finding.scopes = first.counts.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("executions", demand.fetches.total(\.executions), .count),
            Evidence("rows", demand.fetches.total(\.rows), .rows),
            Evidence("fullScanSteps", demand.fetches.total(\.fullScanSteps), .count),
            Evidence("fetchTime", demand.fetches.total(\.time), .nanoseconds),
            Evidence("stepTime", demand.fetches.reduce(0) { $0 + $1.counts.runTime }, .nanoseconds),
            Evidence("writtenRows", writes, .rows),
        ]
        finding.claims = demand.fetches.map { Claim.loads($0.key, profile) }
        finding.remedy = demand.index.remedy(for: demand.fetches.map(\.key))
        weigh(&finding, demand, upkeep: upkeep, saved: saved, profile)
        weigh(&finding, byCopyFor: demand.fetches)
        return finding
    }

    private func weigh(
        _ finding: inout Finding, _ demand: Demand, upkeep: Double, saved: Double, _ profile: Profile
    ) {
        if upkeep >= saved {
            finding.downgrade(Self.costsMore)
        }
        if demand.scannedRows < FetchIndexing.minimumRows.value {
            finding.downgrade(
                "A table of fewer than \(decimal: FetchIndexing.minimumRows.value, places: 0, of: .rows) rows is scanned quickly."
            )
        }
        let scopes = demand.fetches.flatMap(\.counts.scopes.keys)
        // The scan grows with the table, whatever it costs now.
        if !Significance.isMet(
            saving: finding.saving.time.median, wallTime: profile.wallTime(of: Set(scopes)),
            isMainThread: demand.fetches[0].isOnMainThread)
        {
            finding.reservations.append(Significance.notProven)
        }
    }
}

extension MissingIndexRule {
    var needs: Set<TraceGap.Kind> { [.plans] }

    var thresholds: [Threshold] {
        [
            FetchIndexing.minimumRows, FetchIndexing.minimumSteps, FetchIndexing.stepsPerRow,
            FetchIndexing.largestShare, FetchIndexing.largestIndexShare, FetchIndexing.maximumColumns,
            Self.needlessWrites, LongFetch.minimumTime,
        ]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R06 reports fetches that compare properties with values and, by SQLite's plan, scan at least "
                + "\(Phrase.decimal(FetchIndexing.minimumRows.value, places: 0)) rows each, of their own table or of "
                + "one reached through a relationship; or that scan at least \(FetchIndexing.stepsPerRow.text) rows "
                + "for each row found and \(Phrase.decimal(FetchIndexing.minimumSteps.value, places: 0)) in all. It "
                + "also reports tables of at least that size for which SQLite builds an automatic index (AUTOMATIC in "
                + "its plan) for every fetch. If SQLite's steps were not counted, it reports fetches of few rows that "
                + "take SQLite at least \(LongFetch.minimumTime.text) each, and whose plan scans the table or seeks by "
                + "other columns. In a program without an object store, it reports statements that take at least 1 % "
                + "of the run and many steps for their rows: SQLite is asked, on a copy of the database, which indexes "
                + "its planner would use for conditions, joins, orders, groups, expressions and foreign keys, and "
                + "whether they save steps. If the database is not available, it reports statements that compare columns "
                + "with one value each and scan as much, and those for which SQLite builds an automatic index.",
            evidence:
                "The finding gives the fetches, the rows that they found, the steps of full scans, their time, "
                + "SQLite's plan, and the rows of the entity that were written. For a statement that SQLite was asked "
                + "about, it gives the steps and the time of a few runs on the copy, without and with the indexes.",
            fix:
                "Declare an index with the columns that are compared for equality first, then one range or the sort "
                + "order; at most \(FetchIndexing.maximumColumns.count) columns. If more are compared, R06 leaves out "
                + "the least selective first: those for which other fetches show that one value matches more than "
                + "\(Phrase.percent(FetchIndexing.largestIndexShare.value)) of the table. Fetches that one index "
                + "serves are one finding. Drop indexes whose columns are a prefix of another index. For a statement, create the "
                + "indexes that are named: the fewest and shortest that save as much. If SQLite uses them only with statistics, or "
                + "another statement of the trace would get slower without them, run ANALYZE, too.",
            saving:
                "The saving is the time SQLite needs to step over rows that the index skips, minus the time to seek "
                + "the others (waiting, preparing, prefetching and making objects do not count). For an automatic "
                + "index, it is about \(Phrase.duration(AutomaticIndex.row)) for each row that SQLite indexed itself. "
                + "In both cases, R06 subtracts about \(Phrase.duration(MissingIndexRule.upkeep)) for each row of the "
                + "entity that was written. For a statement that SQLite was asked about, it is the part of the time "
                + "that the copy saved, minus the time that the rows written in the trace would "
                + "take longer with the index, which inserting rows of the copy shows.",
            guards: [
                "If the trace names the store's file, or --store does, the statements of long fetches are tried on a copy. A finding that "
                    + "the copy confirms is certain, one for which no index saves steps there is a note, and an index that only the "
                    + "copy shows to be missing is reported if the fetch seeks with another one. Statements with functions of the store, such as text searches, "
                    + "are not tried.",
                "A finding about a table of fewer than \(Phrase.decimal(FetchIndexing.minimumRows.value, places: 0)) "
                    + "rows is a note.",
                "R06 ignores a fetch that loads more than \(Phrase.percent(FetchIndexing.largestShare.value)) of the table, or "
                    + "counts more than \(Phrase.percent(FetchIndexing.largestIndexShare.value)) of it, and "
                    + "one for which an index would leave that share of the table to a text search or a sum.",
                "It ignores terms that are alternatives or negated, and texts that are compared without regard to "
                    + "case or diacritics, which belong to R08.",
                "If the database is not available, it ignores statements with alternatives, negated conditions, a collation, groups or an "
                    + "offset, and those that compare expressions. The indexes then have the compared columns in the order of the statement.",
                "An index that saves a statement less than 80 % of its work, less than 5 ms in all unless hardly any work is left, or less than 1 ms per run and 1 % of "
                    + "the run is a note, and so is one that makes another statement slower.",
                "SQLite is not asked about statements with functions or collations that only the program has, nor about those whose "
                    + "values are unknown (record with --values).",
                "Temporary tables are made again on the copy, with the rows that the program's own statements insert, or with values of "
                    + "the columns that theirs are compared with.",
                "An index is restricted to the rows for which a column is, or is not, NULL if the statement says so and at most a fifth of "
                    + "the rows are such.",
                "If the table has such an index and SQLite does not use it, R22 reports why.",
                "R06 never advises dropping an index that the store creates itself or that enforces uniqueness, or one that "
                    + "SQLite prefers to the longer index in a plan of the trace. A needless index is a note unless at least "
                    + "\(Phrase.count(MissingIndexRule.needlessWrites.count)) rows were written.",
                "An index that costs more to maintain than it saves is a note.",
                "For tables of at least \(Phrase.decimal(FetchIndexing.minimumRows.value, places: 0)) rows, a finding that saves too "
                    + "little time stays a warning, and says that the cost is not proven at this size, because the cost grows with the "
                    + "table.",
            ])
    }
}

extension MissingIndexRule {
    /// The minimum written rows for a redundant index to be a warning.
    static let needlessWrites = Threshold(
        "R06", "needlessWrites", 5000, .count, "minimum written rows for an unneeded index to be a warning")

    /// The findings about redundant indexes: each costs space, and time at every write.
    func needlessIndexes(_ profile: Profile) -> [Finding] {
        profile.tableIndexes.flatMap { table, indexes in
            indexes.needless.compactMap { finding(for: $0.columns, beside: $0.other, of: table, profile) }
        }
    }

    private func finding(
        for columns: [String], beside other: [String], of table: String, _ profile: Profile
    ) -> Finding? {
        // Indexes that the store creates itself, for entities and relationships, cannot be left out.
        guard let index = Self.proposal(table, columns, profile), !index.isOfRelationship(profile) else { return nil }
        let writes = profile.writes(of: index.entity)
        let longer = Self.proposal(table, other, profile)?.properties ?? "\(code: other.joined(separator: ", "))"
        var finding = Finding(
            rule: id, ruleName: name, title: "Drop the index of \(entity: index.entity) by \(index.properties)",
            change: nil,
            severity: min(
                Severity.warning,
                Severity.of(
                    Double(writes), warning: Self.needlessWrites.value, error: 1000 * Self.needlessWrites.value)),
            fix: "The index on \(longer) serves the same queries. Every written row pays for both.",
            saving: Saving(), confidence: .medium("fetches outside the trace may use the index"),
            signature: [id, "needless", table, columns.joined(separator: ",")].joined(separator: "|"))
        finding.explanation = [
            "Its columns are the first columns of the other index."
                + (writes == 0
                    ? ""
                    : " Maintaining it costs about \(duration: Self.upkeep) per written row; \(rows: writes) "
                        + "\(writes == 1 ? "was" : "were") written.")
        ]
        finding.evidence = [Evidence("writtenRows", writes, .rows)]
        return finding
    }

    /// An index in terms of the model, without the collations and directions of its columns.
    private static func proposal(_ table: String, _ columns: [String], _ profile: Profile) -> IndexProposal? {
        let names = columns.map { String($0.prefix { $0 != " " }) }
        return IndexProposal(table: table, columns: names, profile)
    }
}

/// Finds indexes for joined tables that a fetch scans.
extension MissingIndexRule {
    /// The index of a joined table that saves a fetch from scanning that table or its own, or `nil` if there is none.
    static func joinedIndex(for fetch: FetchProfile, _ profile: Profile) -> IndexProposal? {
        let (scanned, found) = (fetch.counts.scannedRows, fetch.counts.foundRows)
        guard scanned >= FetchIndexing.minimumRows.value, found <= fetch.indexableShare * scanned else { return nil }
        let (joined, scansOwn) = scannedTables(fetch)
        var elements: [String: [(path: String, element: IndexProposal.Element, isRange: Bool)]] = [:]
        for term in fetch.key.shape.terms ?? [] {
            guard let end = end(of: term, from: fetch.key.shape.entity, profile) else { continue }
            // If the fetch scans its own table, SQLite can begin with the joined table instead, unless that has many
            // rows for each row of its own.
            let isScanned = end.table.map { joined.contains($0) } ?? (joined.count == 1)
            guard isScanned || scansOwn && end.isToOne else { continue }
            elements[end.entity, default: []].append(
                (end.path, IndexProposal.Element(property: end.property), term.isJoinedRange))
        }
        let candidates = elements.ordered(on: \.key).compactMap { entity, found -> IndexProposal? in
            guard let path = found.first?.path else { return nil }
            let terms = found.filter { $0.path == path }
            let equal = terms.filter { !$0.isRange }.map(\.element.property).uniqued.sorted().prefix(
                FetchIndexing.maximumColumns.number)
            var index = IndexProposal(
                entity: entity, elements: equal.map { IndexProposal.Element(property: $0) }, equalities: equal.count)
            if let range = terms.first(where: { $0.isRange && !equal.contains($0.element.property) }),
                equal.count < FetchIndexing.maximumColumns.number
            {
                index.elements.append(range.element)
            }
            let tables = profile.entity(entity).map { [$0.table] } ?? joined
            return exists(index, in: tables, profile) ? nil : index
        }
        return candidates.first
    }

    /// The joined tables that a fetch's plans scan, and whether the plans scan the fetched table.
    private static func scannedTables(_ fetch: FetchProfile) -> (joined: Set<String>, scansOwn: Bool) {
        var joined: Set<String> = []
        var scansOwn = false
        for (sql, plans) in fetch.statements.texts {
            for line in plans.knownPlans.keys.flatMap({ $0.split(separator: "\n") }) where line.hasPrefix("SCAN t") {
                let alias = line.dropFirst("SCAN ".count).prefix { $0 != " " }
                if alias == "t0" {
                    scansOwn = true
                } else if let table = StatementEntry(sql: sql).table(of: alias) {
                    joined.insert(table.uppercased())
                }
            }
        }
        return (joined, scansOwn)
    }

    /// The property of another entity that a term compares, if an index can serve it, and that entity's table.
    ///
    /// The table is `nil` if the trace has only the entity's name.
    private static func end(
        of term: ShapeEntry.Term, from start: String, _ profile: Profile
    ) -> (entity: String, property: String, path: String, table: String?, isToOne: Bool)? {
        guard term.isJoinedEquality || term.isJoinedRange else { return nil }
        let names = term.keyPath.split(separator: ".").map(String.init)
        guard names.count > 1, let property = names.last else { return nil }
        let paths = KeyPaths(profile: profile)
        let path = names.dropLast().joined(separator: ".")
        let edges = paths.edges(of: path, from: start)
        guard edges.count == names.count - 1, let edge = edges.last, let name = paths.destination(of: edge) else {
            return nil
        }
        let entity = profile.entity(name)
        // Every store has indexes for to-one relationships.
        guard entity.map({ $0.column(property)?.type ?? "toOne" != "toOne" }) ?? (term.operand == "value") else {
            return nil
        }
        let isToOne = edges.allSatisfy { profile.entity($0.entity)?.property($0.name)?.type == "toOne" }
        return (name, property, path, entity?.table, isToOne)
    }

    /// Whether a table has an index that begins with the same column.
    private static func exists(_ index: IndexProposal, in tables: Set<String>, _ profile: Profile) -> Bool {
        guard let first = index.elements.first else { return true }
        return profile.tableIndexes.contains { tables.contains($0.table) && $0.indexes.begins(with: first.column) }
    }
}

extension ShapeEntry.Term {
    /// The comparison without its `ANY` or `SOME`.
    private var plain: ShapeEntry.Term {
        guard operation.hasPrefix("ANY ") || operation.hasPrefix("SOME ") else { return self }
        var term = self
        term.operation = String(operation.drop { $0 != " " }.dropFirst())
        return term
    }

    fileprivate var isJoinedEquality: Bool { plain.isEquality }
    fileprivate var isJoinedRange: Bool { plain.isRange }
}
