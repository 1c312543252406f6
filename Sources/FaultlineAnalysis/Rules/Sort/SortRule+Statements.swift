internal import FaultlineTrace

/// The findings about statements of programs without an object store.
extension SortRule {
    func statements(_ profile: Profile) -> [Finding] {
        profile.statementScans.compactMap { finding($0.key, $0.evidence) }.joined("The index")
    }

    /// A statement that sorts a whole table and returns few of its rows, although an index has them in order.
    private func finding(_ key: StatementSite, _ evidence: StatementScanEvidence) -> Finding? {
        let steps = evidence.steppedRows, perRun = evidence.steppedRowsPerRun
        let rows = Double(max(1, evidence.rows))
        guard evidence.sorts > 0, perRun >= Self.minimumRows.value, steps >= Self.limitFactor.value * rows else {
            return nil
        }
        let text = StatementText(key.sql)
        // A view has no index. SQLite's plan names the tables under it.
        guard let table = text.table, !text.order.isEmpty, !text.isAggregated, evidence.mayScan(table, of: text) else {
            return nil
        }
        let saved = Double(evidence.time) * (1 - rows / steps)
        var finding = Finding(
            rule: id, ruleName: name,
            title: "Create an index on \(entity: table)(\(property: text.order.map(\.name).joined(separator: ", ")))",
            change: key.site, score: Score.of(perRun, info: Self.minimumRows.value, warning: 50_000),
            fix: "SQLite then reads the rows in order, and stops after the last one that is wanted.",
            code: [StatementText.index(on: table, text.order)],
            saving: Saving(time: .init(median: saved, low: saved / 2, high: Double(evidence.time))),
            confidence: .medium("the costs of a step and of sorting are estimated"),
            signature: ([id, "sql", table] + text.order.map(\.name)).joined(separator: "|"))
        if text.order.count == 1 {
            finding.alternatives = StatementLibrary(names: evidence.libraries)?.indexing(text.order[0].name) ?? []
        }
        finding.explanation = [
            "\(count: evidence.executions, "run") of \(code: Phrase.shortened(text.summary, to: 90)) sorted "
                + "\(decimal: steps, places: 0, of: .rows) rows to return \(count: evidence.rows), in \(duration: evidence.time)."
        ]
        finding.evidence = [
            Evidence("sorts", evidence.sorts, .count), Evidence("sortedRows", UInt64(steps), .rows),
        ]
        finding.complete(key, evidence, trying: .indexes(finding.code))
        return finding
    }
}
