internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R25: objects that keep large values after the work that needed them is done.
struct HeldObjectRule: Rule {
    let id = "R25"
    let name = "Objects held too long"
    let purpose = "Large objects that stay realized after the scope that used them has closed."
    let kinds: Set<EventKind> = [.fetch, .fault, .release]

    /// The minimum number of objects that are held at once.
    ///
    /// A single last object may be kept briefly.
    static let minimumObjects = Threshold(
        "R25", "minimumObjects", 3, .count, "minimum large objects that stayed in memory")
    /// The minimum share of a line's objects that stay realized, or of those the share that does so at once.
    static let minimumShare = Threshold(
        "R25", "minimumShare", 0.5, .share,
        "minimum share of the large objects that stayed, or of those held at the same time")

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let objects = profile.holds.reduce(0) { $0 &+ $1.evidence.objects }
        if objects > 0 { outcome.examined = "\(count: objects, "large object")" }
        outcome.findings = profile.holds.compactMap { finding($0.key, $0.evidence, profile) }
        return outcome
    }

    private func finding(_ key: HoldEvidence.Key, _ evidence: HoldEvidence, _ profile: Profile) -> Finding? {
        guard evidence.most >= Self.minimumObjects.count,
            Double(evidence.kept) >= Self.minimumShare.value * Double(evidence.objects)
                || Double(evidence.most) >= Self.minimumShare.value * Double(evidence.kept)
        else { return nil }
        let scopes = evidence.scopes.names
        let scope: Wording = scopes.first.map { "the scope \(scope: $0)" } ?? "its scope"
        var finding = Finding(
            rule: id, ruleName: name, title: "Turn \(entity: key.entity) objects back into faults when \(scope) closes",
            change: key.site, severity: Severity.of(Double(evidence.maximumBytes), warning: 32_768, error: 16_777_216),
            fix:
                "Keep the object's ID, and refresh the object to a fault or release it. Its values are read again when they "
                + "are needed.",
            code: ["context.refresh(object, mergeChanges: false)"],
            saving: Saving(), confidence: .high,
            signature: [id, key.entity, key.site?.function ?? ""].joined(separator: "|"))
        finding.saving.memory = Int64(clamping: evidence.maximumBytes)
        finding.scopes = scopes
        let never: Wording =
            evidence.neverReleased > 0
            ? " \(count: evidence.neverReleased) were still held at the end." : ""
        finding.explanation = [
            "\(count: evidence.kept) of \(count: evidence.objects, "object") that were loaded at this line stayed realized after \(scope) "
                + "closed: at most \(count: evidence.most) at once, "
                + "\(size: evidence.maximumBytes).\(never)"
        ]
        if let openings = evidence.openings.mostFrequent {
            let subject = scopes.count == 1 ? "The scope is" : "The scopes are"
            finding.explanation.append("\(subject) opened at \(openings).")
        }
        finding.evidence = [
            Evidence("objects", evidence.objects, .count), Evidence("kept", evidence.kept, .count),
            Evidence("most", evidence.most, .count), Evidence("mostBytes", evidence.maximumBytes, .bytes),
            Evidence("neverReleased", evidence.neverReleased, .count),
        ]
        return finding
    }
}

extension HeldObjectRule {
    var needs: Set<TraceGap.Kind> { [.use] }

    var thresholds: [Threshold] {
        [Self.minimumObjects, Self.minimumShare]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R25 reports objects of at least \(Phrase.size(Double(TraceEvent.Release.minimumBytes))) whose values "
                + "were loaded within a scope and stayed in memory after it ended: at least "
                + "\(Phrase.count(HeldObjectRule.minimumObjects.count)) at once. In addition, at least half of all "
                + "objects from that line must have stayed, or at least half of those that stayed must have been held "
                + "at the same time.",
            evidence: "The finding gives these objects, the largest number held at once, and their bytes.",
            fix: "Refresh the objects to faults, or release them, once the screen or the job is done.",
            saving: "The saving is the memory of the objects kept at once.",
            guards: [
                "Outside of scopes, the end of the work is unknown.",
                "R25 ignores an object that was released or turned back into a fault within its scope, however large it is.",
                "Rows of a result that the program still uses are held by the result: for a batched result, the rows "
                    + "of the last \(TraceEvent.Batch.retained) batches; otherwise all rows.",
                "An object that is read again in a later scope, without being released in between, looks the same as one that was forgotten.",
            ])
    }
}
