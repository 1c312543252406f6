internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R32: a mapping model creates all objects anew although the same migration can be inferred, which SQL does in place.
struct NeedlessMappingRule: Rule {
    let id = "R32"
    let name = "Needless mapping model"
    let purpose = "Migrations that recreate every object although SQL could do the same."
    let kinds: Set<EventKind> = [.migration]

    static let waste = Threshold("R32", "wastedTime", 50_000_000, .time, "minimum time that SQL would save")
    static let longWaste = Threshold("R32", "errorWaste", 5_000_000_000.0, .time, "minimum such time that is an error")

    var thresholds: [Threshold] { [Self.waste, Self.longWaste] }

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let mapped = profile.migrations.filter { key, _ in
            key.way == .objects && (key.stage == .whole || key.stage == .step)
        }
        outcome.findings = mapped.filter {
            $0.evidence.timeInSQL > 0
                && $0.evidence.inferableTime >= $0.evidence.timeInSQL + Self.waste.count
        }.map { finding($0.key, $0.evidence) }
        if !mapped.isEmpty {
            outcome.examined = "\(count: mapped.reduce(0) { $0 &+ $1.evidence.count }, "migration") object by object"
        }
        return outcome
    }

    private func finding(_ key: MigrationEvidence.Key, _ evidence: MigrationEvidence) -> Finding {
        let saved = Double(evidence.inferableTime - evidence.timeInSQL)
        var finding = Finding(
            rule: id, ruleName: name, title: "Let the migration be inferred instead of using a mapping model",
            change: key.site, severity: Severity.of(saved, warning: Self.waste.value, error: Self.longWaste.value),
            fix:
                "Leave the mapping model and the migration manager out: the container migrates the store when it opens it. A "
                + "mapping model in the description's mappingModels is run in SQL too, as long as it only copies.",
            code: [
                "var description = PersistentStoreDescription(url: url)",
                "description.shouldInferMappingModelAutomatically = true  // the default",
            ], saving: Saving(),
            confidence: .medium("the time in SQL was estimated from copying some of the store's rows"),
            signature: [id, key.site?.function ?? ""].joined(separator: "|"))
        finding.saving.time = Saving.Range(median: saved, low: saved * 0.8, high: saved)
        finding.remedy = .inferMigrations(count: evidence.count, storeBytes: evidence.bytes)
        finding.claims = [Claim(MigrationDetector.self, key, balance: Double(evidence.inferableTime))]
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.count, time: evidence.time)]
        finding.explanation = [
            "A migration manager recreated every object of \(code: Phrase.fileName(key.name)), in "
                + "\(duration: evidence.inferableTime). Its mapping model only does what can be inferred from names and renaming "
                + "identifiers. SQL would do the same in place in about \(duration: evidence.timeInSQL), estimated by copying "
                + "some of the rows."
        ]
        finding.evidence = [
            Evidence("migrations", evidence.count, .count), Evidence("time", evidence.inferableTime, .nanoseconds),
            Evidence("timeInSQL", evidence.timeInSQL, .nanoseconds), Evidence("storeSize", evidence.bytes, .bytes),
        ]
        return finding
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R32 reports a migration manager that ran a mapping model without policies, expressions and selections "
                + "of its own, if the model maps the same entities and properties as an inferred one, and if SQL would "
                + "have been faster by at least \(Self.waste.text); at least \(Self.longWaste.text) is an error.",
            evidence:
                "The finding gives the migration's time, and the time in SQL, which is estimated while recording by "
                + "copying up to 20,000 rows.",
            fix: "Leave the mapping model out, or give it to the container, which runs it in SQL.",
            saving:
                "The saving is the migration's time minus the estimated time in SQL. Both are measured by verify, on "
                + "copies of a store that has not been migrated, if --model names the newer version.",
            guards: [
                "R32 ignores mapping models with policies, key paths, functions, constants or predicates, and those that leave "
                    + "out what an inferred migration keeps.",
                "A store that is migrated by its container needs no advice: it runs such mapping models in SQL by itself.",
            ])
    }
}
