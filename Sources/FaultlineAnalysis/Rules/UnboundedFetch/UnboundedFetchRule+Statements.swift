internal import FaultlineTrace

/// The findings about statements of programs without an object store.
extension UnboundedFetchRule {
    func statements(_ profile: Profile) -> [Finding] {
        profile.offsets.compactMap { finding($0.key, $0.evidence) }
            + profile.wholeResults.compactMap { finding($0.key, $0.evidence) }
    }

    /// The rows of a result that are worth more than a note.
    static let seriousRows = 5000.0

    /// A result that a mapper keeps in memory, with no limit to its rows.
    private func finding(_ key: StatementSite, _ evidence: WholeResultEvidence) -> Finding? {
        let text = StatementText(key.sql)
        guard let table = text.table, !text.isAggregated, !text.isOfSQLite else { return nil }
        let library = StatementLibrary(names: evidence.libraries), model = StatementLibrary.modelName(of: table)
        var finding = Finding(
            rule: id, ruleName: name, title: "Load the rows of \(entity: table) in parts, or a page at a time",
            change: key.site,
            score: min(
                Score.highestWarning,
                Score.of(Double(evidence.mostRows), info: Self.seriousRows, warning: 10 * Self.seriousRows)),
            fix: "The number of rows in memory then no longer grows with the table.",
            code: library == .grdb
                ? ["let rows = try \(model).fetchCursor(db)"]
                : ["for row in \(model).objects.iterator(chunk_size=500): …"],
            saving: Saving(), confidence: .low("all rows may have been needed"),
            signature: [id, "unbounded", text.summary, key.site?.function ?? ""].joined(separator: "|"))
        finding.codeLanguage = library?.language ?? "sql"
        finding.alternatives = [
            library == .grdb
                ? "For a screen, fetch a page: \(code: ".limit(size)") and a condition on the sort key."
                : "For a page, use \(code: "[:size]") and a condition on the sort key."
        ]
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.executions, time: evidence.time)]
        finding.subjects = [.statement(key.sql)]
        let results: Wording =
            evidence.executions == 1
            ? "" : "\(count: evidence.executions, "run") returned up to that many. "
        finding.explanation = [
            "\(code: Phrase.shortened(text.summary, to: 90)) returned \(rows: evidence.mostRows) at once, and nothing limits the "
                + "number. \(results)\(library?.name ?? "The mapper") keeps them all in memory."
        ]
        finding.evidence = [
            Evidence("executions", evidence.executions, .count), Evidence("rows", evidence.rows, .rows),
            Evidence("maximumRows", evidence.mostRows, .rows), Evidence("time", evidence.time, .nanoseconds),
        ]
        finding.reservations = ["The trace does not show how the rows were used: all of them may have been needed."]
        if let reservation = key.reservation { finding.reservations.append(reservation) }
        return finding
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
        finding.subjects = [.statement(key.sql)]
        finding.scopes = evidence.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("executions", evidence.executions, .count), Evidence("rows", evidence.rows, .rows),
            Evidence("skippedRows", skipped.rounded(), .rows), Evidence("virtualMachineSteps", evidence.steps, .count),
            Evidence("time", evidence.time, .nanoseconds), Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        finding.claims = [Claim(StatementScanDetector.self, key, balance: Double(evidence.time))]
        if let order = text.sortKeys.first, text.sortKeys.count == 1 {
            let each = UInt64(min((skipped / Double(max(1, evidence.executions))).rounded(), 1e15))
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
