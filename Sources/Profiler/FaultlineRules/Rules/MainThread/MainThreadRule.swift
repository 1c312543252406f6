internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R12: the main thread is in the store for longer than a frame.
///
/// Another rule may have better advice for the same line, so this one gives way.
struct MainThreadRule: Rule {
    let id = "R12"
    let name = "Main thread"
    let purpose = "Screens that cannot be drawn because the main thread is in the store."
    let kinds: Set<EventKind> = [.fetch, .batch, .fault, .save, .wait]

    /// The minimum busy interval that is an error, in nanoseconds.
    static let longBlock = Threshold(
        "R12", "errorBlock", 100_000_000.0, .time, "minimum such time that makes it an error")

    var givesWay: Bool { true }

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        outcome.findings = profile.blocks.map { finding($0.key, $0.evidence) }
        let time = profile.totals.mainThreadStoreTime
        let isDrawn = !profile.blocks.isEmpty || profile.scopes.contains { $0.key.kind == .screen }
        if time > 0, isDrawn { outcome.examined = "\(duration: time)" }
        return outcome
    }

    private func finding(_ key: BlockEvidence.Key, _ evidence: BlockEvidence) -> Finding {
        let position: Wording = key.site.map { " at \(site: $0)" } ?? ""
        var finding = Finding(
            rule: id, ruleName: name, title: Self.title(key.kind), change: key.site,
            severity: Severity.of(
                Double(evidence.longest), warning: BlockDetector.threshold.value,
                error: Self.longBlock.value),
            fix: Self.fix(key.kind), code: Self.code(key.kind), saving: Saving(),
            confidence: .medium("some of the work may have to stay on the main thread"),
            signature: [id, key.kind.name, key.site?.function ?? ""].joined(separator: "|"))
        // Work moved to another thread takes as long as before, but the screen does not wait for it.
        let longest = Double(evidence.longest)
        let part = Double(evidence.longestParts) / Double(max(1, evidence.time))
        finding.saving.pause = Saving.Range(median: longest * part, low: longest * part / 2, high: longest)
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.stretches, time: evidence.time)]
        finding.scopes = evidence.scopes.names
        finding.explanation = [
            "The main thread was in the store for "
                + (evidence.stretches == 1
                    ? "\(duration: evidence.longest)"
                    : "up to \(duration: evidence.longest), \(count: evidence.stretches) times, "
                        + "\(duration: evidence.time) in all")
                + "; a frame lasts 16 ms. The \(key.kind.name)\(position) took \(percent: part) of this time."
        ]
        finding.evidence = [
            Evidence("stretches", evidence.stretches, .count), Evidence("events", evidence.events, .count),
            Evidence("blockedTime", evidence.time, .nanoseconds), Evidence("longest", evidence.longest, .nanoseconds),
            Evidence("longestParts", evidence.longestParts, .nanoseconds),
            Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        finding.weigh(lossyOccurrences: evidence.lossyStretches, of: evidence.stretches)
        return finding
    }

    private static func title(_ kind: EventKind) -> Wording {
        switch kind {
        case .save: "Save on a background context, not on the main thread"
        case .fault: "Load what the screen shows before it is drawn, not one object at a time"
        default: "Fetch on a background context, or less at a time"
        }
    }

    private static func fix(_ kind: EventKind) -> Wording {
        switch kind {
        case .save:
            "Move the changes to a background context, whose save the screen's context merges, or save in smaller parts."
        case .fault:
            "Prefetch the objects that the rows refer to, or fetch them on a background context and hand "
                + "over object IDs."
        default:
            "Fetch on a background context and hand over object IDs, or set a batch size or a limit that fits the screen."
        }
    }

    private static func code(_ kind: EventKind) -> [String] {
        guard kind != .fault else { return [] }
        return ["let context = container.newBackgroundContext()", "try await context.perform { … }"]
    }
}

extension MainThreadRule {
    var needs: Set<TraceGap.Kind> { [.threads] }

    var thresholds: [Threshold] {
        [BlockDetector.threshold, Self.longBlock]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R12 reports at least \(BlockDetector.threshold.text) in the store on the main thread, without a pause "
                + "of \(BusyInterval.pause / 1_000_000) ms, in scopes of kind screen; at least \(Self.longBlock.text) "
                + "is an error. Time in which the thread waited for a CPU does not count.",
            evidence:
                "The finding gives the busy intervals, their total and longest time, and the line that took most of it.",
            fix:
                "Fetch on a background context and hand over object IDs; or set a batch size, a limit or a prefetch, "
                + "so the wait is shorter.",
            saving:
                "The saving is the part of the longest busy interval that can be moved. The work takes as long as "
                + "before, so the saving counts as a pause.",
            guards: [
                "The work of a main context counts, whatever thread does it: where `main` is asynchronous, the main queue has "
                    + "no thread of its own.",
                "Programs without screens may work in the store on their main thread. R12 recognizes screens by "
                    + "scopes of kind screen, or because the trace is an export of Instruments, which records apps.",
                "If another rule has advice for the line, R12 reports nothing, because that advice goes further.",
                "Waits for a lock or a queue belong to R13, and migrations to R31.",
                "The finding is a note if events were lost in at least half of the busy intervals.",
            ])
    }
}
