internal import FaultlineTrace

/// Objects that are looked up by their IDs, with a trip to the store for each.
extension FetchLoopRule {
    func lookUp(
        _ key: LookUpEvidence.Key, _ evidence: LookUpEvidence, _ profile: Profile, _ costs: CostModel
    ) -> Finding {
        let occurrences = Double(max(1, evidence.occurrences))
        let objects = Double(evidence.objects)
        let trips = (objects / occurrences / Self.valuesAtOnce).rounded(.up) * occurrences
        let (time, estimate) = (evidence.speeds.typicalTime, costs.store)
        let saving = estimate.range(
            usual: CostModel.listed.value, least: CostModel.maximumListed.value, most: CostModel.minimumListed.value
        ) { line, value in
            time - line.cost(trips: trips, rows: objects) - objects * value
        }
        var finding = Finding(
            rule: id, ruleName: name, title: "Fetch the objects of \(entity: key.entity) at once by their IDs, with IN",
            change: key.site,
            score: min(
                Score.highestWarning,
                Score.of(
                    Double(evidence.trips) / occurrences, info: LoopDetector.threshold.value, warning: 250)),
            fix:
                "Before the objects are read, fetch them by their IDs. This fetch also fills the objects that "
                + "\(code: "object(with:)") has already returned.",
            code: [
                "var request = FetchRequest<\(key.entity)>(predicate: .isIn(\"self\", objects: ids))",
                "request.returnsObjectsAsFaults = false", "let found = try context.fetch(request)",
            ],
            saving: Saving(time: Saving.Range(saving).limited(to: Double(evidence.time))),
            confidence: min(.medium("the cost of a look-up is an average"), estimate.confidence(in: saving)),
            signature: [id, "self", key.entity, key.site?.function ?? ""].joined(separator: "|"))
        finding.saving.trips = Int64(clamping: evidence.trips) - Int64(saturating: trips)
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.trips, time: evidence.time)]
        finding.scopes = evidence.scopes.names
        let occasions: Wording = evidence.occurrences > 1 ? " on \(count: evidence.occurrences) occasions" : ""
        let found = DistinctCount.words(evidence.objects, over: evidence.occurrences, "object")
        finding.explanation = [
            "\(entity: key.entity) objects were loaded one by one: \(trips: evidence.trips) for \(found)\(occasions), "
                + "\(duration: evidence.time) in all. No fetch had loaded them: they were looked up by their IDs, with "
                + "\(code: "object(with:)") or \(code: "existingObject(with:)")."
        ]
        finding.evidence = [
            Evidence("trips", evidence.trips, .trips), Evidence("objects", evidence.objects, .count),
            Evidence("occurrences", evidence.occurrences, .count),
            Evidence("faultTime", evidence.time, .nanoseconds), Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        finding.claims = [Claim(LookUpDetector.self, key, balance: Double(evidence.time))]
        finding.weigh(
            isLongEnough: Significance.isMet(
                saving: finding.saving.time.median, wallTime: evidence.wallTime,
                isMainThread: Significance.isMost(evidence.mainThreadTime, of: evidence.time)),
            isLargePart: saving.low > 0
                && Significance.isMet(trips: finding.saving.trips, of: profile.totals.readTrips), of: "trips")
        if finding.saving.time.median <= 0 {
            finding.downgrade("The trips are so quick here that one fetch would save nothing measurable.")
        }
        finding.weigh(lossyOccurrences: evidence.lossyOccurrences, of: evidence.occurrences)
        return finding
    }
}
