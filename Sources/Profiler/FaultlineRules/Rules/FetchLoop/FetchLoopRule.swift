internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R04: consecutive fetches that differ in the value of one property, and objects that are looked up one by one.
///
/// The detectors have already applied the thresholds within a scope (five fetches from one line on one thread, with
/// five values). The rule weighs the evidence.
struct FetchLoopRule: Rule {
    let id = "R04"
    let name = "Fetch in a loop"
    let purpose =
        "Consecutive fetches that differ only in the value of one property, and look-ups of objects by ID."
    let kinds: Set<EventKind> = [.fetch, .fault, .cacheMiss]
    var isAboutFrequency: Bool { true }

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

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
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
        // Rows cannot be grouped by a to-many relationship.
        case .groups where key.comparesMembers: found = nil
        case .first where key.comparesMembers: found = members(key, evidence, profile, costs)
        case .groups(let aggregate): found = grouped(key, evidence, aggregate, profile, costs)
        case .first: found = firstRows(key, evidence, profile, costs)
        case nil: found = nil
        }
        guard var finding = found else { return nil }
        finding.claims = [Claim.loads(key.fetch, profile)]
        Self.addUnsaved(fetch, to: &finding)
        return finding
    }

    /// The to-many relationship from one entity to another, or `nil` if there are none or several.
    private static func onlyRelationship(from owner: String, to entity: String, _ profile: Profile) -> String? {
        let tree = profile.tree(of: entity)
        let found = profile.entity(owner)?.properties.filter { property in
            property.type == "toMany" && property.destination.map { profile.tree(of: $0) == tree } == true
        }
        return found?.count == 1 ? found?[0].name : nil
    }

    /// The finding about the first of the rows that belong to each object, which the object's own relationship leads to.
    private func members(
        _ key: LoopEvidence.Key, _ evidence: LoopEvidence, _ profile: Profile, _ costs: CostModel
    ) -> Finding? {
        let shape = key.fetch.shape
        guard let position = key.term, let path = shape.terms?[position].keyPath, !path.contains("."),
            let owner = profile.entity(shape.entity)?.property(path)?.destination,
            let inverse = Self.onlyRelationship(from: owner, to: shape.entity, profile)
        else { return nil }
        let saved = evidence.typicalTime(profile.fetch(key.fetch)) * (1 - 1 / Double(max(1, evidence.executions)))
        var finding = finding(
            key, evidence,
            title: "Prefetch \(quoted: inverse) with the fetch of \(entity: owner), and take the first of each",
            fix:
                "Each object then has its rows in memory. If they are many, keep the first one in a to-one relationship.",
            code: ["request.relationshipKeyPathsForPrefetching = [\"\(inverse)\"]"],
            saving: Saving.Range(median: saved / 2, low: 0, high: saved),
            confidence: .medium("the number of rows of each object is not known"), what: "members|" + path)
        finding.saving.trips = Int64(clamping: evidence.executions) - Int64(clamping: evidence.occurrences)
        finding.explanation = [
            "\(count: evidence.executions, "fetch", plural: "fetches") of the first row followed one another, each where "
                + "\(code: "ANY \(path)") is another object: \(duration: evidence.time) in all."
        ]
        weigh(&finding, evidence, trips: profile.totals.readTrips)
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
        let join = LoopJoin(term)
        let advice = Self.advice(key, evidence, nil, profile)
        let (listed, grouped) = (
            term == nil || join == .range ? 0 : values, advice.groupsRowsByValue ? rows : 0
        )
        // If the key path goes through another object, that object must be looked up for each value.
        let lookedUp = advice.groupsRowsByValue && join == .list && term?.keyPath.contains(".") == true ? values : 0
        let time = evidence.repeatedTime(profile.fetch(key.fetch), estimate)
        let saving = estimate.range(
            usual: CostModel.listed, least: CostModel.maximumListed, most: CostModel.minimumListed
        ) { line, cost in
            time(line) - line.cost(trips: trips + lookedUp, rows: rows) - listed * cost.value - grouped * cost.row
        }
        var finding = finding(
            key, evidence, title: advice.title, fix: advice.fix, code: advice.code, saving: Saving.Range(saving),
            confidence: term == nil || shape.isLimited || join != .list
                ? .low("one fetch may have to load other rows") : estimate.confidence(in: saving), what: advice.property
        )
        finding.saving.trips = Int64(clamping: evidence.executions) - Int64(saturating: trips)
        finding.saving.rows = Int64(clamping: evidence.rows) - Int64(saturating: rows)
        finding.explanation = advice.explanation
        if term == nil, !advice.code.isEmpty {
            finding.alternatives = [
                "If the loop follows a relationship, prefetch it with the fetch of the objects that the loop visits: "
                    + "\(code: "relationshipKeyPathsForPrefetching")."
            ]
        }
        if term != nil, join == .list, shape.resultType == "objects" {
            finding.remedy = .joinFetches(key.fetch, term: key.term)
        }
        // Each limited fetch took one of a value's rows, and `IN` loads them all. Comparing in memory is saved in any
        // case.
        if shape.isLimited {
            let unsaved = evidence.pendingTime(profile.fetch(key.fetch))
            finding.saving.time.low = min(finding.saving.time.low, unsaved * 0.85)
        }
        weigh(&finding, evidence, trips: profile.totals.readTrips)
        Self.weigh(&finding, advice)
        return finding
    }

    /// The wording for the one fetch that replaces a loop.
    ///
    /// - Parameter aggregate: The number that it computes for each value, or `nil` if it loads rows.
    private static func advice(
        _ key: LoopEvidence.Key, _ evidence: LoopEvidence, _ aggregate: FetchLoopKind.Aggregate?, _ profile: Profile
    ) -> any LoopAdvice {
        let (shape, api) = (key.fetch.shape, StoreCode(profile))
        let term = key.term == nil ? nil : key.variedTerm
        switch (LoopJoin(term), term) {
        case (.range, let term?):
            return RangeLoopAdvice(
                shape: shape, term: term, evidence: evidence, api: api,
                isDate: profile.entity(shape.entity)?.property(term.keyPath)?.type == "Date", aggregate: aggregate)
        case (.subquery, let term?): return SubqueryLoopAdvice(shape: shape, term: term, evidence: evidence)
        default:
            guard let aggregate else {
                return FetchLoopAdvice(
                    shape: shape, term: term, likelyTerm: key.variedTerm, evidence: evidence, api: api)
            }
            return GroupedFetchAdvice(
                shape: shape, term: key.variedTerm, hasValues: key.term != nil, aggregate: aggregate,
                evidence: evidence, api: api)
        }
    }

    /// Lowers the severity if one fetch would read other rows as well.
    private static func weigh(_ finding: inout Finding, _ advice: any LoopAdvice) {
        if let range = advice as? RangeLoopAdvice, !range.adjoin {
            finding.downgrade("The ranges do not adjoin one another, so one fetch may also read the rows between them.")
        }
        if advice is SubqueryLoopAdvice { finding.severity = min(finding.severity, .warning) }
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
            severity: Severity.of(
                Double(evidence.executions) / occurrences, warning: LoopDetector.threshold.value, error: 25),
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
        if !isLongEnough || finding.saving.time.low <= 0 { finding.severity = min(finding.severity, Severity.warning) }
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

extension FetchLoopRule {
    var needs: Set<TraceGap.Kind> { [.operations] }

    var thresholds: [Threshold] {
        [LoopDetector.threshold, Self.waitFactor, Self.minimumPending]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R04 reports at least \(LoopDetector.threshold.count) fetches, counts or dictionary requests of one "
                + "shape from one line, on one thread and in one scope, that differ only in the value of one property, "
                + "which is compared with == or IN, in one range of a property, or in the values of a SUBQUERY; as many look-ups of objects by their IDs at one line; or as many "
                + "fetches that each compare at least \(Self.minimumPending.count) unsaved objects in memory and take "
                + "half of their time for it.",
            evidence:
                "The finding gives the fetches, the different values, the rows, the time, the time between the "
                + "fetches, and the callers of the function; for look-ups, the trips for objects that no fetch had "
                + "loaded; for unsaved objects, their number and the time that comparing them took.",
            fix:
                "For rows, collect the values, fetch once with IN, and group the rows. For counts and sums, fetch "
                + "dictionaries that are grouped by the property. For ranges, fetch once from the lowest bound to the "
                + "highest, grouped by an expression that numbers the ranges. If only the newest row of each value is needed, keep "
                + "it in a relationship and prefetch it. Fetch objects by ID with self IN. To find or create, fetch "
                + "before the loop.",
            saving:
                "The saving is the fetches' typical time, minus one trip per 1,000 values and the cost of the rows, of "
                + "the values in the IN list and of grouping the rows. For grouped requests, R04 subtracts the steps "
                + "of SQLite's virtual machine for the same rows, and one dictionary per value. For unsaved objects, "
                + "it is the measured time of comparing them.",
            guards: [
                "R04 ignores fetches with a limit above one or an offset: they are pages.",
                "It ignores fetches of at least 100 rows each, which have little to gain, unless they are counts.",
                "Ranges that do not adjoin one another are a note: one fetch would also read the rows between them.",
                "For fetches limited to one unsorted row, the finding warns that IN loads all rows of a value.",
                "If the program spends at least 10 times a fetch's time, and at least 1 ms, elsewhere between the fetches, the "
                    + "values arrive one by one, and the finding is a note.",
                "Without scopes, a pause of 5 ms and four times a fetch's time ends the loop.",
                "Objects that had been in memory before belong to R11.",
                "Many trips alone never make an error: the saving must also be significant.",
                "If the trace lacks the values, at least 5 fetches or counts of one shape that follow one another count as a "
                    + "loop, with low confidence.",
            ])
    }
}

/// Counts and sums that are requested value by value, and the one fetch that groups them.
extension FetchLoopRule {
    /// The time of a step of SQLite's virtual machine, in nanoseconds, with its range.
    ///
    /// 8–25 ns were measured for counts over an index and sums over rows.
    private static let step = (usual: 15.0, range: 5.0...40.0)
    /// The time to make a dictionary of a group, without its rows, in nanoseconds, with its range.
    ///
    /// 1–2 µs were measured, and 6–8 µs without optimisation.
    private static let group = (usual: 2000.0, range: 700.0...8000.0)

    func grouped(
        _ key: LoopEvidence.Key, _ evidence: LoopEvidence, _ aggregate: FetchLoopKind.Aggregate, _ profile: Profile,
        _ costs: CostModel
    ) -> Finding? {
        let (fetch, occurrences) = (profile.fetch(key.fetch), Double(max(1, evidence.occurrences)))
        // If the values are unknown, each request counts as one.
        let values = Double(max(1, key.term == nil ? evidence.executions : evidence.values))
        let trips = (values / occurrences / Self.valuesAtOnce).rounded(.up) * occurrences
        let time = evidence.typicalTime(fetch)
        let steps = Self.steps(evidence, fetch, passes: (once: trips, perValue: values))
        let cost = { (line: CostLine, step: Double, group: Double, value: Double) in
            // The fetch scans the same rows, which takes no longer than before.
            trips * line.trip + min(steps * step, time) + values * (group + value)
        }
        let estimate = costs.store
        let saving = (
            median: time - cost(estimate.line, Self.step.usual, Self.group.usual, CostModel.listed.value),
            low: estimate.range {
                time - cost($0, Self.step.range.upperBound, Self.group.range.upperBound, CostModel.maximumListed.value)
            }.low,
            high: estimate.range {
                time - cost($0, Self.step.range.lowerBound, Self.group.range.lowerBound, CostModel.minimumListed.value)
            }.high
        )
        let advice = Self.advice(key, evidence, aggregate, profile)
        var finding = finding(
            key, evidence, title: advice.title, fix: advice.fix, code: advice.code,
            saving: Saving.Range(saving).limited(to: Double(evidence.time)),
            confidence: key.term == nil
                ? .low("the trace does not show the values")
                : LoopJoin(key.variedTerm) == .list
                    ? estimate.confidence(in: saving) : .low("one fetch may have to read other rows"),
            what: "group|" + advice.property)
        if key.term == nil { finding.severity = min(finding.severity, Severity.warning) }
        finding.saving.trips = Int64(clamping: evidence.executions) - Int64(saturating: trips)
        finding.explanation = advice.explanation
        weigh(&finding, evidence, trips: profile.totals.readTrips)
        Self.weigh(&finding, advice)
        return finding
    }

    /// The number of virtual machine steps of the grouped fetch, derived from the loop's.
    ///
    /// If each fetch scans the whole table, one pass serves all values. If an index finds the rows of each value, the
    /// passes add up to the same rows.
    private static func steps(
        _ evidence: LoopEvidence, _ fetch: FetchProfile?, passes: (once: Double, perValue: Double)
    ) -> Double {
        guard let counts = fetch?.counts, counts.statements > 0, counts.virtualMachineSteps > 0 else {
            // Counting a row takes about four steps.
            return 4 * Double(evidence.rows)
        }
        let each = Double(counts.virtualMachineSteps) / Double(counts.statements)
        return each * (counts.fullScanSteps > 0 ? 2 * passes.once : passes.perValue)
    }
}

/// The first row of each value in an order, such as the newest message of each channel, fetched value by value.
extension FetchLoopRule {
    func firstRows(
        _ key: LoopEvidence.Key, _ evidence: LoopEvidence, _ profile: Profile, _ costs: CostModel
    ) -> Finding? {
        let shape = key.fetch.shape
        guard let position = key.term, let terms = shape.terms, position < terms.count else { return nil }
        let fetch = profile.fetch(key.fetch)
        let advice = FirstRowAdvice(
            shape: shape, term: terms[position], evidence: evidence, fetch: fetch, entity: profile.entity(shape.entity),
            api: StoreCode(profile))
        let occurrences = Double(max(1, evidence.occurrences))
        let time = evidence.typicalTime(fetch)
        let estimate = costs.rows(of: shape)
        let (rows, values) = (Double(evidence.rows), Double(evidence.values))
        // Prefetched rows are looked up by a list of keys.
        let saving = estimate.range(
            usual: CostModel.prefetchedRow + CostModel.listed.value,
            least: CostModel.prefetchedRows.upperBound + CostModel.maximumListed.value,
            most: CostModel.prefetchedRows.lowerBound + CostModel.minimumListed.value
        ) { line, row in
            time - line.cost(trips: occurrences, rows: min(rows, values)) - values * row
        }
        var finding = finding(
            key, evidence, title: advice.title, fix: advice.fix, code: advice.code,
            saving: Saving.Range(saving).limited(to: Double(evidence.time)),
            confidence: min(
                .medium("the cost of maintaining the relationship is unknown"), estimate.confidence(in: saving)),
            what: "first|" + advice.property)
        finding.saving.trips = Int64(clamping: evidence.executions) - Int64(clamping: evidence.occurrences)
        finding.explanation = advice.explanation
        finding.alternatives = advice.alternatives
        weigh(&finding, evidence, trips: profile.totals.readTrips)
        // A trace alone cannot justify more than a warning for a change of the model.
        finding.severity = min(finding.severity, Severity.warning)
        return finding
    }
}
