internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R11: objects that are read from the store again although they had been in memory.
struct RefaultRule: Rule {
    let id = "R11"
    let name = "Repeated cache misses"
    let purpose =
        "Objects that are fetched from the store again because they were released or evicted too early."
    let kinds: Set<EventKind> = [.fault, .cacheMiss, .refresh, .eviction]

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

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
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
            severity: Severity.of(Double(evidence.repeats), warning: 10, error: 1000), fix: advice.fix,
            code: advice.code,
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

extension RefaultRule {
    var needs: Set<TraceGap.Kind> { [.operations] }

    var thresholds: [Threshold] {
        [Self.minimumMisses, Self.minimumShare, Self.minimumTimes]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R11 reports at least \(Phrase.count(RefaultRule.minimumMisses.count)) faults of one entity that go to "
                + "the store from one line, at least \(Phrase.percent(RefaultRule.minimumShare.value)) of them for "
                + "objects whose row had been in memory; or one object that goes to the store at least "
                + "\(Phrase.count(RefaultRule.minimumTimes.count)) times in one scope.",
            evidence:
                "The finding gives these faults and their time, and the event between two uses: a refresh or reset, or "
                + "the loading of other rows. For the latter, it gives the sizes of a row cache that would have "
                + "reached given hit rates, the cache's limit, and the line that read most of the rows.",
            fix:
                "Do not refresh or reset objects before they are used again; or keep a reference to them, use one "
                + "context for the work, or raise the limit of the row cache (rowCacheLimit of the store's description, in bytes).",
            saving: "The saving is the time of these faults.",
            guards: [
                "If a save or a merge changed objects of the entity in between, they had to be read again.",
                "If most of the bytes read are large values, these fill the row cache, and R09 comes first.",
                "The first fault of an object does not count.",
                "The faults of a finding of R01 can show up here as well; their saving is counted once, there.",
            ])
    }
}

/// The wording of R11's findings.
struct RefaultAdvice {
    let key: RefaultEvidence.Key
    let evidence: RefaultEvidence
    /// The limit of the row cache in bytes, or `nil` if the trace does not have it.
    let limit: UInt64?
    /// `nil` if no line dominates.
    let evictor: Evictor?
    /// The rows and bytes that the row cache evicted, or 0 in traces of older recorders.
    let evictions: (rows: UInt64, bytes: UInt64)

    /// The line for which more than half of all bytes of objects were read.
    struct Evictor {
        let site: CallSite
        let bytes: UInt64
        let share: Double

        /// Returns `nil` if there is none.
        init?(_ profile: Profile) {
            var read: [CallSite: UInt64] = [:]
            for group in profile.groups where [.fetch, .batch, .fault].contains(group.key.kind) {
                // A cache hit displaces nothing, and only objects are kept in the row cache.
                if case .shape(let shape) = group.key.subject, shape.resultType != "objects" { continue }
                guard group.key.source != .rowCache, let site = group.key.fetchSite ?? group.key.site else { continue }
                read[site, default: 0] &+= group.counts.bytes
            }
            let all = read.values.reduce(0) { $0 + Double($1) }
            let most = read.max { ($0.value, $1.key.sortText) < ($1.value, $0.key.sortText) }
            guard let most, Double(most.value) * 2 > all else { return nil }
            (site, bytes, share) = (most.key, most.value, Double(most.value) / all)
        }
    }

    init(_ key: RefaultEvidence.Key, _ evidence: RefaultEvidence, _ evictor: Evictor?, _ profile: Profile) {
        (self.key, self.evidence) = (key, evidence)
        limit = profile.entity(key.entity)?.rowCacheLimit
        self.evictor = evictor?.site == key.site ? nil : evictor
        evictions = (profile.totals.rowsEvicted, profile.totals.bytesEvicted)
    }

    /// Whether most objects were refreshed or their context reset, rather than evicted.
    var isRefreshed: Bool { evidence.refreshed >= evidence.evicted }

    /// The line of the refresh or reset that caused most of the faults.
    var change: CallSite? {
        guard isRefreshed else { return nil }
        let sites = evidence.refreshSites.filter { $0.key != nil }
        return sites.max { ($0.value, $1.key?.sortText ?? "") < ($1.value, $0.key?.sortText ?? "") }?.key ?? nil
    }

    var title: Wording {
        isRefreshed
            ? "Do not refresh or reset \(entity: key.entity) objects while they are in use"
            : "Keep \(entity: key.entity) objects alive, or enlarge the row cache"
    }

    var fix: Wording {
        isRefreshed
            ? "Objects that are refreshed, or whose context is reset, are read again at their next use. Refresh only "
                + "what others have changed, and reset only at the end of a piece of work."
            : "A row stays in memory while an object holds it or the row cache has room. Keep the objects in an array "
                + "during the work, share one context, or raise the limit."
    }

    var code: [String] {
        guard !isRefreshed else { return ["context.refresh(object, mergeChanges: true)  // only if others changed it"] }
        // Rows were evicted at the current limit, so the new one must exceed it.
        let least = max(Double(evidence.room.percentile(90)), Double(limit ?? 0)) * 1.25
        var mebibytes = 32
        while Double(mebibytes << 20) < least, mebibytes < 1 << 16 { mebibytes *= 2 }
        return ["description.rowCacheLimit = \(mebibytes) << 20"]
    }

    var explanation: [Wording] {
        let share = Double(evidence.repeats) / Double(max(1, evidence.misses))
        var sentences: [Wording] = [
            "\(count: evidence.repeats) of \(count: evidence.misses, "fault") that went to the store "
                + "(\(percent: share)) were for objects that had been in memory: "
                + "\(duration: evidence.time) in all."
        ]
        if evidence.maximumInScope > 2 {
            sentences.append("One was read \(count: evidence.maximumInScope) times in one scope.")
        }
        if isRefreshed {
            sentences.append("\(times(evidence.refreshed)) had been refreshed or reset in between.")
        } else {
            sentences.append(room)
            if let limit {
                sentences.append(
                    "The row cache's limit is \(size: limit). It evicts whole blocks of rows, so it needs more room than the "
                        + "rows themselves.")
            }
            if evictions.rows > 0 {
                sentences.append(
                    "The row cache evicted \(count: evictions.rows, "row") (\(size: evictions.bytes)) in all.")
            }
            if let evictor {
                sentences.append(
                    "\(percent: evictor.share) of the bytes read for objects, "
                        + "\(size: evictor.bytes), were read at \(site: evictor.site).")
            }
        }
        if evidence.changed > 0 {
            sentences.append("\(times(evidence.changed)) may have been changed in between, and had to be read.")
        }
        return sentences
    }

    /// The memory for rows with which the objects would have been found.
    private var room: Wording {
        let (half, most) = (evidence.room.percentile(50), evidence.room.percentile(90))
        let (small, large) = ("\(size: half)" as Wording, "\(size: most)" as Wording)
        return small.text == large.text
            ? "With \(large) for rows, nine of ten would have been in memory."
            : "With \(small) for rows, half of them would have been in memory; with \(large), nine of ten."
    }

    /// An estimate of the repeats with this cause, from the part whose cause is known.
    private func times(_ part: UInt64) -> Wording {
        "\(decimal: Double(evidence.repeats) * Double(part) / Double(max(1, evidence.known)), places: 0)"
    }

    /// The figures, with the cache sizes that would give various hit rates.
    var numbers: [Evidence] {
        var numbers = [
            Evidence("misses", evidence.misses, .count), Evidence("repeats", evidence.repeats, .count),
            Evidence("repeatTime", evidence.time, .nanoseconds), Evidence("refreshed", evidence.refreshed, .count),
            Evidence("evicted", evidence.evicted, .count), Evidence("changed", evidence.changed, .count),
            Evidence("mostInScope", evidence.maximumInScope, .count),
        ]
        guard evidence.evicted > 0 else { return numbers }
        if let limit { numbers.append(Evidence("rowCacheLimit", limit, .bytes)) }
        for percent in [10.0, 25, 50, 75, 90, 99] {
            numbers.append(Evidence("roomFor\(Int(percent))Percent", evidence.room.percentile(percent), .bytes))
        }
        return numbers
    }
}
