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
        let isMainThread = Significance.isMost(evidence.mainThreadTime, of: evidence.time)
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
        finding.codeLanguage = "sql"
        finding.alternatives = indexes.columns.count == 1 ? library?.indexing(indexes.columns[0]) ?? [] : []
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.executions, time: evidence.time)]
        finding.scopes = evidence.scopes.names
        finding.explanation = [
            "\(count: evidence.executions, "run") of \(code: text.summary) stepped over \(decimal: steps, places: 0, of: .rows) rows "
                + "to \(text.isAggregated ? "return" : "find") \(count: evidence.rows), in \(duration: evidence.time)."
        ]
        finding.explanation += evidence.plan(of: indexes.scanned, in: text)
        finding.evidence = [
            Evidence("executions", evidence.executions, .count), Evidence("rows", evidence.rows, .rows),
            Evidence("fullScanSteps", evidence.fullScanSteps, .count), Evidence("time", evidence.time, .nanoseconds),
            Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        finding.claims = [Claim(StatementScanDetector.self, key, balance: Double(evidence.time))]
        finding.remedy = .statement(
            StatementChange(
                sql: key.sql, executions: evidence.executions, rows: evidence.rows, time: evidence.time,
                kind: .indexes(indexes.code)))
        // The scan grows with the table, whatever it costs now.
        if !Significance.isMet(saving: saved, wallTime: evidence.wallTime, isMainThread: isMainThread) {
            finding.reservations.append(Significance.notProven)
        }
        return finding
    }
}
