internal import FaultlineTrace

/// The findings about statements of programs without an object store.
extension UnboundedFetchRule {
    func statements(_ profile: Profile) -> [Finding] {
        profile.offsets.compactMap { finding($0.key, $0.evidence) }
    }

    /// Pages that SQLite finds by stepping over all rows before them.
    private func finding(_ key: StatementSite, _ evidence: OffsetEvidence) -> Finding? {
        let skipped = evidence.skippedRows, mean = skipped / Double(max(1, evidence.executions))
        guard mean >= Self.minimumOffset.value, skipped >= Self.offsetFactor * Double(evidence.rows) else { return nil }
        let text = StatementText(key.sql)
        guard let table = text.table, !text.isAggregated, !text.isOfSQLite else { return nil }
        let advice = StatementOffsetAdvice(text: text, table: table, evidence: evidence)
        let saved = evidence.skippingTime
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: key.site,
            score: Score.of(mean, info: Self.minimumOffset.value, warning: 50 * Self.minimumOffset.value),
            fix: advice.fix, code: advice.code,
            saving: Saving(time: .init(median: saved, low: saved / 2, high: Double(evidence.time))),
            confidence: .medium("a row that is skipped may cost less than one that is returned"),
            signature: [id, "offset", text.summary, key.site?.function ?? ""].joined(separator: "|"))
        finding.codeLanguage = advice.language
        finding.alternatives = advice.alternatives
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.executions, time: evidence.time)]
        finding.scopes = evidence.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("executions", evidence.executions, .count), Evidence("rows", evidence.rows, .rows),
            Evidence("skippedRows", skipped.rounded(), .rows), Evidence("virtualMachineSteps", evidence.steps, .count),
            Evidence("time", evidence.time, .nanoseconds), Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        finding.claims = [Claim(StatementScanDetector.self, key, balance: Double(evidence.time))]
        if let order = text.sortKeys.first, text.sortKeys.count == 1 {
            let each = UInt64((skipped / Double(max(1, evidence.executions))).rounded())
            finding.remedy = .statement(
                StatementChange(
                    sql: key.sql, executions: evidence.executions, rows: evidence.rows, time: evidence.time,
                    kind: .keyset(column: order.name, isDescending: order.isDescending, skipped: each)))
        }
        if !Significance.isMet(
            saving: saved, wallTime: evidence.wallTime,
            isMainThread: Significance.isMost(evidence.mainThreadTime, of: evidence.time))
        {
            finding.downgrade(Significance.notProven)
        }
        if let reservation = key.reservation { finding.reservations.append(reservation) }
        return finding
    }
}
