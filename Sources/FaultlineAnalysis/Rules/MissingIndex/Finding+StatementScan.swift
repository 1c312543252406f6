extension Finding {
    /// Completes a finding whose SQL keeps a statement from scanning a table: where it was seen, what it rests on, how it can
    /// be tried, and whether its saving matters.
    mutating func complete(_ key: StatementSite, _ evidence: StatementScanEvidence, trying change: StatementChange.Kind)
    {
        codeLanguage = "sql"
        seenAt = [Sighting(site: key.site, count: evidence.executions, time: evidence.time)]
        subjects = [.statement(key.sql)]
        scopes = evidence.scopes.names
        self.evidence += [
            Evidence("executions", evidence.executions, .count), Evidence("rows", evidence.rows, .rows),
            Evidence("fullScanSteps", evidence.fullScanSteps, .count), Evidence("time", evidence.time, .nanoseconds),
            Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        claims = [Claim(StatementScanDetector.self, key, balance: Double(evidence.time))]
        remedy = .statement(
            StatementChange(
                sql: key.sql, executions: evidence.executions, rows: evidence.rows, time: evidence.time, kind: change))
        // A scan grows with its table, whatever it costs now.
        if !Significance.isMet(
            saving: saving.time.median, wallTime: evidence.wallTime,
            isMainThread: Significance.isMost(evidence.mainThreadTime, of: evidence.time))
        {
            reservations.append(Significance.notProven)
        }
    }
}
