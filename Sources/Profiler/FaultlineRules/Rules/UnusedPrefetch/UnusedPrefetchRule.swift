internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R20: relationships that are prefetched and then not used.
///
/// All lines that fetch with one shape are judged together: a prefetch that one of them needs is used.
struct UnusedPrefetchRule: Rule {
    let id = "R20"
    let name = "Unused prefetch"
    let purpose = "Relationships that are prefetched and then not used."
    let kinds: Set<EventKind> = [.fetch]

    /// The minimum number of fetches or batches, of rows, and the minimum share of their time for prefetching to be
    /// evaluated.
    static let minimumLoads = Threshold("R20", "minimumLoads", 3, .count, "minimum number of prefetches of a key path")
    static let minimumRows = Threshold("R20", "minimumRows", 10, .count, "minimum prefetched rows")
    static let minimumTimeShare = Threshold(
        "R20", "minimumTimeShare", 0.2, .share,
        "minimum share of the fetch's time, without scanning and sorting, that prefetching took")
    /// The maximum used share of a prefetch that is reported as unused, and as excessive.
    static let unusedShare = Threshold(
        "R20", "unusedShare", 0.1, .share, "maximum used share of a prefetch that counts as unused")
    static let littleShare = Threshold(
        "R20", "littleShare", 0.3, .share, "maximum used share of a prefetch that is reported")
    /// The maximum share of results that may still be in use.
    static let openShare = 0.1

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        var examined: UInt64 = 0
        let shapes = Dictionary(grouping: profile.fetches.filter { !$0.prefetches.isEmpty }) { $0.key.shape }
        for (shape, fetches) in shapes.ordered(on: \.key.sortText) {
            for path in shape.prefetch {
                guard let load = Prefetched(path, fetches, profile) else { continue }
                examined &+= load.use.loads
                if let finding = finding(load, fetches, profile, costs) { outcome.findings.append(finding) }
            }
        }
        if examined > 0 { outcome.examined = "\(count: examined, "prefetch", plural: "prefetches")" }
        return outcome
    }

    /// The rows that were loaded for a key path, and their use.
    struct Prefetched {
        let path: String
        let use: PrefetchUse
        /// Whether the path ends in a to-many relationship, whose members a single fault reads all at once.
        let isToMany: Bool
        /// The faults that would have gone to the store without it: on objects, or on owners for their members.
        let asked: UInt64
        /// The rows, or owners, whose source objects were in use and could have fired.
        let expected: Double
        /// The share of the fetches' own rows that were touched, and of their results that are still in use.
        let touchedShare: Double
        let openShare: Double
        /// The fetches and batches that prefetched the path, whether or not they had to read rows for it.
        let executions: UInt64

        /// Returns `nil` if nothing was loaded, or the number of objects it was loaded for is unknown.
        init?(_ path: String, _ fetches: [FetchProfile], _ profile: Profile) {
            self.path = path
            var sum = PrefetchUse()
            for fetch in fetches { sum.merge(fetch.prefetches[path] ?? PrefetchUse()) }
            guard sum.loads > 0, let shape = fetches.first?.key.shape else { return nil }
            use = sum
            let isBatched = fetches.contains { $0.uses.keys.contains { $0 > 0 } }
            executions = isBatched ? sum.loads : max(sum.loads, fetches.reduce(0) { $0 &+ $1.counts.executions })
            let uses = fetches.flatMap(\.uses.values)
            let total = { (path: KeyPath<ResultUse, UInt64>) in
                uses.reduce(0) { $0 + Double($1[keyPath: path]) }
            }
            touchedShare = min(1, total(\.touchedRows) / max(1, total(\.loadedRows)))
            openShare = total(\.openExecutions) / max(1, total(\.executions))
            let paths = KeyPaths(profile: profile)
            let end = paths.edges(of: path, from: shape.entity).last
            let property = end.flatMap { profile.entity($0.entity)?.property($0.name) }
            isToMany = property?.type == "toMany"
            let longer = shape.prefetch.filter { $0.hasPrefix(path + ".") }
            let further = longer.compactMap { paths.edges(of: $0, from: shape.entity).last }
            let own = end.map { [$0] } ?? []
            let isMany = isToMany
            asked = fetches.reduce(0) { sum, fetch in
                let direct = Self.count(own, in: isMany ? fetch.askedToMany : fetch.firedRelationships, paths)
                return sum &+ direct &+ Self.count(further, in: fetch.firedRelationships, paths)
            }
            guard isToMany else {
                expected = Double(sum.rows) * touchedShare
                return
            }
            // The owners of members are the fetch's own rows, or those that the start of the path prefetches.
            let beginning = path.split(separator: ".").dropLast().joined(separator: ".")
            let owners =
                beginning.isEmpty
                ? total(\.loadedRows) : fetches.reduce(0) { $0 + Double($1.prefetches[beginning]?.rows ?? 0) }
            guard owners > 0 else { return nil }
            expected = owners * touchedShare
        }

        /// The number of times relationships fired.
        private static func count(
            _ ends: [FetchProfile.Edge], in fired: [FetchProfile.Edge: UInt64], _ paths: KeyPaths
        ) -> UInt64 {
            ends.reduce(0) { sum, end in
                sum
                    &+ fired.reduce(0) { sum, edge in
                        let isEnd =
                            edge.key.name == end.name && (edge.key == end || paths.isKind(end.entity, of: edge.key))
                        return isEnd ? sum &+ edge.value : sum
                    }
            }
        }

        /// The used share of the rows that could have been used.
        var share: Double { expected > 0 ? min(1, Double(asked) / expected) : 1 }

        /// The rows that were used: those that were read, or all members of the owners that fired.
        var usedRows: Double {
            isToMany ? share * touchedShare * Double(use.rows) : min(Double(asked), Double(use.rows))
        }

        /// The minimum used share for which prefetching takes less than a trip for each use.
        func breakEven(_ line: CostLine) -> Double {
            let things = max(1, isToMany ? expected / max(0.01, touchedShare) : Double(use.rows))
            let rows = Double(use.rows) / things
            let together = Double(use.trips) / things * line.trip + rows * line.row
            return together / (line.trip + rows * line.row)
        }
    }

    private func finding(
        _ load: Prefetched, _ fetches: [FetchProfile], _ profile: Profile, _ costs: CostModel
    ) -> Finding? {
        let use = load.use
        let estimate = costs.store
        guard load.executions >= Self.minimumLoads.count, use.rows >= Self.minimumRows.count,
            load.openShare <= Self.openShare,
            // If the fetch itself was not used, other rules report it.
            load.touchedShare > 0, fetches.allSatisfy({ $0.unused == nil }),
            load.share <= Self.littleShare.value, load.share < load.breakEven(estimate.line)
        else { return nil }
        let ordered = fetches.longestFirst
        let wallTime = profile.wallTime(of: Set(fetches.flatMap(\.counts.scopes.keys)))
        // A sort or a scan next to it makes its share small, but it costs as much.
        let searching = fetches.reduce(0) { $0 + $1.searchTime }
        guard
            Double(use.time) >= Self.minimumTimeShare.value * max(0, Double(use.loadTime) - searching)
                || Significance.isMet(
                    saving: Double(use.totalTime), wallTime: 0, isMainThread: ordered[0].isOnMainThread)
        else { return nil }
        let advice = UnusedPrefetchAdvice(load: load, fetch: ordered[0], breakEven: load.breakEven(estimate.line))
        // The first prefetch reads pages that later ones find in memory.
        let saving = estimate.range(usual: 1, least: 0.6, most: 1.2) { line, share in
            Double(use.totalTime) * share - line.cost(trips: Double(load.asked), rows: load.usedRows)
        }
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: ordered[0].key.site,
            severity: Severity.of(Double(use.rows) - load.usedRows, warning: 20, error: 2000), fix: advice.fix,
            code: advice.code, saving: Saving(time: Saving.Range(saving)),
            confidence: estimate.confidence(in: saving), signature: ordered[0].signature(id, load.path))
        finding.saving.trips = Int64(clamping: use.trips) - Int64(clamping: load.asked)
        finding.saving.rows = Int64(saturating: Double(use.rows) - load.usedRows)
        finding.seenAt = ordered.dropFirst().map(\.sighting)
        finding.scopes = ordered[0].counts.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("loads", use.loads, .count), Evidence("prefetchTrips", use.trips, .trips),
            Evidence("prefetchedRows", use.rows, .rows), Evidence("asked", load.asked, .count),
            Evidence("usedShare", load.share, .share), Evidence("prefetchTime", use.totalTime, .nanoseconds),
            Evidence("loadTime", use.loadTime, .nanoseconds),
        ]
        finding.claims = ordered.map { Claim.loads($0.key, profile) }
        finding.remedy = .change(ordered[0].key, FetchChange(withoutPrefetch: [load.path]))
        finding.weigh(
            isLongEnough: Significance.isMet(
                saving: finding.saving.time.median, wallTime: wallTime,
                isMainThread: ordered[0].isOnMainThread),
            isLargePart: Significance.isMet(rows: finding.saving.rows, of: profile.totals.rowsLoaded), of: "rows")
        return finding
    }
}

extension FetchProfile {
    /// The time SQLite spent sorting, or scanning many rows for each that it found, in nanoseconds, or 0 if it did
    /// neither.
    fileprivate var searchTime: Double {
        let isScan = counts.scannedRows >= FetchIndexing.stepsPerRow.value * max(1, counts.foundRows)
        return counts.sorts > 0 || isScan ? counts.runTime : 0
    }
}

extension UnusedPrefetchRule {
    var needs: Set<TraceGap.Kind> { [.use] }

    var thresholds: [Threshold] {
        [Self.minimumLoads, Self.minimumRows, Self.minimumTimeShare, Self.unusedShare, Self.littleShare]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R20 reports a key path that at least \(Phrase.count(UnusedPrefetchRule.minimumLoads.count)) fetches "
                + "or batches prefetched, at least \(Phrase.count(UnusedPrefetchRule.minimumRows.count, "row")) in "
                + "all, of which at most \(UnusedPrefetchRule.unusedShare.text) were used (up to "
                + "\(Phrase.percent(UnusedPrefetchRule.littleShare.value)) gets different advice). Prefetching took at "
                + "least \(Phrase.percent(UnusedPrefetchRule.minimumTimeShare.value)) of the loading time, not "
                + "counting what SQLite scanned or sorted.",
            evidence:
                "The finding gives the trips, the rows and the time of prefetching the key path, and the faults of its "
                + "relationship on the objects of the fetch, whether the store or the row cache served them.",
            fix:
                "Do not prefetch that key path, or only where it is needed. If some rows use it, fetch the "
                + "destinations of these at once.",
            saving:
                "The saving is the measured time of prefetching, including the look-ups of rows that the row cache "
                + "already held, minus a round trip for each row that was used.",
            guards: [
                "All lines that fetch with one shape are evaluated together.",
                "Fetched rows that the program never used do not count: their relationships could not be used either.",
                "A relationship without rows is not unused.",
                "R20 reports nothing if prefetching takes less time than a trip for each row that is used, so R01 and "
                    + "this rule never contradict each other.",
                "Equal fetches may find the rows that the first of them prefetched in the row cache. They count as "
                    + "prefetches too.",
                "Results that the program still holds may be used later: if they are more than "
                    + "\(Phrase.percent(UnusedPrefetchRule.openShare)) of all results, R20 reports nothing.",
            ])
    }
}
