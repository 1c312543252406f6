internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R31: a store is migrated on the main thread, so the program shows nothing until it is done.
struct MigrationOnMainThreadRule: Rule {
    let id = "R31"
    let name = "Migration on the main thread"
    let purpose = "Launches that wait for the migration of a store."
    let kinds: Set<EventKind> = [.migration]
    var needs: Set<TraceGap.Kind> { [.threads] }

    static let pause = Threshold(
        "R31", "launchPause", 100_000_000, .time, "minimum time of a migration on a main thread")
    static let longPause = Threshold("R31", "errorPause", 1_000_000_000.0, .time, "minimum such time that is an error")

    var thresholds: [Threshold] { [Self.pause, Self.longPause] }

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let wholes = profile.wholeMigrations
        let hasScreens = profile.scopes.contains { $0.key.kind == .screen }
        outcome.findings = wholes.filter {
            (hasScreens || $0.evidence.appMigrations > 0)
                && $0.evidence.longestOnMainThread >= Self.pause.count
        }.map { finding($0.key, $0.evidence) }
        if !wholes.isEmpty {
            outcome.examined = "\(count: wholes.reduce(0) { $0 &+ $1.evidence.count }, "migration")"
        }
        return outcome
    }

    private func finding(_ key: MigrationEvidence.Key, _ evidence: MigrationEvidence) -> Finding {
        let longest = Double(evidence.longestOnMainThread)
        var finding = Finding(
            rule: id, ruleName: name, title: "Open the store on a background thread, because opening migrates it",
            change: key.site,
            severity: Severity.of(longest, warning: Self.pause.value, error: Self.longPause.value),
            fix:
                "Create the container in a task of its own and show a progress view meanwhile; the main context is available "
                + "when it is done.",
            code: [
                "let container = try await Task.detached {",
                "    try PersistentContainer(name: \"Model\", managedObjectModel: model, storeDescription: description)",
                "}.value",
            ], saving: Saving(), confidence: .high,
            signature: [id, key.site?.function ?? ""].joined(separator: "|"))
        // The migration takes as long as before, but nobody waits for it.
        finding.saving.pause = Saving.Range(median: longest, low: longest, high: longest)
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.count, time: evidence.time)]
        finding.explanation = [
            "Migrating \(code: Phrase.fileName(key.name)) kept the main thread from drawing for \(duration: longest). A system "
                + "that limits the time of a launch may end the program in the meantime; the store then stays as it was, and "
                + "the next launch starts over."
        ]
        finding.evidence = [
            Evidence("migrations", evidence.count, .count), Evidence("time", evidence.time, .nanoseconds),
            Evidence("longest", evidence.longestOnMainThread, .nanoseconds),
            Evidence("storeSize", evidence.bytes, .bytes),
        ]
        return finding
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R31 reports a migration that took at least \(Self.pause.text) on the main thread of a program with "
                + "screens; at least \(Self.longPause.text) is an error.",
            evidence: "The finding gives the migrations, their times, and the size of the store's file.",
            fix: "Open the store on a background thread, and show that the program is busy.",
            saving:
                "The saving is the whole migration, as a pause: it takes as long as before, but nobody waits for it.",
            guards: [
                "Programs without screens may migrate on their main thread. R31 recognizes screens by scopes of kind screen, or "
                    + "because the trace is an export of Instruments, which records apps.",
                "A migration happens once for each store. A short trace of one launch is enough to see it.",
            ])
    }
}
