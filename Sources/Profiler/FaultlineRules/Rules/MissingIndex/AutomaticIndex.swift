internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// An automatic index, which SQLite builds for one run of a statement and then discards
/// (https://www.sqlite.org/optoverview.html#automatic_query_time_indexes).
struct AutomaticIndex: Hashable {
    /// The assumed time to index a row, in nanoseconds, with its range.
    ///
    /// 230–520 ns were measured for tables that fit a processor's cache, and 2,500 ns for a million rows.
    static let row = 400.0
    static let rowRange = 200.0...1000.0

    var table: String
    var columns: [String]

    /// The automatic indexes of a plan, with the tables that the statement's aliases stand for.
    ///
    /// The result of a subquery has no table, and is omitted.
    static func all(in plan: String, of sql: String) -> [AutomaticIndex] {
        let names = StatementSlots(sql).names
        return plan.split(separator: "\n").compactMap { line in
            let step = /SEARCH (.+?) USING AUTOMATIC (?:PARTIAL )?COVERING INDEX \((.+?)\)/
            guard let match = line.firstMatch(of: step),
                let table = names.first(where: { $0.alias == match.1 })?.table
            else { return nil }
            let columns = match.2.split(separator: " AND ").map { $0.prefix { !"=<>".contains($0) } }
            return AutomaticIndex(table: table, columns: columns.map(String.init))
        }
    }

    /// The automatic indexes, each with the fetches that use it.
    static func demands(_ profile: Profile) -> [(index: AutomaticIndex, fetches: [Use])] {
        var uses: [AutomaticIndex: [Use]] = [:]
        for fetch in profile.fetches {
            for (sql, plans) in fetch.statements.texts.ordered(on: \.key) {
                for (plan, runs) in plans.ordered(on: \.key) where runs.automaticIndexRows > 0 {
                    let indexes = all(in: plan, of: sql)
                    for index in indexes {
                        let rows = runs.automaticIndexRows / UInt64(indexes.count)
                        uses[index, default: []].append(Use(fetch: fetch, runs: runs.count, rows: rows))
                    }
                }
            }
        }
        return uses.map { (index: $0.key, fetches: $0.value) }
            .filter { demand in
                demand.fetches.contains {
                    Double($0.rows) >= FetchIndexing.minimumRows.value * Double(max(1, $0.runs))
                }
            }
            .ordered { ($0.index.table, $0.index.columns.joined()) < ($1.index.table, $1.index.columns.joined()) }
    }

    /// The runs of one fetch's statement.
    struct Use {
        var fetch: FetchProfile
        var runs: UInt64
        /// The number of rows that were indexed in all runs.
        var rows: UInt64
    }
}

extension MissingIndexRule {
    /// The findings about indexes that SQLite builds itself, again for every fetch.
    func automaticIndexes(_ profile: Profile) -> [Finding] {
        AutomaticIndex.demands(profile).map { finding(for: $0.index, $0.fetches, profile) }
    }

    private func finding(for index: AutomaticIndex, _ uses: [AutomaticIndex.Use], _ profile: Profile) -> Finding {
        let fetches = uses.map(\.fetch).longestFirst.uniqued
        let (rows, runs) = (uses.reduce(0) { $0 &+ $1.rows }, uses.reduce(0) { $0 &+ $1.runs })
        let each = Double(rows) / Double(max(1, runs))
        let time = fetches.reduce(0) { $0 + $1.counts.runTime }
        let proposal = IndexProposal(table: index.table, columns: index.columns, profile)
        let isOfRelationship = proposal?.isOfRelationship(profile) ?? false
        let writes = proposal?.writes(profile) ?? 0
        let upkeep = Self.upkeep * Double(writes)
        let saved = { (row: Double) in max(0, min(row * Double(rows), time) - upkeep) }
        let saving = Saving.Range(
            median: saved(AutomaticIndex.row), low: saved(AutomaticIndex.rowRange.lowerBound),
            high: saved(AutomaticIndex.rowRange.upperBound))
        let columns = index.columns.joined(separator: ", ")
        var finding = Finding(
            rule: id, ruleName: name,
            title: proposal.map { "Index \(entity: $0.entity) by \($0.properties)" }
                ?? "Index \(code: index.table) by \(code: columns)",
            change: fetches.first?.key.site,
            severity: Severity.of(each, warning: FetchIndexing.minimumRows.value, error: 50_000),
            fix: "With an index in the store, SQLite need not build one for every fetch."
                + (isOfRelationship ? " New stores have one for each relationship; this store has lost it." : ""),
            code: proposal.flatMap { isOfRelationship ? nil : $0.code }
                ?? [
                    "CREATE INDEX \(index.table)_\(index.columns.joined(separator: "_"))_INDEX ON \(index.table) (\(columns));"
                ],
            saving: Saving(time: saving), confidence: .low("the cost of an automatic index is assumed"),
            signature: [id, "automatic", index.table, columns].joined(separator: "|"))
        finding.seenAt = fetches.dropFirst().map(\.sighting)
        finding.scopes = fetches.flatMap { $0.counts.scopes.names }.uniqued
        finding.explanation = [
            "For \(count: runs, "fetch", plural: "fetches"), SQLite built an index on \(code: index.table) by "
                + "\(code: columns) and discarded it: \(decimal: each, places: 0, of: .rows) rows each time."
        ]
        finding.evidence = [
            Evidence("executions", runs, .count), Evidence("indexedRows", rows, .rows),
            Evidence("fetchTime", fetches.total(\.time), .nanoseconds),
            Evidence("writtenRows", writes, .rows),
        ]
        finding.claims = fetches.map { Claim.loads($0.key, profile) }
        finding.remedy = proposal.map { .index($0, fetches.map(\.key)) }
        if !Significance.isMet(
            saving: saving.median, wallTime: profile.wallTime(of: Set(fetches.flatMap(\.counts.scopes.keys))),
            isMainThread: fetches.first?.isOnMainThread ?? false)
        {
            finding.reservations.append(Significance.notProven)
        }
        return finding
    }
}

extension [FetchProfile] {
    /// The fetches without duplicates.
    fileprivate var uniqued: [FetchProfile] {
        var seen: Set<FetchProfile.Key> = []
        return filter { seen.insert($0.key).inserted }
    }
}

/// The findings about indexes that SQLite builds for statements of programs without an object store.
extension MissingIndexRule {
    func automaticIndexesOfStatements(_ profile: Profile) -> [Finding] {
        profile.statementScans.filter { !examinations.hasAnswer($0.key.sql) }.flatMap { key, evidence in
            let rows = Double(evidence.automaticIndexRows) / Double(max(1, evidence.executions))
            guard rows >= FetchIndexing.minimumRows.value else { return [Finding]() }
            let indexes = evidence.automaticIndexes.sorted().flatMap { AutomaticIndex.all(in: $0, of: key.sql) }
            return indexes.map { finding(for: $0, of: UInt64(indexes.count), key, evidence) }
        }
        .joined("The index")
    }

    /// - Parameter count: The number of such indexes of the statement, which share the indexed rows.
    private func finding(
        for index: AutomaticIndex, of count: UInt64, _ key: StatementSite, _ evidence: StatementScanEvidence
    ) -> Finding {
        let rows = evidence.automaticIndexRows / count, each = Double(rows) / Double(max(1, evidence.executions))
        let saved = { (row: Double) in min(row * Double(rows), Double(evidence.time)) }
        let saving = Saving.Range(
            median: saved(AutomaticIndex.row), low: saved(AutomaticIndex.rowRange.lowerBound),
            high: saved(AutomaticIndex.rowRange.upperBound))
        var finding = Finding(
            rule: id, ruleName: name,
            title: "Create an index on \(entity: index.table)(\(Wording.properties(index.columns)))", change: key.site,
            severity: Severity.of(each, warning: FetchIndexing.minimumRows.value, error: 50_000),
            fix: "With an index in the database, SQLite need not build one for every run.",
            code: [StatementText.index(on: index.table, index.columns.map { .init(name: $0) })],
            saving: Saving(time: saving), confidence: .low("the cost of an automatic index is assumed"),
            signature: ([id, "automatic", index.table] + index.columns).joined(separator: "|"))
        if index.columns.count == 1 {
            finding.alternatives = StatementLibrary(names: evidence.libraries)?.indexing(index.columns[0]) ?? []
        }
        let statement = Phrase.shortened(StatementText(key.sql).summary, to: 90)
        finding.explanation = [
            "For \(count: evidence.executions, "run") of \(code: statement), SQLite built an index on "
                + "\(entity: index.table)(\(Wording.properties(index.columns))) and discarded it: "
                + "\(decimal: each, places: 0, of: .rows) rows each time."
        ]
        finding.evidence = [Evidence("indexedRows", rows, .rows)]
        finding.complete(key, evidence, trying: .indexes(finding.code))
        return finding
    }
}
