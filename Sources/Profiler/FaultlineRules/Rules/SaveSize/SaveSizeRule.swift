internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R10: many small saves that one could replace, saves that are too large, and saves that a batch request could
/// replace.
///
/// The detector has already applied the thresholds (ten saves of up to five objects without a pause; 100 ms or 10,000
/// objects; 16 ms of waiting for the lock). The rule weighs the evidence.
struct SaveSizeRule: Rule {
    let id = "R10"
    let name = "Saves"
    let purpose =
        "Consecutive saves of a few objects each, saves that take long or keep others waiting, and objects that are "
        + "fetched only to be deleted or set to the same values."
    let kinds: Set<EventKind> = [.save]

    /// The number of objects to save at once if a job saves in parts.
    static let objectsAtOnce = 500.0
    /// The target time of a part of a large save, in nanoseconds: on the main thread or while it waits, while other
    /// work waits, and otherwise.
    static let mainThreadPart = Threshold(
        "R10", "mainThreadPart", 8_000_000.0, .time, "target time of a part of a save on the main thread")
    static var blockingPart: Double { SaveDetector.longBlock.value }
    static let part = Threshold("R10", "part", 50_000_000.0, .time, "target time of a part of a save on another thread")

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let saves = profile.totals.events[.save] ?? 0
        let requests = batchRequests(profile)
        outcome.findings = requests.findings
        for (key, evidence) in profile.saves {
            // A batch request replaces the save.
            guard !requests.replaces(key, evidence) else { continue }
            if evidence.small.saves > 0 { outcome.findings.append(small(key, evidence, of: saves, costs)) }
            if evidence.large.saves > 0 || evidence.blocking.waits > 0 {
                if let finding = large(key, evidence, costs) { outcome.findings.append(finding) }
            }
        }
        if saves > 0 { outcome.examined = "\(count: saves, "save")" }
        return outcome
    }

    private func small(
        _ key: SaveEvidence.Key, _ evidence: SaveEvidence, of saves: UInt64, _ costs: CostModel
    ) -> Finding {
        let (small, advice) = (evidence.small, SaveSizeAdvice(key: key, evidence: evidence))
        let occurrences = Double(max(1, small.occurrences))
        let objects = Double(small.objects) / occurrences
        let part = advice.isBatchInsert ? nil : Self.jointPart(small, objects: objects, costs)
        let parts = (objects / Double(part ?? Int(Self.objectsAtOnce))).rounded(.up) * occurrences
        let avoided = Double(small.saves) - parts
        // Each save commits once. Its remaining fixed cost is known only if there are saves of different sizes.
        let saving = costs.saves.map { estimate in estimate.range { min($0.trip * avoided, Double(small.time)) } }
        let share = avoided / Double(small.saves)
        let measured = (Double(small.commit) * share, Double(small.commit) * share, Double(small.time) * share)
        var finding = Finding(
            rule: id, ruleName: name, title: advice.smallTitle(part: part), change: key.site,
            severity: Severity.of(Double(small.saves) / occurrences, warning: SaveDetector.smallSaves.value, error: 50),
            fix: advice.smallFix,
            code: advice.smallCode(part: part),
            saving: Saving(time: Saving.Range(saving ?? measured)),
            confidence: saving.flatMap { range in costs.saves?.confidence(in: range) }
                ?? .medium("the cost of a save could not be fitted"),
            signature: advice.signature(id, "small"))
        finding.seenAt = [Finding.Sighting(site: key.site, count: small.saves, time: small.time)]
        finding.scopes = evidence.scopes.names
        finding.explanation = advice.smallExplanation
        finding.evidence = [
            Evidence("saves", small.saves, .count), Evidence("objects", small.objects, .count),
            Evidence("occurrences", small.occurrences, .count), Evidence("wallTime", small.wallTime, .nanoseconds),
        ]
        if small.untimed < small.saves { finding.evidence.append(Evidence("saveTime", small.time, .nanoseconds)) }
        if small.commit > 0 { finding.evidence.append(Evidence("commit", small.commit, .nanoseconds)) }
        finding.claims = [Claim(SaveDetector.self, key, balance: Double(small.time))]
        if !advice.isBatchInsert {
            finding.remedy = .joinSaves(
                entities: evidence.entities.sorted(), saves: small.saves / max(1, small.occurrences),
                objects: small.objects / max(1, small.occurrences))
        }
        finding.weigh(
            isLongEnough: Significance.isMet(
                saving: finding.saving.time.median, wallTime: small.wallTime,
                isMainThread: Significance.isMost(small.mainThreadTime, of: small.time)),
            isLargePart: Significance.isMet(trips: Int64(saturating: avoided), of: saves), of: "saves")
        finding.weigh(lossyOccurrences: small.lossyOccurrences, of: small.occurrences)
        return finding
    }

    /// The number of objects to save at once if one save of all would be large, or `nil` if one save is small enough.
    private static func jointPart(_ small: SaveEvidence.Small, objects: Double, _ costs: CostModel) -> Int? {
        let own = Double(small.time &- min(small.time, small.commit)) / Double(max(1, small.objects))
        let row = min(costs.saves?.line.row ?? own, own)
        let isOnMainThread = Significance.isMost(small.mainThreadTime, of: small.time)
        guard objects * row >= SaveDetector.longSave.value || objects >= SaveDetector.manyObjects.value else {
            return nil
        }
        return part(of: objects, row: row, goal: isOnMainThread ? mainThreadPart.value : part.value)
    }

    /// The size of a save's parts, or `nil` if parts would hardly be smaller than the save.
    private static func part(of objects: Double, row: Double, goal: Double) -> Int? {
        // Parts with too many objects would be reported again.
        let most = min(objects, SaveDetector.manyObjects.value) / 2
        let part = SaveSizeAdvice.round(min(row > 0 ? goal / row : objects, most))
        return Double(part) * 2 <= objects ? part : nil
    }

    /// Returns `nil` if the save is too small to divide.
    private func large(_ key: SaveEvidence.Key, _ evidence: SaveEvidence, _ costs: CostModel) -> Finding? {
        let (large, blocking) = (evidence.large, evidence.blocking)
        let isOnMainThread = Significance.isMost(large.mainThreadSaves, of: large.saves)
        let goal =
            isOnMainThread || blocking.mainThreadWaits > 0
            ? Self.mainThreadPart.value : blocking.waits > 0 ? Self.blockingPart : Self.part.value
        let (longest, mostObjects) = (Double(evidence.longestSave), Double(max(1, evidence.mostObjects)))
        // COMMIT does not count, because each part has one of its own.
        let row = costs.saves?.line.row ?? longest / mostObjects
        guard let part = Self.part(of: mostObjects, row: row, goal: goal) else { return nil }
        // If the cost of an object is unknown, a part of this size takes its share of the longest save.
        let share = longest * Double(part) / mostObjects
        let pause = costs.saves?.range { longest - $0.row * Double(part) } ?? (longest - share, 0, longest)
        let advice = SaveSizeAdvice(key: key, evidence: evidence)
        var finding = Finding(
            rule: id, ruleName: name, title: advice.largeTitle(part: part), change: key.site,
            severity: max(
                Severity.of(Double(large.longest), warning: SaveDetector.longSave.value, error: 500_000_000),
                Severity.of(
                    Double(blocking.longest), warning: SaveDetector.longBlock.value, error: 100_000_000),
                min(
                    Severity.warning,
                    Severity.of(Double(large.mostObjects), warning: SaveDetector.manyObjects.value, error: 100_000))),
            fix: advice.largeFix, code: advice.largeCode(part: part),
            saving: Saving(pause: Saving.Range(pause)),
            confidence: costs.saves == nil
                ? .low("the cost of a save could not be fitted")
                : .medium("the pause depends on where the work can be split"), signature: advice.signature(id, "large"))
        if large.saves > 0 {
            finding.seenAt = [Finding.Sighting(site: key.site, count: large.saves, time: large.time)]
        }
        finding.scopes = evidence.scopes.names
        finding.explanation = advice.largeExplanation
        finding.evidence = [
            Evidence("largeSaves", large.saves, .count), Evidence("objects", large.objects, .count),
            Evidence("mostObjects", evidence.mostObjects, .count), Evidence("saveTime", large.time, .nanoseconds),
            Evidence("longest", evidence.longestSave, .nanoseconds), Evidence("part", UInt64(part), .count),
            Evidence("waits", blocking.waits, .count), Evidence("waitTime", blocking.time, .nanoseconds),
            Evidence("longestWait", blocking.longest, .nanoseconds),
        ]
        if !isOnMainThread, blocking.waits == 0 {
            finding.downgrade("It ran off the main thread, where it delays only other writers.")
        }
        finding.weigh(
            lossyOccurrences: large.lossySaves &+ blocking.lossyWaits, of: large.saves &+ blocking.waits)
        return finding
    }
}

extension SaveSizeRule {
    var needs: Set<TraceGap.Kind> { [.operations] }

    var thresholds: [Threshold] {
        [
            SaveDetector.smallSaves, SaveDetector.smallSave, SaveDetector.pause,
            SaveDetector.longSave, SaveDetector.manyObjects, SaveDetector.longBlock, Self.mainThreadPart,
            Self.part, ResultDemand.minimumWritten,
        ]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R10 reports at least \(SaveDetector.smallSaves.count) saves, or batch requests that insert rows, from one line "
                + "with at most \(SaveDetector.smallSave.count) objects each, on one thread, in one scope, less than "
                + "\(SaveDetector.pause.text) apart; or a save of at least \(SaveDetector.longSave.text) or "
                + "\(Phrase.count(SaveDetector.manyObjects.count)) objects; or a save of at least "
                + "\(SaveDetector.dividedSave) objects whose lock blocks a waiter for at least "
                + "\(SaveDetector.longBlock.text); or results of at least \(ResultDemand.minimumWritten.text) objects "
                + "that were all deleted, or all set to the same values, without the program having read any of them.",
            evidence:
                "The finding gives the saves, the objects, the time, the part spent in COMMIT, the largest save, and "
                + "the waits for the lock; also the fetch that the objects of a save came from, and whether the "
                + "program read any of their values.",
            fix:
                "Save once after all changes; split a save that is or would be large into parts. To delete or update rows without "
                + "realizing objects, use BatchDeleteRequest or BatchUpdateRequest.",
            saving:
                "Each avoided save saves the fixed cost of a save, fitted from saves of different sizes, or else the "
                + "measured COMMIT times. For a large save, the saving is the reduction in the longest pause. For a "
                + "batch request, it is two thirds of the time that fetching and saving the objects took, and the "
                + "commits that it avoids.",
            guards: [
                "Saves that ran no statement are ignored, such as those of child contexts, which only change their parents.",
                "Saves of separate user actions, with pauses between them, are not merged.",
                "For a large save, the time that it waits and its COMMIT do not count: R13 reports the waits, and each "
                    + "part of a split save would have a COMMIT as well.",
                "Other batch requests are ignored, because they have no changes to save together or in parts.",
                "R10 does not advise splitting a save into fewer than two full parts.",
                "The finding about a large save off the main thread is a note if nothing waited for the save.",
                "A batch request is advised only where no class of the saved objects overrides willSave, didSave, "
                    + "prepareForDeletion or a validating method, the context has no undo manager, the fetch did not have to "
                    + "compare unsaved changes, and the save met no conflict.",
                "The time of a commit depends on the disk, so tests should count saves.",
            ])
    }
}
