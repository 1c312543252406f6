internal import FaultlineTrace

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
        let writes = proposal.map { profile.writes(of: $0.entity) } ?? 0
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
            score: Score.of(each, info: FetchIndexing.minimumRows.value, warning: 50_000),
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
