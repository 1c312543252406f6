internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R28: many transactions that write one or two statements each.
///
/// The detector has already applied the threshold within a scope or a unit of work. The rule weighs the evidence.
struct SmallTransactionRule: Rule {
    let id = "R28"
    let name = "Small transactions"
    let purpose = "Rows that a program writes one or two per transaction, and commits that wait for the disk."
    let kinds: Set<EventKind> = [.sql]

    /// The time of a write within a transaction, in nanoseconds.
    ///
    /// Rows of this size take 1–5 µs in bulk; this leaves room for indexes and long values.
    static let write = 20_000.0

    /// The maximum mean number of rows of a small transaction.
    ///
    /// Larger ones are batches.
    private static let mostRows: UInt64 = 10

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let writes = profile.totals.outermostWrites
        if writes > 0 {
            outcome.examined = "\(count: writes, "statement that writes", plural: "statements that write")"
        }
        var small: [SmallTransactionEvidence] = []
        for (key, evidence) in profile.smallTransactions {
            guard let finding = finding(key, evidence, profile) else { continue }
            outcome.findings.append(finding)
            if finding.severity > .note { small.append(evidence) }
        }
        if let syncs = CommitSyncs(profile, besides: small) { outcome.findings.append(syncs.finding(of: self)) }
        return outcome
    }

    private func finding(
        _ key: StatementSite, _ evidence: SmallTransactionEvidence, _ profile: Profile
    ) -> Finding? {
        let saved = Double(evidence.time) - Double(evidence.executions) * Self.write
        // In memory, and where commits need not reach the disk, a transaction costs hardly more than its statements.
        guard saved > 0, evidence.rows <= Self.mostRows &* evidence.executions else { return nil }
        let library = StatementLibrary(names: evidence.libraries)
        let perGroup = evidence.executions / max(1, evidence.occurrences)
        let transactions: Wording =
            evidence.occurrences <= 1 ? "one transaction" : "\(count: evidence.occurrences, "transaction")"
        let isMainThread = Significance.isMost(evidence.mainThreadTime, of: evidence.time)
        var finding = Finding(
            rule: id, ruleName: name,
            title: "Write the rows in \(transactions) instead of \(count: evidence.executions)",
            change: key.site,
            severity: min(
                Severity.of(Double(perGroup), warning: SmallTransactionDetector.threshold.value, error: 100),
                Significance.severity(saving: saved, wallTime: evidence.wallTime, isMainThread: isMainThread)),
            fix:
                "SQLite waits for the disk at the end of each transaction, so one transaction for all rows waits once.",
            code: Self.code(library, key, evidence),
            saving: Saving(time: .init(median: saved, low: saved / 2, high: Double(evidence.time))),
            confidence: .medium("the time of these writes within a transaction is not in the trace"),
            signature: [id, key.sql, key.site?.function ?? ""].joined(separator: "|"))
        finding.codeLanguage = library?.language ?? "sql"
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.executions, time: evidence.time)]
        finding.seenAt += evidence.commits.ordered { ($0.value, $1.key.sortText) > ($1.value, $0.key.sortText) }
            .filter { $0.key != key.site }.map { Finding.Sighting(site: $0.key, count: $0.value, time: 0) }
        // With the statements that begin and end transactions, if the program runs them.
        if evidence.commits.isEmpty { finding.subjects = [.statement(key.sql)] }
        finding.scopes = evidence.scopes.names
        let kind: Wording =
            evidence.implicit == evidence.executions
            ? " outside any transaction" : ", each committed separately,"
        finding.explanation =
            [
                "\(count: evidence.executions, "run") of \(code: Phrase.shortened(key.sql, to: 60))\(kind) took "
                    + "\(duration: evidence.time), \(duration: evidence.time / max(1, evidence.executions)) each."
            ] + Self.waits(evidence) + evidence.callers.sentences
        finding.evidence = [
            Evidence("transactions", evidence.executions, .count), Evidence("implicit", evidence.implicit, .count),
            Evidence("occurrences", evidence.occurrences, .count), Evidence("rows", evidence.rows, .rows),
            Evidence("time", evidence.time, .nanoseconds), Evidence("syncTime", evidence.syncTime, .nanoseconds),
            Evidence("waiting", evidence.waiting, .nanoseconds),
            Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        if Significance.isMost(evidence.syncTime, of: evidence.time) {
            finding.alternatives = [
                "If the rows must be committed one by one, \(code: "PRAGMA journal_mode = WAL") and "
                    + "\(code: "PRAGMA synchronous = NORMAL") spare most waits for the disk. After a loss of power, the last "
                    + "commits can be missing."
            ]
        }
        finding.claims = [Claim(SmallTransactionDetector.self, key, balance: Double(evidence.time))]
        finding.remedy = .statement(
            StatementChange(
                sql: key.sql, executions: evidence.executions, rows: evidence.rows, time: evidence.time,
                kind: .transaction(transactions: perGroup)))
        if !Significance.isMet(saving: saved, wallTime: evidence.wallTime, isMainThread: isMainThread) {
            finding.downgrade("\(Significance.tooLittle()).")
        }
        if let reservation = key.reservation { finding.reservations.append(reservation) }
        if Significance.isAtLeastHalf(evidence.reading, of: evidence.executions) {
            finding.downgrade("The transactions read before they write, so each may depend on the one before.")
        }
        if Self.hasOtherWriters(profile) {
            finding.downgrade(
                "Other connections write at the same time, and would wait longer for larger transactions.")
        }
        // UPDATE OR FAIL table, INSERT INTO table(…), DELETE FROM table
        let words = key.sql.split { " (".contains($0) }.map(String.init)
        let table = words.dropFirst().first { !["OR", "FAIL", "IGNORE", "REPLACE", "INTO", "FROM"].contains($0) } ?? ""
        CoreDataTable(table, profile)?.describe(&finding, table, runs: evidence.executions, verb: "write")
        let wait = evidence.waiting / max(1, evidence.executions)
        if wait >= Repetition.pause { finding.downgrade(forWaiting: wait, between: "transactions", arriving: "rows") }
        finding.weigh(lossyOccurrences: evidence.lossyOccurrences, of: evidence.occurrences)
        return finding
    }

    /// A sentence about SQLite's waits for the disk, if they matter.
    private static func waits(_ evidence: SmallTransactionEvidence) -> [Wording] {
        let share = min(1, Double(evidence.syncTime) / Double(max(1, evidence.time)))
        return share >= 0.01 ? ["SQLite waited for the disk in \(percent: share) of that time."] : []
    }

    /// The minimum waits for SQLite's lock that show that connections write at the same time.
    private static let leastWaits: UInt64 = 3

    /// Whether connections of several threads or processes compete for SQLite's lock.
    private static func hasOtherWriters(_ profile: Profile) -> Bool {
        profile.waits.filter { $0.key.resource == .sqlite }.reduce(0) { $0 + $1.evidence.durations.count } >= leastWaits
    }

    private static func code(
        _ library: StatementLibrary?, _ key: StatementSite, _ evidence: SmallTransactionEvidence
    ) -> [String] {
        let inserts = key.sql.uppercased().hasPrefix("INSERT")
        return switch library {
        case .django?:
            ["with transaction.atomic():", inserts ? "    Model.objects.bulk_create(rows)" : "    for row in rows: …"]
        case .sqlAlchemy?:
            (inserts ? ["session.add_all(rows)"] : []) + ["session.commit()  # once, after all rows"]
        case .peewee?: ["with database.atomic():", inserts ? "    Model.bulk_create(rows)" : "    for row in rows: …"]
        // A connection that commits each statement by itself begins no transaction at "with connection".
        case .python? where evidence.implicit == evidence.executions:
            ["connection.execute(\"BEGIN\")", "connection.executemany(sql, rows)", "connection.execute(\"COMMIT\")"]
        case .python?: ["with connection:", "    connection.executemany(sql, rows)"]
        case .grdb?: ["try database.write { db in", "    for row in rows { try row.insert(db) }", "}"]
        case .activeRecord?:
            inserts ? ["Model.insert_all(rows)"] : ["Model.transaction do", "  rows.each { |row| … }", "end"]
        case nil: ["BEGIN; …; COMMIT"]
        }
    }
}

extension SmallTransactionRule {
    var needs: Set<TraceGap.Kind> { [.statements] }

    var thresholds: [Threshold] { [SmallTransactionDetector.threshold] }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R28 reports at least \(Phrase.count(SmallTransactionDetector.threshold.count)) transactions with one "
                + "or two statements that write, from one line on one thread, \(Repetition.occasion). A statement "
                + "outside any transaction is a transaction of its own. It also reports at least 5 commits that "
                + "together wait for the disk for 5 % of the run.",
            evidence:
                "The finding gives the transactions, their rows and their time in SQLite, and the time between them.",
            fix:
                "Begin a transaction before the first row, and commit it after the last one. For larger transactions, "
                + "use a write-ahead log, which needs one sync for a commit and, with synchronous = NORMAL, none.",
            saving:
                "The saving is the time of the transactions, minus \(Phrase.duration(Self.write)) for each of their "
                + "writes; for larger ones, it is the time that commits waited for the disk.",
            guards: [
                "R28 ignores transactions that take less than \(Phrase.duration(Self.write)) per write, such as those of databases in memory.",
                "R28 ignores the statements of saves, which R10 evaluates.",
                "The statements of one thread count as those of one connection.",
                "A finding is a note if it saves less than 1 % of the time that the work took and less than 2 ms.",
                "A finding is a note if the program spends at least 5 ms elsewhere between two transactions, if at least half of the "
                    + "transactions read before they write, or if connections waited for one another's lock at least "
                    + "\(Phrase.count(Self.leastWaits)) times.",
            ])
    }
}
