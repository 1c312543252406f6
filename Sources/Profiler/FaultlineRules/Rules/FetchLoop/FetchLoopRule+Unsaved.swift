internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// Fetches that compare thousands of unsaved objects in memory, one fetch after the other.
extension FetchLoopRule {
    /// The minimum mean number of unsaved objects that a reported fetch compares.
    static let minimumPending = Threshold(
        "R04", "minimumPending", 100, .count, "minimum unsaved objects that each fetch compares in memory, on average")

    /// Whether the fetches of a line spend at least half of their time on unsaved objects.
    static func isMostlyUnsaved(_ fetch: FetchProfile) -> Bool {
        let counts = fetch.counts
        return counts.pendingFetches >= LoopDetector.threshold.count
            && counts.pendingObjects >= minimumPending.count &* counts.pendingFetches
            && Significance.isAtLeastHalf(counts.pendingTime, of: counts.time)
    }

    /// Adds the cost of unsaved objects, and how to exclude them, to a finding about the same fetches.
    static func addUnsaved(_ fetch: FetchProfile?, to finding: inout Finding) {
        guard let fetch, isMostlyUnsaved(fetch) else { return }
        finding.explanation.append(unsaved(fetch.counts, "Of that time"))
        finding.alternatives.append(
            "If the fetch only has to find saved objects, set \(code: "request.includesPendingChanges = false"). "
                + "Saving in parts leaves fewer objects unsaved.")
        finding.evidence.append(Evidence("pendingTime", fetch.counts.pendingTime, .nanoseconds))
    }

    private static func unsaved(_ counts: FetchCounts, _ lead: String) -> Wording {
        let each = counts.pendingObjects / max(1, counts.pendingFetches)
        return "\(lead), \(duration: counts.pendingTime) went into comparing unsaved objects in memory, about "
            + "\(count: each) for each fetch."
    }

    /// The finding about fetches that are not part of a reported loop.
    func amongUnsaved(_ fetch: FetchProfile, _ profile: Profile) -> Finding? {
        guard Self.isMostlyUnsaved(fetch) else { return nil }
        let (counts, entity) = (fetch.counts, fetch.key.shape.entity)
        let time = Double(counts.pendingTime)
        var finding = Finding(
            rule: id, ruleName: name, title: "Leave unsaved objects out of the fetches of \(entity: entity)",
            change: fetch.key.site,
            severity: min(
                Severity.warning,
                Severity.of(
                    Double(counts.pendingObjects) / Double(max(1, counts.pendingFetches)),
                    warning: Self.minimumPending.value, error: 100 * Self.minimumPending.value)),
            fix:
                "If the fetch only has to find saved objects, leave the unsaved ones out. If it must find new ones "
                + "too, keep these in a dictionary, or save in parts so that fewer are unsaved.",
            code: ["request.includesPendingChanges = false"],
            saving: Saving(time: Saving.Range((time, time * 0.85, time))), confidence: .high,
            signature: fetch.signature(id, "unsaved"))
        finding.seenAt = [fetch.sighting]
        finding.scopes = counts.scopes.names
        finding.explanation = [
            "\(count: counts.executions, "fetch", plural: "fetches") took \(duration: counts.time). "
                + Self.unsaved(counts, "Of that")
        ]
        finding.evidence = [
            Evidence("executions", counts.executions, .count),
            Evidence("pendingObjects", counts.pendingObjects, .count),
            Evidence("pendingTime", counts.pendingTime, .nanoseconds), Evidence("fetchTime", counts.time, .nanoseconds),
        ]
        finding.claims = [Claim.loads(fetch.key, profile)]
        if !Significance.isMet(
            saving: time, wallTime: profile.wallTime(of: counts.scopes.keys), isMainThread: fetch.isOnMainThread)
        {
            finding.downgrade("\(Significance.tooLittle()).")
        }
        return finding
    }
}
