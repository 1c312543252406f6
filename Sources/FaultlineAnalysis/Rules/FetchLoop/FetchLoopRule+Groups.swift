internal import FaultlineTrace

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
        guard let position = key.term, let terms = key.fetch.shape.terms, position < terms.count else { return nil }
        let (fetch, occurrences) = (profile.fetch(key.fetch), Double(max(1, evidence.occurrences)))
        let values = Double(max(1, evidence.values))
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
        let advice = GroupedFetchAdvice(
            shape: key.fetch.shape, term: terms[position], aggregate: aggregate, evidence: evidence)
        var finding = finding(
            key, evidence, title: advice.title, fix: advice.fix, code: advice.code,
            saving: Saving.Range(saving).limited(to: Double(evidence.time)),
            confidence: estimate.confidence(in: saving), what: "group|" + advice.property)
        finding.saving.trips = Int64(clamping: evidence.executions) - Int64(saturating: trips)
        finding.explanation = advice.explanation
        weigh(&finding, evidence, trips: profile.totals.readTrips)
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
