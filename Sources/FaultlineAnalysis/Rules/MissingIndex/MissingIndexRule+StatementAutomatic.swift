internal import FaultlineTrace

/// The findings about indexes that SQLite builds for statements of programs without an object store.
extension MissingIndexRule {
    func automaticIndexesOfStatements(_ profile: Profile) -> [Finding] {
        profile.statementScans.flatMap { key, evidence in
            let rows = Double(evidence.automaticIndexRows) / Double(max(1, evidence.executions))
            guard rows >= FetchIndexing.minimumRows.value else { return [Finding]() }
            let indexes = evidence.automaticIndexes.sorted().flatMap { AutomaticIndex.all(in: $0, of: key.sql) }
            return indexes.map { finding(for: $0, of: UInt64(indexes.count), key, evidence) }
        }
        .joined("The index")
    }

    /// - Parameter count: The number of such indexes of the statement, which share the indexed rows.
    private func finding(
        for index: AutomaticIndex, of count: UInt64, _ key: StatementSite, _ evidence: StatementScanEvidence
    ) -> Finding {
        let rows = evidence.automaticIndexRows / count, each = Double(rows) / Double(max(1, evidence.executions))
        let saved = { (row: Double) in min(row * Double(rows), Double(evidence.time)) }
        let saving = Saving.Range(
            median: saved(AutomaticIndex.row), low: saved(AutomaticIndex.rowRange.lowerBound),
            high: saved(AutomaticIndex.rowRange.upperBound))
        var finding = Finding(
            rule: id, ruleName: name,
            title: "Create an index on \(entity: index.table)(\(Wording.properties(index.columns)))", change: key.site,
            score: Score.of(each, info: FetchIndexing.minimumRows.value, warning: 50_000),
            fix: "With an index in the database, SQLite need not build one for every run.",
            code: [StatementText.index(on: index.table, index.columns.map { .init(name: $0) })],
            saving: Saving(time: saving), confidence: .low("the cost of an automatic index is assumed"),
            signature: ([id, "automatic", index.table] + index.columns).joined(separator: "|"))
        if index.columns.count == 1 {
            finding.alternatives = StatementLibrary(names: evidence.libraries)?.indexing(index.columns[0]) ?? []
        }
        let statement = Phrase.shortened(StatementText(key.sql).summary, to: 90)
        finding.explanation = [
            "For \(count: evidence.executions, "run") of \(code: statement), SQLite built an index on "
                + "\(entity: index.table)(\(Wording.properties(index.columns))) and discarded it: "
                + "\(decimal: each, places: 0, of: .rows) rows each time."
        ]
        finding.evidence = [Evidence("indexedRows", rows, .rows)]
        finding.complete(key, evidence, trying: .indexes(finding.code))
        return finding
    }
}
