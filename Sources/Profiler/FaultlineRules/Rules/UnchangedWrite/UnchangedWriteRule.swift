internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R23: objects that are saved although none of their values changed.
struct UnchangedWriteRule: Rule {
    let id = "R23"
    let name = "Unneeded writes"
    let purpose = "Objects that were set to the values they already had."
    let kinds: Set<EventKind> = [.save]

    /// The minimum number of objects of one line that is reported.
    static let minimumObjects = Threshold(
        "R23", "minimumObjects", 10, .count, "minimum objects that were saved unchanged")

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let saves = profile.groups.filter { $0.key.kind == .save }
        let examined = saves.reduce(0) { $0 &+ $1.count }
        if examined > 0 { outcome.examined = "\(count: examined, "save")" }
        let objects = saves.reduce(0) { $0 &+ $1.counts.unchanged &+ $1.counts.rows }
        outcome.findings = saves.compactMap { finding(for: $0, objects: objects, profile) }
        return outcome
    }

    /// - Parameter objects: The number of objects of all saves, changed or not.
    private func finding(for group: EventGroup, objects: UInt64, _ profile: Profile) -> Finding? {
        let counts = group.counts
        // At least half of the objects to update were unchanged.
        guard counts.unchanged >= Self.minimumObjects.count, counts.unchanged >= counts.updated else { return nil }
        let isEmpty = counts.rows == 0
        let all = counts.unchanged &+ counts.rows
        let saved = isEmpty ? Double(group.totalTime) : 0
        var finding = Finding(
            rule: id, ruleName: name, title: "Set values only where they differ from the current values",
            change: group.key.site,
            severity: Severity.of(Double(counts.unchanged), warning: Self.minimumObjects.value, error: 10_000),
            fix:
                "Setting an attribute to the value it already has marks the object as changed: it is validated and "
                + "compared, its context has changes, and a save takes the write lock.",
            code: ["if object.value != value { object.value = value }"],
            saving: Saving(time: .init(median: saved, low: saved / 2, high: saved)),
            confidence: isEmpty
                ? .medium("the program may need the save for other reasons")
                : .low("the time of comparing the unchanged objects was not measured"),
            signature: [id, group.key.site?.function ?? ""].joined(separator: "|"))
        finding.explanation = [
            "\(count: group.count, "save") of \(count: all, "object"), of which "
                + "\(count: counts.unchanged) had been set to the values in the store"
                + (isEmpty ? ": nothing had to be written." : ".")
        ]
        finding.evidence = [
            Evidence("saves", group.count, .count), Evidence("unchanged", counts.unchanged, .count),
            Evidence("updated", counts.updated, .rows), Evidence("written", counts.rows, .rows),
            Evidence("saveTime", group.totalTime, .nanoseconds),
        ]
        if isEmpty {
            finding.weigh(
                isLongEnough: Significance.isMet(
                    saving: saved, wallTime: profile.allProcesses.wallTime,
                    isMainThread: Significance.isMost(group.mainThreadTime, of: group.totalTime)),
                isLargePart: Significance.isMet(rows: Int64(clamping: counts.unchanged), of: objects),
                of: "objects that are saved")
            finding.claims = [Claim(SaveDetector.self, .init(site: group.key.site, entities: []), balance: saved)]
        } else {
            finding.downgrade("The other objects had to be saved, and comparing the unchanged ones takes little time.")
        }
        return finding
    }
}

extension UnchangedWriteRule {
    var needs: Set<TraceGap.Kind> { [.changes] }

    var thresholds: [Threshold] {
        [Self.minimumObjects]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R23 reports at least \(Phrase.count(UnchangedWriteRule.minimumObjects.count)) objects, saved from one "
                + "line, that were set to values that the store already had, and at least as many as were updated.",
            evidence:
                "The finding gives the saves, the objects that need not have been set, the rows that were written, and "
                + "the time of the saves.",
            fix: "Compare the values before the assignment.",
            saving: "If nothing had to be written, the saving is the time of the saves; otherwise there is none.",
            guards: [
                "Saves that wrote something else are a note: the store compared the unchanged objects and left them "
                    + "out.",
                "The finding is a note if the saves took less than 1 % of the time, less than 2 ms (1 ms on the main thread), and the "
                    + "objects are less than a fifth of all that are saved.",
                "R23 ignores scopes of kind setup, which are preparation.",
                "Traces of other recorders do not show unchanged objects.",
            ])
    }
}
