public import FaultlineTrace

/// R30: columns of a statement's rows that the program does not read.
public struct UnreadColumnRule: Rule {
    public let id = "R30"
    public let name = "Unread columns"
    public let purpose = "Statements whose rows are only counted, or that select columns the program never reads."
    public let kinds: Set<EventKind> = [.sql]

    /// The minimum number of rows of a finding.
    static let minimumRows = Threshold("R30", "minimumRows", 100, .count, "minimum rows of a statement")
    /// The number of unread values that are worth more than a note.
    private static let manyValues = 5000.0

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let runs = profile.columnReads.reduce(0) { $0 &+ $1.evidence.executions }
        if runs > 0 { outcome.examined = "the columns of \(count: runs, "statement")" }
        outcome.findings = profile.columnReads.compactMap { finding($0.key, $0.evidence) }
        return outcome
    }

    private func finding(_ key: StatementSite, _ evidence: ColumnReadEvidence) -> Finding? {
        let text = StatementText(key.sql)
        guard evidence.rows >= Self.minimumRows.count, !evidence.unreadColumns.isEmpty, let table = text.table,
            !text.isOfSQLite, StatementSelection(key.sql) != nil, evidence.isCountedOnly || !evidence.read.isEmpty
        else { return nil }
        let advice = UnreadColumnAdvice(sql: key.sql, text: text, table: table, evidence: evidence)
        let values = Double(evidence.rows) * Double(evidence.unreadColumns.count)
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: key.site,
            score: min(Score.highestWarning, Score.of(values, info: Self.manyValues, warning: 1000 * Self.manyValues)),
            fix: advice.fix, code: advice.code, saving: Saving(),
            confidence: .medium("another run can read other columns"),
            signature: [id, text.summary, key.site?.function ?? ""].joined(separator: "|"))
        finding.codeLanguage = advice.language
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.executions, time: evidence.time)]
        finding.subjects = [.statement(key.sql)]
        finding.scopes = evidence.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("executions", evidence.executions, .count), Evidence("rows", evidence.rows, .rows),
            Evidence("columns", Double(evidence.columns.count), .count),
            Evidence("unreadColumns", Double(evidence.unreadColumns.count), .count),
            Evidence("time", evidence.time, .nanoseconds), Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        finding.remedy = .statement(
            StatementChange(
                sql: key.sql, executions: evidence.executions, rows: evidence.rows, time: evidence.time,
                kind: advice.change))
        // The part of the time that the columns take is not known, so all of it is an upper bound.
        if !Significance.isMet(
            saving: Double(evidence.time), wallTime: evidence.wallTime,
            isMainThread: Significance.isMost(evidence.mainThreadTime, of: evidence.time))
        {
            finding.downgrade(Significance.notProven)
        }
        if let reservation = key.reservation { finding.reservations.append(reservation) }
        return finding
    }
}
