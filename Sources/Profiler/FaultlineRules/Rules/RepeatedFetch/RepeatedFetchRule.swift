internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R18: the same fetch again, with the same values and nothing written in between.
///
/// The detector has already checked for writes. The rule weighs the evidence.
struct RepeatedFetchRule: Rule {
    let id = "R18"
    let name = "Repeated fetches"
    let purpose = "Fetches that are repeated with the same values, although nothing was written in between."
    let kinds: Set<EventKind> = [.fetch]
    var isAboutFrequency: Bool { true }

    /// The minimum number of equal fetches on one occasion.
    static let manyTimes = Threshold(
        "R18", "manyTimes", 5, .count, "minimum equal fetches on one occasion for more than a note")

    var thresholds: [Threshold] { [Self.manyTimes] }

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        // One fetch with `IN` also removes the repetitions of a loop.
        let loops = Set(
            profile.loops.filter { $0.evidence.isWorthJoining($0.key, profile) }.map(\.key.fetch))
        for (key, evidence) in profile.repeats where !loops.contains(key) {
            outcome.findings.append(finding(key, evidence, profile))
        }
        let fetches = profile.totals.events[.fetch] ?? 0
        if fetches > 0 { outcome.examined = "\(count: fetches, "fetch", plural: "fetches")" }
        let unrecorded = profile.fetches.filter { $0.key.shape.hasUnrecordedValues == true }.total(\.executions)
        if unrecorded > 0 {
            outcome.obstacles.append(
                "The trace does not show which values \(count: unrecorded, "fetch", plural: "fetches") compared.")
        }
        return outcome
    }

    private func finding(_ key: FetchProfile.Key, _ evidence: RepeatEvidence, _ profile: Profile) -> Finding {
        let advice = RepeatedFetchAdvice(shape: key.shape, evidence: evidence)
        // The first fetch is often the longest, because it reads the pages into memory. The others can be saved.
        let avoided = max(0, Double(evidence.time) - Double(evidence.longest))
        let share = 1 - Double(evidence.occurrences) / Double(evidence.executions)
        let saving = Saving.Range(median: avoided, low: avoided, high: max(avoided, Double(evidence.time) * share))
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: key.site,
            severity: Severity.of(Double(evidence.most), warning: Self.manyTimes.value, error: 25), fix: advice.fix,
            code: advice.code,
            saving: Saving(time: saving),
            confidence: advice.isRefreshed ? .medium("another process may have written in between") : .high,
            signature: [id, SignatureText.shape(key.shape), key.site?.function ?? ""].joined(separator: "|"))
        finding.saving.trips = Int64(clamping: evidence.trips)
        finding.saving.rows = Int64(clamping: evidence.rows)
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.executions, time: evidence.time)]
        if advice.isRefreshed {
            finding.alternatives = [
                "If another process writes to the store, keep the refresh, and fetch only after such a write."
            ]
        }
        finding.scopes = evidence.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("executions", evidence.executions, .count), Evidence("occurrences", evidence.occurrences, .count),
            Evidence("most", evidence.most, .count), Evidence("trips", evidence.trips, .trips),
            Evidence("rows", evidence.rows, .rows), Evidence("fetchTime", evidence.time, .nanoseconds),
            Evidence("longest", evidence.longest, .nanoseconds), Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        if advice.refreshed > 0 { finding.evidence.append(Evidence("refreshed", advice.refreshed, .count)) }
        finding.claims = [Claim.loads(key, profile)]
        weigh(&finding, evidence, trips: profile.totals.readTrips)
        return finding
    }

    private func weigh(_ finding: inout Finding, _ evidence: RepeatEvidence, trips: UInt64) {
        finding.weigh(
            isLongEnough: Significance.isMet(
                saving: finding.saving.time.median, wallTime: evidence.wallTime,
                isMainThread: Significance.isMost(evidence.mainThreadTime, of: evidence.time)),
            isLargePart: Significance.isMet(trips: finding.saving.trips, of: trips), of: "trips")
        if Significance.isMost(evidence.regularOccurrences, of: evidence.occurrences) {
            finding.downgrade(
                "The fetches run at regular intervals, as if a timer polled for changes by others.")
        }
        finding.weigh(lossyOccurrences: evidence.lossyOccurrences, of: evidence.occurrences)
    }
}

extension RepeatedFetchRule {
    var needs: Set<TraceGap.Kind> { [.values] }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R18 reports at least two fetches from one line with the same values, limit, offset and context in one "
                + "scope, with the same number of rows, and no write in between to any entity on the request's key "
                + "paths. Fewer than \(RepeatedFetchRule.manyTimes.count) of them are reported as a note.",
            evidence:
                "The finding gives the fetches, the most on one occasion, the trips and rows of the unneeded fetches, "
                + "and the time.",
            fix:
                "Keep the result, and pass it on. If the ID is known, get the object from the context.",
            saving: "The saving is the fetches' total time, minus the longest fetch of each occasion.",
            guards: [
                "Saves and merges of the entities count as writes, on any thread; if the trace does not record "
                    + "a predicate's key paths, any write counts. A refresh alone does not count as one; the finding names its line.",
                "Fetches at regular intervals of at least 100 ms poll for changes by others, and the finding is a "
                    + "note.",
                "Without scopes, a pause of 100 ms begins a new occasion.",
                "Fetches in a loop with several values belong to R04, if one fetch for all of them pays.",
            ])
    }
}

/// The wording of R18's findings.
struct RepeatedFetchAdvice {
    let shape: ShapeEntry
    let evidence: RepeatEvidence

    /// The fetches before which the context refreshed objects.
    var refreshed: UInt64 { evidence.refreshes.values.reduce(0, &+) }

    /// Whether a refresh preceded most of the repetitions.
    var isRefreshed: Bool { Significance.isMost(refreshed, of: evidence.executions &- evidence.occurrences) }

    /// Whether the fetch looks for one object by its ID.
    private var isByID: Bool {
        shape.terms.map { $0.count == 1 && $0[0].keyPath.uppercased() == "SELF" && $0[0].operation == "==" } ?? false
    }

    var title: Wording {
        isByID && !isRefreshed
            ? "Get the \(entity: shape.entity) from the context by its ID instead of fetching it"
            : "Run \(shape.entity.isEmpty ? "this fetch" : "the fetch of \(entity: shape.entity)" as Wording) once, "
                + "and keep its result"
    }

    var fix: Wording {
        if isRefreshed {
            return "Remove the refresh, and keep the result: the program wrote nothing that could change it. A context "
                + "learns of the program's own saves without a refresh."
        }
        return isByID
            ? "The context finds its objects by their IDs, and returns a fault for one that it does not have."
            : "Pass the result on, or keep it for as long as the work lasts: nothing was written that could change it."
    }

    var code: [String] { isByID && !isRefreshed ? ["let object = context.object(with: id)"] : [] }

    var explanation: [Wording] {
        let occasions: Wording =
            evidence.occurrences == 1
            ? ""
            : " on \(count: evidence.occurrences) occasions, up to \(count: evidence.most) times on one"
        let rows: Wording = evidence.rows == 0 ? "" : ", \(rows: evidence.rows) loaded again"
        return [
            "\(count: evidence.executions, "fetch", plural: "fetches") with the same values\(occasions): "
                + "\(duration: evidence.time) in all\(rows)."
        ] + refreshSentences + evidence.callers.sentences
    }

    private var refreshSentences: [Wording] {
        guard refreshed > 0 else { return [] }
        let most = evidence.refreshes.max {
            ($0.value, $1.key?.description ?? "") < ($1.value, $0.key?.description ?? "")
        }
        let site: Wording = most.flatMap(\.key).map { " at \(site: $0)" } ?? ""
        return [
            "The context refreshed objects\(site) before \(count: refreshed) of them, although the program had written "
                + "nothing."
        ]
    }
}
