public import FaultlineTrace

/// R04: consecutive fetches that differ in the value of one property, and objects that are looked up one by one.
///
/// The detectors have already applied the thresholds within a scope (five fetches from one line on one thread, with
/// five values). The rule weighs the evidence.
public struct FetchLoopRule: Rule {
    public let id = "R04"
    public let name = "Fetch in a loop"
    public let purpose =
        "Consecutive fetches that differ only in the value of one property, and look-ups of objects by ID."
    public let kinds: Set<EventKind> = [.fetch, .fault, .cacheMiss]

    /// The number of values that one `IN` is assumed to hold.
    static let valuesAtOnce = 1000.0
    /// The minimum rows of a fetch for which the cost of the trip is small in comparison.
    static let manyRows: UInt64 = 100
    /// The minimum time between two fetches that shows that the program waits for something else: a multiple of the
    /// fetch's time, and a number of nanoseconds.
    static let waitFactor = Threshold(
        "R04", "waitFactor", 10, .factor,
        "ratio of the time between fetches to a fetch's time that makes the finding a note")
    static let minimumWait: UInt64 = 1_000_000

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        var examined: UInt64 = 0
        var unrecorded: UInt64 = 0
        for fetch in profile.fetches where fetch.key.shape.resultType != "objectIDs" {
            examined &+= fetch.counts.executions
            if fetch.key.shape.terms == nil, !fetch.key.shape.predicate.isEmpty,
                fetch.key.shape.hasUnrecordedValues != true
            {
                unrecorded &+= fetch.counts.executions
            }
        }
        // The rule advises a list of keys. A log shows such a list without its values.
        outcome.findings = profile.loops.filter { !$0.key.fetch.shape.predicate.contains("_Z_intarray") }
            .compactMap { finding($0.key, $0.evidence, profile, costs) }
        let found = Set(outcome.findings.filter { $0.severity > .note }.map(\.change))
        outcome.findings += profile.fetches.filter { !found.contains($0.key.site) }
            .compactMap { amongUnsaved($0, profile) }
        // Objects that are read repeatedly must be kept in memory first, as R11 advises.
        let again = Set(profile.refaults.filter { 2 * $0.evidence.repeats >= $0.evidence.misses }.map(\.key))
        outcome.findings += profile.lookUps.filter { !again.contains($0.key) }
            .map { lookUp($0.key, $0.evidence, profile, costs) }
        if examined > 0 { outcome.examined = "\(count: examined, "fetch", plural: "fetches")" }
        if unrecorded > 0 {
            outcome.obstacles.append(
                "The trace does not show which values of \(count: unrecorded, "fetch", plural: "fetches") differ."
            )
        }
        return outcome
    }

    private func finding(
        _ key: LoopEvidence.Key, _ evidence: LoopEvidence, _ profile: Profile, _ costs: CostModel
    ) -> Finding? {
        let fetch = profile.fetch(key.fetch)
        var found: Finding?
        switch FetchLoopKind(key, fetch) {
        case .rows: found = rows(key, evidence, profile, costs)
        case .groups(let aggregate): found = grouped(key, evidence, aggregate, profile, costs)
        case .first: found = firstRows(key, evidence, profile, costs)
        case nil: found = nil
        }
        guard var finding = found else { return nil }
        finding.claims = [Claim.loads(key.fetch, profile)]
        Self.addUnsaved(fetch, to: &finding)
        return finding
    }

    /// The finding about rows that one fetch with `IN` can load.
    private func rows(
        _ key: LoopEvidence.Key, _ evidence: LoopEvidence, _ profile: Profile, _ costs: CostModel
    ) -> Finding? {
        let shape = key.fetch.shape
        guard evidence.isWorthJoining(key, profile) else { return nil }
        let term = key.term.flatMap { position in shape.terms.flatMap { position < $0.count ? $0[position] : nil } }
        let occurrences = Double(max(1, evidence.occurrences))
        // If the values are unknown, each fetch counts as one.
        let values = Double(term == nil ? evidence.executions : evidence.values)
        let trips = (values / occurrences / Self.valuesAtOnce).rounded(.up) * occurrences
        // Repeated values add no rows.
        let rows = Double(evidence.rows) * values / Double(max(1, evidence.executions))
        let estimate = costs.rows(of: shape)
        let advice = FetchLoopAdvice(shape: shape, term: term, evidence: evidence)
        let (listed, grouped) = (term == nil ? 0 : values, advice.groupsRowsByValue ? rows : 0)
        // If the key path goes through another object, that object must be looked up for each value.
        let lookedUp = advice.groupsRowsByValue && term?.keyPath.contains(".") == true ? values : 0
        let time = evidence.time(profile.fetch(key.fetch), estimate)
        let saving = estimate.range(
            usual: CostModel.listed, least: CostModel.maximumListed, most: CostModel.minimumListed
        ) { line, cost in
            time(line) - line.cost(trips: trips + lookedUp, rows: rows) - listed * cost.value - grouped * cost.row
        }
        var finding = finding(
            key, evidence, title: advice.title, fix: advice.fix, code: advice.code, saving: Saving.Range(saving),
            confidence: term == nil || shape.isLimited
                ? .low("one fetch may have to load other rows") : estimate.confidence(in: saving), what: advice.property
        )
        finding.saving.trips = Int64(clamping: evidence.executions) - Int64(saturating: trips)
        finding.saving.rows = Int64(clamping: evidence.rows) - Int64(saturating: rows)
        finding.explanation = advice.explanation
        if term != nil, shape.resultType == "objects" { finding.remedy = .joinFetches(key.fetch, term: key.term) }
        // Each limited fetch took one of a value's rows, and `IN` loads them all. Comparing in memory is saved in any
        // case.
        if shape.isLimited {
            let unsaved = evidence.pendingTime(profile.fetch(key.fetch))
            finding.saving.time.low = min(finding.saving.time.low, unsaved * 0.85)
        }
        weigh(&finding, evidence, trips: profile.totals.readTrips)
        return finding
    }

    /// Creates a finding about a loop, whatever its fetches are for.
    ///
    /// - Parameter what: Distinguishes the findings about one line.
    func finding(
        _ key: LoopEvidence.Key, _ evidence: LoopEvidence, title: Wording, fix: Wording, code: [String],
        saving: Saving.Range, confidence: Confidence, what: String
    ) -> Finding {
        let occurrences = Double(max(1, evidence.occurrences))
        var finding = Finding(
            rule: id, ruleName: name, title: title, change: key.fetch.site,
            score: Score.of(
                Double(evidence.executions) / occurrences, info: LoopDetector.threshold.value, warning: 25),
            fix: fix, code: code, saving: Saving(time: saving), confidence: confidence,
            signature: [id, what, SignatureText.shape(key.fetch.shape), key.fetch.site?.function ?? ""]
                .joined(separator: "|"))
        finding.seenAt = [
            Finding.Sighting(site: key.fetch.site, count: evidence.executions, time: evidence.time)
        ]
        finding.scopes = evidence.scopes.names
        finding.evidence = [
            Evidence("executions", evidence.executions, .count), Evidence("values", evidence.values, .count),
            Evidence("occurrences", evidence.occurrences, .count), Evidence("rows", evidence.rows, .rows),
            Evidence("fetchTime", evidence.time, .nanoseconds), Evidence("waiting", evidence.waiting, .nanoseconds),
            Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        return finding
    }

    func weigh(_ finding: inout Finding, _ evidence: LoopEvidence, trips: UInt64) {
        let isLongEnough = Significance.isMet(
            saving: finding.saving.time.median, wallTime: evidence.wallTime,
            isMainThread: Significance.isMost(evidence.mainThreadTime, of: evidence.time))
        // Trips alone make no error, nor does a saving that may be zero.
        if !isLongEnough || finding.saving.time.low <= 0 { finding.score = min(finding.score, Score.highestWarning) }
        finding.weigh(
            isLongEnough: isLongEnough, isLargePart: Significance.isMet(trips: finding.saving.trips, of: trips),
            of: "trips")
        let wait = evidence.waiting / max(1, evidence.executions)
        if wait >= Self.minimumWait, Double(evidence.waiting) >= Self.waitFactor.value * Double(evidence.time) {
            finding.downgrade(forWaiting: wait, between: "fetches", arriving: "values")
        }
        finding.weigh(lossyOccurrences: evidence.lossyOccurrences, of: evidence.occurrences)
    }
}
