public import FaultlineTrace

/// R11: objects that are read from the store again although they had been in memory.
public struct RefaultRule: Rule {
    public let id = "R11"
    public let name = "Repeated cache misses"
    public let purpose =
        "Objects that are fetched from the store again because they were released or evicted too early."
    public let kinds: Set<EventKind> = [.fault, .cacheMiss, .refresh, .eviction]

    /// The minimum number of faults that went to the store, and the minimum share of them that had been in memory.
    static let minimumMisses = Threshold("R11", "minimumMisses", 50, .count, "minimum faults that went to the store")
    static let minimumShare = Threshold(
        "R11", "minimumShare", 0.2, .share, "minimum share of these that had been in memory")
    /// The minimum number of trips for one object in one unit of work for which few objects are enough.
    static let minimumTimes = Threshold(
        "R11", "minimumTimes", 3, .count, "minimum trips for one object in one scope, whatever the others' share")
    static let minimumRepeats = 5.0
    /// The minimum share of large values in all bytes for them to be the reason why other rows were evicted.
    static let largeShare = 0.5

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let misses = profile.refaults.reduce(0) { $0 &+ $1.evidence.misses }
        if misses > 0 { outcome.examined = "\(count: misses, "cache miss", plural: "cache misses")" }
        let evictor = RefaultAdvice.Evictor(profile)
        outcome.findings = profile.refaults.compactMap { finding($0.key, $0.evidence, evictor, profile) }
        return outcome
    }

    private func finding(
        _ key: RefaultEvidence.Key, _ evidence: RefaultEvidence, _ evictor: RefaultAdvice.Evictor?, _ profile: Profile
    ) -> Finding? {
        let isOften =
            evidence.misses >= Self.minimumMisses.count
            && Double(evidence.repeats) >= Self.minimumShare.value * Double(evidence.misses)
        guard isOften || evidence.maximumInScope >= Self.minimumTimes.count, evidence.known > 0 else { return nil }
        // Objects that were changed elsewhere had to be read again.
        let needless = Double(evidence.refreshed &+ evidence.evicted) / Double(evidence.known)
        guard needless * Double(evidence.repeats) >= Self.minimumRepeats else { return nil }
        let advice = RefaultAdvice(key, evidence, evictor, profile)
        let time = Double(evidence.time) * needless
        let left = max(0, time - Self.claimedElsewhere(key, profile))
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: advice.change ?? key.site,
            score: Score.of(Double(evidence.repeats), info: 10, warning: 1000), fix: advice.fix, code: advice.code,
            saving: Saving(time: .init(median: time, low: time / 2, high: time)),
            confidence: needless == 1
                ? .medium("objects may be kept for only a part of the uses")
                : .low("some of the objects had been changed and had to be read again"),
            signature: [id, key.entity, advice.isRefreshed ? "refresh" : "room", key.site?.function ?? ""]
                .joined(separator: "|"))
        // The faults that R01 claims are its trips.
        finding.saving.trips = Int64(saturating: Double(evidence.repeats) * needless * (time > 0 ? left / time : 0))
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.repeats, time: evidence.time)]
        finding.scopes = evidence.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = advice.numbers
        finding.claims = [Claim(RefaultDetector.self, key, balance: left)]
        finding.weigh(
            isLongEnough: Significance.isMet(
                saving: time, wallTime: profile.wallTime(of: evidence.scopes.keys),
                isMainThread: Significance.isMost(evidence.mainThreadTime, of: evidence.time)),
            isLargePart: Significance.isMet(trips: finding.saving.trips, of: profile.totals.readTrips), of: "trips")
        if left == 0, time > 0 {
            finding.reservations.append("R01 looks at the same faults, so their time counts there.")
        }
        if !advice.isRefreshed, Self.largeShare(of: profile) >= Self.largeShare {
            finding.downgrade("Large values that are loaded with the rows fill the row cache: fix those first (R09).")
        }
        return finding
    }

    /// The share of the bytes read that belongs to properties with large values.
    private static func largeShare(of profile: Profile) -> Double {
        let large = profile.fetches.flatMap { $0.properties.values }.flatMap(\.values).filter { $0.largeRows > 0 }
        return large.reduce(0) { $0 + Double($1.bytes) } / Double(max(1, profile.totals.bytesRead))
    }

    /// The time of the same faults that R01 may claim, in nanoseconds.
    private static func claimedElsewhere(_ key: RefaultEvidence.Key, _ profile: Profile) -> Double {
        profile.faults.reduce(0) { sum, fault in
            guard let position = fault.evidence.places[key.site], fault.evidence.trips > 0,
                !fault.evidence.isReread(fault.key)
            else { return sum }
            return sum + Double(position.time) * Double(fault.evidence.seenBefore) / Double(fault.evidence.trips)
        }
    }
}
