internal import FaultlineTrace

/// The first row of each value in an order, such as the newest message of each channel, fetched value by value.
extension FetchLoopRule {
    func firstRows(
        _ key: LoopEvidence.Key, _ evidence: LoopEvidence, _ profile: Profile, _ costs: CostModel
    ) -> Finding? {
        let shape = key.fetch.shape
        guard let position = key.term, let terms = shape.terms, position < terms.count else { return nil }
        let fetch = profile.fetch(key.fetch)
        let advice = FirstRowAdvice(
            shape: shape, term: terms[position], evidence: evidence, fetch: fetch, entity: profile.entity(shape.entity))
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
        finding.score = min(finding.score, Score.highestWarning)
        return finding
    }
}
