internal import FaultlineTrace

/// The findings about statements of programs without an object store.
extension PreparationRule {
    func finding(forStatement group: EventGroup, _ profile: Profile) -> Finding? {
        // A library's BEGIN and COMMIT are not in the program's hands.
        guard group.key.kind == .sql, [.read, .write].contains(group.key.statementType),
            case .statement(let sql) = group.key.subject
        else { return nil }
        let preparations = group.counts.preparations, preparing = group.counts.prepare
        let both = Double(preparing) + Double(group.totalTime)
        // A process cannot keep the statements of another.
        guard group.count > UInt64(profile.processes.count), preparations >= Self.minimumPreparations.count,
            2 * preparations >= group.count, preparing > 0,
            Double(preparing) >= Self.minimumShare.value * both
        else { return nil }
        let text = StatementText(sql)
        let saved = Double(preparing) * (1 - 1 / Double(preparations))
        var finding = Finding(
            rule: id, ruleName: name, title: "Keep this statement prepared, and bind other values to it",
            change: group.key.site,
            score: Score.of(Double(preparations), info: Self.minimumPreparations.value, warning: 1000),
            fix:
                "Reset it after each run instead of finalizing it. A library that keeps statements finds it again if its text is "
                + "the same, so pass values as parameters and not in the text. If a library opens a connection for each "
                + "transaction, let it keep connections in a pool.",
            saving: Saving(time: .init(median: saved, low: saved / 2, high: saved)),
            confidence: .medium("some of the preparations may remain"),
            signature: [id, text.summary, group.key.site?.function ?? ""].joined(separator: "|"))
        finding.seenAt = [Finding.Sighting(site: group.key.site, count: group.count, time: group.totalTime)]
        finding.explanation = [
            "\(count: preparations, "preparation") for \(count: group.count, "run") of "
                + "\(code: Phrase.shortened(text.summary, to: 90)) took \(duration: preparing), and the runs "
                + "\(duration: group.totalTime)."
        ]
        finding.evidence = [
            Evidence("executions", group.count, .count), Evidence("preparations", preparations, .count),
            Evidence("prepareTime", preparing, .nanoseconds), Evidence("time", group.totalTime, .nanoseconds),
        ]
        finding.claims = [
            Claim(
                account: .preparing(StatementSite(sql: sql, site: group.key.site)), balance: Double(preparing))
        ]
        finding.remedy = .statement(
            StatementChange(
                sql: sql, executions: group.count, rows: group.counts.rows, time: preparing &+ group.totalTime,
                kind: .prepared))
        finding.weigh(
            isLongEnough: Significance.isMet(saving: saved, wallTime: profile.wallTime, isMainThread: false),
            isLargePart: false, of: "preparations")
        return finding
    }
}
