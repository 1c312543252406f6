internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R33: reads that stay open while the write-ahead log grows.
struct OpenReadRule: Rule {
    let id = "R33"
    let name = "Long reads"
    let purpose = "Reads that stay open, so that the write-ahead log grows."
    let kinds: Set<EventKind> = [.sql]

    /// The minimum growth of a finding, in bytes.
    static let growth = Threshold(
        "R33", "logGrowth", 4_194_304, .size, "minimum growth of the log beyond the size of a checkpoint")

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let statements = profile.totals.events[.sql] ?? 0
        if statements > 0, profile.allProcesses.lacks(.operations) {
            outcome.examined = "\(count: statements, "statement")"
        }
        outcome.findings = profile.openReads.filter { $0.evidence.growth >= Self.growth.count }
            .map { finding($0.key, $0.evidence) }
        return outcome
    }

    private func finding(_ key: StatementSite, _ evidence: OpenReadEvidence) -> Finding {
        let summary = StatementText(key.sql).summary
        let isTransaction = Significance.isMost(evidence.transactions, of: evidence.reads)
        let isPython = StatementLibrary(names: evidence.libraries) == .python
        var finding = Finding(
            rule: id, ruleName: name,
            title: isTransaction
                ? "End the transaction that reads, so that the write-ahead log can be reset"
                : "End the read of \(code: Phrase.shortened(summary, to: 60)), so that the write-ahead log can be reset",
            change: key.site,
            severity: min(
                Severity.warning,
                Severity.of(Double(evidence.growth), warning: Self.growth.value, error: 16 * Self.growth.value)),
            fix: isTransaction
                ? "Commit as soon as the rows are read."
                : "Read the result to its end, or close it.",
            code: isTransaction || !isPython ? [] : ["rows = cursor.fetchall()"],
            saving: Saving(),
            confidence: .medium("reads of other processes are not known, nor PRAGMA wal_autocheckpoint"),
            signature: [id, summary, key.site?.function ?? ""].joined(separator: "|"))
        finding.codeLanguage = "python"
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.reads, time: evidence.longest)]
        finding.subjects = [.statement(key.sql)]
        finding.scopes = evidence.scopes.names
        let subject: Wording = isTransaction ? "A transaction with" : "The result of"
        finding.explanation = [
            "\(subject) \(code: Phrase.shortened(summary, to: 90)) was open for \(duration: evidence.longest). Meanwhile the log "
                + "grew to \(size: evidence.log).",
            "SQLite moves the log into the database after 1,000 pages, and then writes from its start again. As long as a "
                + "read is open, it must append to it instead, and each read looks through a longer log.",
        ]
        finding.evidence = [
            Evidence("reads", evidence.reads, .count), Evidence("longest", evidence.longest, .nanoseconds),
            Evidence("logGrowth", evidence.growth, .bytes), Evidence("log", evidence.log, .bytes),
            Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        if let reservation = key.reservation { finding.reservations.append(reservation) }
        return finding
    }
}

extension OpenReadRule {
    var needs: Set<TraceGap.Kind> { [.statements] }

    var thresholds: [Threshold] { [Self.growth] }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R33 reports transactions that read, and statements that stay open for at least a millisecond, while "
                + "commits of the same process let a write-ahead log grow: by at least "
                + "\(Phrase.size(Self.growth.value)) beyond the size at which SQLite moves it into the database.",
            evidence:
                "The finding gives the longest time for which the read was open, and the growth of the log in that "
                + "time.",
            fix:
                "Read results to their end or close them, and commit transactions that only read. If a read has to stay open "
                + "for long, read in parts.",
            saving:
                "R33 predicts no saving: the log takes space on the disk, and reads that look through it take longer.",
            guards: [
                "A single large transaction makes the log long by itself. R33 counts only the growth of later commits.",
                "Reads of other processes are not known. With a larger PRAGMA wal_autocheckpoint, the log is meant to grow.",
            ])
    }
}
