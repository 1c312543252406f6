internal import FaultlineTrace

/// The findings about statements of programs without an object store.
extension TextSearchRule {
    func statements(_ profile: Profile) -> [Finding] {
        profile.statementScans.compactMap { finding($0.key, $0.evidence) }.joined("The full-text index")
    }

    /// A statement that compares a column of every row with a pattern, and finds few rows.
    private func finding(_ key: StatementSite, _ evidence: StatementScanEvidence) -> Finding? {
        let steps = evidence.steppedRows, perRun = evidence.steppedRowsPerRun
        let rows = Double(max(1, evidence.rows))
        guard perRun >= FetchIndexing.minimumRows.value, steps >= Self.minimumSteps.value,
            steps >= FetchIndexing.stepsPerRow.value * rows
        else { return nil }
        let text = StatementText(key.sql)
        // With an index on another column, SQLite would compare few texts.
        guard let table = text.table, let search = text.search, text.comparedColumn == nil, !text.isOfSQLite,
            evidence.mayScan(table, of: text)
        else { return nil }
        let advice = StatementSearchAdvice(text: text, table: table, search: search, evidence: evidence)
        let saved = evidence.timeWithoutScan
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: key.site,
            score: Score.of(perRun, info: FetchIndexing.minimumRows.value, warning: 50_000), fix: advice.fix,
            code: advice.code, saving: Saving(time: .init(median: saved, low: saved / 2, high: Double(evidence.time))),
            confidence: .medium("the cost of the other search is unknown"),
            signature: [id, "sql", table, search.column].joined(separator: "|"))
        finding.alternatives = advice.alternatives
        finding.explanation = advice.explanation + evidence.plan(of: table, in: text)
        finding.complete(key, evidence, trying: .fullText(table: table, column: search.column))
        return finding
    }
}
