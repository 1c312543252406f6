internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R01: faults on the objects of one fetch that go to the store one by one.
///
/// The detector has already applied the thresholds within a scope (five trips from one line for five objects of a fetch
/// of at least two rows). The rule weighs the evidence.
struct PrefetchRule: Rule {
    let id = "R01"
    let name = "N+1 faults"
    let purpose = "Objects of one fetch whose faults went to the store one by one."
    let kinds: Set<EventKind> = [.fetch, .fault, .cacheMiss]

    /// The minimum share of a fetch's rows that fire.
    ///
    /// Below it, prefetching would load too many unneeded rows.
    static let minimumShare = Threshold(
        "R01", "minimumShare", 0.3, .share,
        "minimum share of a fetch's objects that fire a fault; below it, a prefetch would load mostly unused rows")

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        let totals = profile.totals
        let cases = Self.stories(profile)
        let found = cases.compactMap { finding($0.key, $0.evidence, $0.claims, profile, costs) }
        var outcome = RuleOutcome(findings: found)
        if profile.allProcesses.lacks(.certainOrigins) {
            for index in outcome.findings.indices {
                outcome.findings[index].confidence = min(
                    .medium("the trace does not record which fetch loaded an object"),
                    outcome.findings[index].confidence)
            }
        }
        if totals.faults > 0 {
            outcome.examined =
                "\(count: totals.faults, "fault"), \(count: totals.faultTrips, of: .trips) of them from the store"
        }
        if totals.faultTripsWithoutOrigin > 0 {
            outcome.obstacles.append(
                "The trace does not show which fetch the objects of "
                    + "\(trips: totals.faultTripsWithoutOrigin, "fault trip") came from."
            )
        }
        if totals.faultTripsWithUnknownOrigin > 0 {
            outcome.obstacles.append(
                "The fetches behind \(trips: totals.faultTripsWithUnknownOrigin, "fault trip") are not in the trace."
            )
        }
        return outcome
    }

    /// The evidence, merged so that each prefetch has one entry.
    ///
    /// Members of a to-many relationship that fired without its name belong to the relationship, because the same
    /// prefetch loads them.
    private static func stories(_ profile: Profile) -> [(
        key: FaultEvidence.Key, evidence: FaultEvidence, claims: [Claim]
    )] {
        var stories = profile.faults.map { ($0.key, $0.evidence, [claim($0.key, $0.evidence)]) }
        let paths = KeyPaths(profile: profile)
        for index in stories.indices.reversed() {
            guard case .target(let entity) = stories[index].0.subject, entity != stories[index].0.fetch.shape.entity
            else { continue }
            let home = stories.firstIndex { other, _, _ in
                guard case .relationship(let owner, let name) = other.subject else { return false }
                return other.fetch == stories[index].0.fetch
                    && paths.destination(of: FetchProfile.Edge(entity: owner, name: name)) == entity
            }
            guard let home else { continue }
            stories[home].1.absorb(stories[index].1)
            stories[home].2 += stories[index].2
            stories.remove(at: index)
        }
        return stories.map { (key: $0.0, evidence: $0.1, claims: $0.2) }
    }

    private static func claim(_ key: FaultEvidence.Key, _ evidence: FaultEvidence) -> Claim {
        Claim(FaultDetector.self, key, balance: Double(evidence.time))
    }

    private func finding(
        _ key: FaultEvidence.Key, _ evidence: FaultEvidence, _ claims: [Claim], _ profile: Profile, _ costs: CostModel
    ) -> Finding? {
        guard !evidence.isReread(key) else { return nil }
        let share = Self.share(key, evidence, profile)
        let advice = PrefetchAdvice(
            key: key, evidence: evidence, share: share, paths: KeyPaths(profile: profile), api: StoreCode(profile))
        // If prefetched objects still go to the store, their rows were evicted from the row cache (R11), or few rows
        // need them (R20).
        guard !advice.isPrefetched else { return nil }
        var after = Self.loadsAfter(key, evidence, share: share)
        // A grouped count returns one row per object.
        if advice.isCounted { after.rows = Double(evidence.objects) }
        let model = PrefetchSaving(
            evidence: evidence, after: after, isCounted: advice.isCounted, runs: profile.recordingCount,
            costs: costs.store)
        let saving = model.saving
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: key.fetch.site,
            severity: Severity.of(
                Double(evidence.trips) / Double(max(1, evidence.occurrences)),
                warning: FaultDetector.threshold.value,
                error: 25),
            fix: advice.fix, code: advice.code, saving: Saving(time: saving),
            confidence: costs.store.confidence(in: model.range), signature: advice.signature)
        finding.saving.trips = Int64(clamping: evidence.trips) - Int64(saturating: after.trips)
        finding.saving.rows = Int64(clamping: evidence.filled) - Int64(saturating: after.rows)
        finding.seenAt = evidence.places.map { Finding.Sighting(site: $0, count: $1.trips, time: $1.time) }
            .ordered { ($0.count, $1.site?.sortText ?? "") > ($1.count, $0.site?.sortText ?? "") }
        finding.subjects = [.shape(key.fetch.shape), key.subject.group]
        finding.samples = evidence.samples
        finding.scopes = evidence.scopes.names
        finding.evidence = Self.numbers(evidence, share: share)
        finding.explanation = advice.explanation
        finding.reservations = advice.reservations
        finding.alternatives = advice.alternatives
        if advice.isCounted {
            finding.confidence = min(
                .medium("the cost of counting depends on the number of members"), finding.confidence)
        }
        finding.claims = claims
        finding.remedy = advice.remedy
        if saving.median == 0 {
            finding.downgrade(
                "\(trips: evidence.trips) of typically \(duration: model.one): \(advice.method) would save "
                    + "nothing measurable.")
        }
        weigh(&finding, evidence)
        return finding
    }

    /// Turns cheap trips into a note, however many they are, and limits the severity of others to that of their time.
    private func weigh(_ finding: inout Finding, _ evidence: FaultEvidence) {
        let isMainThread = Significance.isMost(evidence.mainThreadTime, of: evidence.time)
        let saving = finding.saving.time.median
        finding.severity = min(
            finding.severity,
            Significance.severity(saving: saving, wallTime: evidence.wallTime, isMainThread: isMainThread))
        if saving > 0,
            !Significance.isMet(saving: saving, wallTime: evidence.wallTime, isMainThread: isMainThread)
        {
            finding.downgrade("\(Significance.tooLittle()).")
        } else if saving > 0, saving < Significance.time.value, saving < Double(evidence.wallTime) / 10 {
            // Such a saving looks too short for a warning, which it is only as a part of short work.
            let share = saving / Double(max(1, evidence.wallTime))
            finding.explanation.append(
                "The saving is \(percent: share) of the \(duration: evidence.wallTime) that the work took.")
        }
        if saving > 0, finding.saving.time.low <= 0, finding.confidence.level == .low {
            finding.downgrade("The range of the saving begins at nothing, and the confidence is low.")
        }
        finding.weigh(lossyOccurrences: evidence.lossyOccurrences, of: evidence.occurrences)
    }

    /// The share of the loaded rows that a prefetch would serve.
    ///
    /// Several rows can share a to-one destination, which goes to the store only for the first. Every firing therefore
    /// counts, even one that the row cache served. Without a relationship's name, the touched rows are counted instead.
    private static func share(_ key: FaultEvidence.Key, _ evidence: FaultEvidence, _ profile: Profile) -> Double {
        guard evidence.originRows > 0 else { return 1 }
        let fired = Double(evidence.objects) / Double(evidence.originRows)
        guard evidence.types[.toMany] == nil, let fetch = profile.fetch(key.fetch) else { return min(1, fired) }
        let loaded = Double(fetch.total(\.loadedRows))
        guard loaded > 0 else { return min(1, fired) }
        if case .relationship(let entity, let name) = key.subject {
            let firings = fetch.firedRelationships[FetchProfile.Edge(entity: entity, name: name), default: 0]
            return min(1, max(fired, Double(firings) / loaded))
        }
        let touched = Double(fetch.total(\.touchedRows))
        return min(1, max(fired, touched / loaded))
    }

    /// The trips and rows that a prefetch would take instead.
    private static func loadsAfter(
        _ key: FaultEvidence.Key, _ evidence: FaultEvidence, share: Double
    ) -> (trips: Double, rows: Double) {
        let fetches = max(1, evidence.fetches.values.reduce(0, &+))
        let batched = evidence.fetches.filter { $0.key > 0 }
        let size = batched.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key ?? 1000
        // Each fetch, or each of its batches, takes one more trip, unless the row cache holds all destinations. So
        // there are not many more trips than occasions on which faults went to the store.
        let batches = max(Double(fetches), (Double(evidence.originRows) / Double(size)).rounded(.up))
        let times = Double(evidence.occurrences) + (Double(evidence.objects) / Double(size)).rounded(.up)
        let trips = batched.isEmpty ? batches : min(batches, times)
        let isBatchFaulted = share < minimumShare.value && batched.isEmpty
        let rows = Double(max(evidence.objects, evidence.filled)) / (isBatchFaulted ? 1 : max(share, 0.01))
        return (min(trips, Double(evidence.trips)), rows)
    }

    private static func numbers(_ evidence: FaultEvidence, share: Double) -> [Evidence] {
        [
            Evidence("trips", evidence.trips, .trips),
            Evidence("objects", evidence.objects, .count),
            Evidence("rowsFilled", evidence.filled, .rows),
            Evidence("faultTime", evidence.time, .nanoseconds),
            Evidence("occurrences", evidence.occurrences, .count),
            Evidence("originFetches", evidence.fetches.values.reduce(0, &+), .count),
            Evidence("originRows", evidence.originRows, .rows),
            Evidence("firingShare", share, .share),
            Evidence("seenBefore", evidence.seenBefore, .count),
            Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
    }
}

extension PrefetchRule {
    var needs: Set<TraceGap.Kind> { [.origins] }

    var thresholds: [Threshold] {
        [Self.minimumShare, FaultDetector.threshold, ReadColumns.most]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R01 reports at least \(FaultDetector.threshold.count) round trips in one scope for as many different "
                + "objects, caused by faults of one relationship or entity at one line, on objects that came from one "
                + "fetch of at least two rows.",
            evidence:
                "The finding gives the trips, the different objects, the rows of the fetch, the share of them whose "
                + "fault fired, the time, where the faults fired, and the slowest three of them (in the report as "
                + "JSON).",
            fix:
                "Prefetch the key path with the fetch that the objects came from, which is the line to change. If fewer than "
                + "\(Phrase.percent(PrefetchRule.minimumShare.value)) of the fetched objects fire a fault, load what those need with one "
                + "fetch instead. If no member of a to-many relationship was read, count all members with one grouped fetch. If at most "
                + "\(ReadColumns.most.text) attributes of a to-one destination are read and nothing is changed, a dictionary fetch can "
                + "include them instead.",
            saving:
                "SQLite runs in the program's own process, where a trip of less than \(Phrase.duration(PrefetchSaving.quick)) costs little more "
                + "than a prefetched row: \(Phrase.percent(1 - PrefetchSaving.kept)) of its time is saved, minus "
                + "\(Phrase.duration(PrefetchSaving.statement)) for each prefetch, \(Phrase.duration(PrefetchSaving.preparation)) to "
                + "prepare its statement once, and \(Phrase.duration(CostModel.prefetchedRow)) for each row whose relationship is looked "
                + "up. These figures were measured on several machines. For slower trips, the saving is their total time minus one trip per load and the cost of the rows, both fitted "
                + "from the trace. The slowest 10 % of the faults count with the typical time of the others, because a prefetch has to read their pages as well.",
            guards: [
                "R01 ignores faults that the row cache serves: they make no trips.",
                "It ignores fetches of one row, for which a prefetch would save no trip.",
                "It ignores faults that a deletion fires to follow its delete rules.",
                "Relationships that the fetch already prefetches belong to R11 and R20.",
                "It ignores scopes of kind setup, which are preparation.",
                "Where a prefetch would cost as much as the trips did, the finding is a note that says so.",
                "The finding is a note if it saves less than 1 % of the time of the occasions in which the faults fired and less than 2 ms (1 ms on the main thread), "
                    + "however many trips there were, or if events were lost meanwhile. It is an error only if it saves at "
                    + "least 20 ms (10 ms on the main thread).",
            ])
    }
}

/// The saving of a prefetch.
///
/// It is less than the trips' time, because each row must still be sought, read and kept.
///
/// The constants were measured in release builds, with 50–5,000 rows of 50 bytes and of 2 KiB, to-one and to-many. In
/// the program's own process, a prefetch saves 25–43 % of a trip's recorded time. The rest is the row itself, the fault
/// that the row cache then serves, and the recording of each trip. The first prefetch takes another 15–60 µs to prepare
/// its statement.
struct PrefetchSaving {
    /// The share of a quick trip's time that remains if the row is loaded together with others, with its range.
    static let kept = 0.68
    static let keptRange = 0.55...0.9
    /// The time below which a trip is quick, in nanoseconds, without the time for its bytes.
    ///
    /// A quick trip is one prepared statement in an open transaction of the program's own process. 1.3–2.8 µs were
    /// measured in release builds, and 3–6 µs in debug builds. A transaction of its own makes it at least 10 µs.
    static let quick = 8000.0
    /// The time a prefetch takes before its first row, in nanoseconds, with its range.
    static let statement = 12_000.0
    static let statements = 8000.0...20_000.0
    /// The cost of a row that is prefetched but never read, as a share of a quick trip.
    static let unread = 0.4
    /// The time the first prefetch of a run takes to prepare its statement, in nanoseconds, with its range.
    static let preparation = 40_000.0
    static let preparations = 10_000.0...70_000.0
    /// The share of the faults' time below which a saving is within the noise of a run.
    static let measurable = 0.05

    let evidence: FaultEvidence
    /// The trips and rows that a prefetch takes instead.
    let after: (trips: Double, rows: Double)
    /// Whether one grouped fetch counts the members instead, without reading rows.
    let isCounted: Bool
    /// The number of recorded runs of the program.
    let runs: UInt64
    let costs: CostModel.Estimate

    /// The time of the faults without outliers, in nanoseconds.
    private var time: Double { evidence.typicalTime }
    /// The time of one fault without outliers, in nanoseconds.
    var one: Double { time / Double(max(1, evidence.trips)) }

    private var isQuick: Bool {
        let bytes = Double(evidence.bytes) / Double(max(1, evidence.trips))
        return one < Self.quick + bytes * CostModel.assumedByte
    }

    /// In nanoseconds.
    ///
    /// Negative if prefetching costs more than the trips.
    var range: (median: Double, low: Double, high: Double) {
        if isCounted { return joined(minimumKept: 0) }
        guard isQuick else { return joined(minimumKept: Self.kept) }
        let usual = quick(
            kept: Self.kept, lookUp: CostModel.prefetchedRow, statement: Self.statement, preparation: Self.preparation)
        let low = quick(
            kept: Self.keptRange.upperBound, lookUp: CostModel.prefetchedRows.upperBound,
            statement: Self.statements.upperBound, preparation: Self.preparations.upperBound)
        let high = quick(
            kept: Self.keptRange.lowerBound, lookUp: CostModel.prefetchedRows.lowerBound,
            statement: Self.statements.lowerBound, preparation: Self.preparations.lowerBound)
        return (usual, low, high)
    }

    /// The predicted saving: zero if no run would show it, although the range may extend beyond zero.
    var saving: Saving.Range {
        let range = range
        if range.median > Self.measurable * time { return Saving.Range(range) }
        return Saving.Range(median: 0, low: 0, high: max(0, range.high))
    }

    /// The saving for quick trips, from the measured shares, because the cost model of fetches does not apply to them.
    private func quick(kept: Double, lookUp: Double, statement: Double, preparation: Double) -> Double {
        // The members of a to-many relationship are loaded by the owner's trip, or each by a trip of its own.
        let unneeded = max(0, after.rows - Double(max(evidence.objects, evidence.filled)))
        let others = max(0, Double(evidence.originRows) - Double(evidence.objects))
        return time * (1 - kept) - unneeded * one * Self.unread - others * lookUp - after.trips * statement
            - Double(max(1, runs)) * preparation
    }

    /// The saving from the fitted cost of trips.
    ///
    /// A row that is loaded together with others costs at most half of its own trip, because the store's other rows may
    /// be longer.
    ///
    /// - Parameter minimumKept: The share of each trip that remains if the row dominates it, as when it must be read from
    ///   a disk.
    private func joined(minimumKept: Double) -> (median: Double, low: Double, high: Double) {
        let lookUps = CostModel.prefetchedRows
        return costs.range(
            usual: (kept: 0, lookUp: CostModel.prefetchedRow), least: (kept: minimumKept, lookUp: lookUps.upperBound),
            most: (kept: 0, lookUp: lookUps.lowerBound)
        ) { line, assumed in
            let line = CostLine(trip: line.trip, row: max(min(line.row, one / 2), assumed.kept * one))
            return time - line.cost(trips: after.trips, rows: after.rows)
                - Double(evidence.originRows) * assumed.lookUp
        }
    }
}
