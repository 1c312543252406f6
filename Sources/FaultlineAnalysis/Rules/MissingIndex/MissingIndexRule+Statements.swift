internal import FaultlineTrace

/// The findings about statements of programs without an object store.
extension MissingIndexRule {
    func statementScans(_ profile: Profile) -> [Finding] {
        profile.statementScans.compactMap { finding($0.key, $0.evidence) }.joined("The index")
    }

    private func finding(_ key: StatementSite, _ evidence: StatementScanEvidence) -> Finding? {
        let steps = evidence.steppedRows, perRun = evidence.steppedRowsPerRun
        let rows = Double(max(1, evidence.rows))
        guard perRun >= FetchIndexing.minimumRows.value, steps >= FetchIndexing.stepsPerRow.value * rows else {
            return nil
        }
        let text = StatementText(key.sql)
        guard let indexes = StatementIndexes(text, evidence) else { return nil }
        let columns = Wording.properties(indexes.columns)
        let library = StatementLibrary(names: evidence.libraries)
        let saved = evidence.timeWithoutScan
        var finding = Finding(
            rule: id, ruleName: name, title: "Create an index on \(entity: indexes.table)(\(columns))",
            change: key.site,
            score: Score.of(perRun, info: FetchIndexing.minimumRows.value, warning: 50_000),
            fix: "SQLite then seeks the matching rows instead of stepping through the table.",
            code: indexes.code,
            saving: Saving(
                time: text.isAggregated
                    ? .init(median: saved / 2, low: 0, high: saved)
                    : .init(median: saved, low: saved / 2, high: Double(evidence.time))),
            confidence: text.isAggregated
                ? .low("the trace does not show how many rows matched")
                : .medium("the costs of a step and a seek are estimated"),
            signature: ([id, "sql"] + indexes.code).joined(separator: "|"))
        finding.alternatives = indexes.columns.count == 1 ? library?.indexing(indexes.columns[0]) ?? [] : []
        finding.explanation = [
            "\(count: evidence.executions, "run") of \(code: text.summary) stepped over \(decimal: steps, places: 0, of: .rows) rows "
                + "to \(text.isAggregated ? "return" : "find") \(count: evidence.rows), in \(duration: evidence.time)."
        ]
        finding.explanation += evidence.plan(of: indexes.scanned, in: text)
        finding.complete(key, evidence, trying: .indexes(indexes.code))
        return finding
    }
}
