internal import FaultlineTrace

/// The findings about statements of programs without an object store.
extension PreparationRule {
    func finding(for statement: StatementSite, _ times: PreparationEvidence, _ profile: Profile) -> Finding? {
        let preparations = times.preparations
        // A process cannot keep the statements of another.
        guard times.executions > UInt64(profile.processes.count), preparations >= Self.minimumPreparations.count,
            2 * preparations >= times.executions, times.share >= Self.minimumShare.value
        else { return nil }
        let text = StatementText(statement.sql)
        let saved = times.typicalPrepareTime * (1 - 1 / Double(preparations))
        var finding = Finding(
            rule: id, ruleName: name, title: "Keep this statement prepared, and bind other values to it",
            change: statement.site,
            score: Score.of(Double(preparations), info: Self.minimumPreparations.value, warning: 1000),
            fix:
                "Reset it after each run instead of finalizing it. A library that keeps statements finds it again if its text is "
                + "the same, so pass values as parameters and not in the text. If a library opens a connection for each "
                + "transaction, let it keep connections in a pool.",
            saving: Saving(time: .init(median: saved, low: saved / 2, high: saved)),
            confidence: .medium("some of the preparations may remain"),
            signature: [id, text.summary, statement.site?.function ?? ""].joined(separator: "|"))
        finding.seenAt = [Finding.Sighting(site: statement.site, count: times.executions, time: times.time)]
        finding.subjects = [.statement(statement.sql)]
        finding.explanation = [
            "\(count: preparations, "preparation") for \(count: times.executions, "run") of "
                + "\(code: Phrase.shortened(text.summary, to: 90)) took \(duration: times.prepareTime), and the runs "
                + "\(duration: times.time)."
        ]
        finding.evidence = [
            Evidence("executions", times.executions, .count), Evidence("preparations", preparations, .count),
            Evidence("prepareTime", times.prepareTime, .nanoseconds), Evidence("time", times.time, .nanoseconds),
        ]
        finding.claims = [Claim(account: .preparing(statement), balance: Double(times.prepareTime))]
        finding.remedy = .statement(
            StatementChange(
                sql: statement.sql, executions: times.executions, rows: times.rows,
                time: times.prepareTime &+ times.time, kind: .prepared))
        finding.weigh(
            isLongEnough: Significance.isMet(saving: saved, wallTime: profile.wallTime, isMainThread: false),
            isLargePart: false, of: "preparations")
        return finding
    }
}
