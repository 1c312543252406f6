internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

extension Profile {
    /// The number of connections that the program or its library set up, as far as statements show it: of the pragmas that apply
    /// to one connection, the number of runs of the most frequent one.
    fileprivate var connections: UInt64 {
        var runs: [String: UInt64] = [:]
        for group in groups where group.key.kind == .sql {
            guard case .statement(let sql) = group.key.subject else { continue }
            let words = sql.lowercased().split { " =(".contains($0) }
            if words.first == "pragma", words.count > 2, Self.pragmas.contains(String(words[1])) {
                runs[sql, default: 0] &+= group.count
            }
        }
        return runs.values.max() ?? 0
    }

    /// Pragmas that libraries set on each connection.
    private static let pragmas: Set<String> = [
        "busy_timeout", "cache_size", "foreign_keys", "journal_mode", "mmap_size", "recursive_triggers", "synchronous",
        "temp_store",
    ]
}

/// Findings about statements that are prepared anew because each connection is new.
extension PreparationRule {
    /// The number of statements for each connection up to which opening it is the cause, however long preparing takes.
    private static let fewStatements: UInt64 = 5

    /// Joins the findings about statements that each connection prepares once.
    ///
    /// A new connection reads the schema, keeps no statement and has an empty page cache. With few statements for each
    /// connection it is the cause even if these take longer than their preparation.
    func joined(
        _ found: [(finding: Finding, times: PreparationEvidence)], _ library: StatementLibrary?, _ profile: Profile
    ) -> [Finding] {
        let connections = profile.connections
        guard connections >= Self.minimumPreparations.count else { return found.map(\.finding) }
        let isOfConnections = { (times: PreparationEvidence) in times.preparations <= connections }
        let all = profile.preparations.compactMap { statement, times in
            self.finding(for: statement, times, minimumShare: 0, library, profile).map { (finding: $0, times: times) }
        }.filter { isOfConnections($0.times) }
        let hasManyStatements = all.reduce(0) { $0 &+ $1.times.executions } > Self.fewStatements &* connections
        let caused = hasManyStatements ? found.filter { isOfConnections($0.times) } : all
        guard let first = caused.max(by: { $0.finding.saving.time.median < $1.finding.saving.time.median }) else {
            return found.map(\.finding)
        }
        var finding = first.finding
        let runs = caused.reduce(0) { $0 &+ $1.times.executions }
        let prepareTime = caused.reduce(0) { $0 &+ $1.times.prepareTime }
        let prepared = caused.reduce(0) { $0 + $1.finding.saving.time.median }
        // Opening and closing lie between the runs, with whatever else the program does there.
        let loops = profile.statementLoops.filter { loop in
            loop.evidence.executions <= connections
                && caused.contains { $0.finding.subjects == [.statement(loop.key.sql)] }
        }
        let between = hasManyStatements ? 0 : loops.reduce(0) { $0 + Double($1.evidence.overhead) }
        finding.title = "Keep connections open instead of opening \(count: connections, "connection")"
        finding.explanation = [
            "\(count: connections, "connection") for \(count: runs, "run") of \(count: UInt64(caused.count), "statement"): each of them read "
                + "the schema and prepared its statements again, in \(duration: prepareTime)."
        ]
        finding.fix = library?.keepingConnections ?? "Open a connection for each thread once, and keep it."
        finding.saving = Saving(
            time: .init(median: prepared + between / 2, low: prepared / 2, high: prepared + between))
        if between > 0 {
            finding.confidence = .medium("the trace does not show how long opening and closing take")
            finding.severity = max(
                finding.severity,
                Significance.severity(
                    saving: prepared + between / 2, wallTime: profile.knownWallTime ?? 0, isMainThread: false))
            finding.reservations = []
        }
        finding.signature = [id, "connections"].joined(separator: "|")
        finding.seenAt = caused.flatMap(\.finding.seenAt)
        finding.subjects = caused.flatMap(\.finding.subjects)
        finding.claims =
            caused.flatMap(\.finding.claims)
            + (between > 0 ? loops : []).map {
                Claim(StatementLoopDetector.self, $0.key, balance: Double($0.evidence.overhead))
            }
        finding.evidence = [
            Evidence("connections", connections, .count), Evidence("executions", runs, .count),
            Evidence("prepareTime", prepareTime, .nanoseconds),
        ]
        // A trial prepares one statement on one connection.
        finding.remedy = nil
        return [finding] + found.filter { !isOfConnections($0.times) }.map(\.finding)
    }
}

extension StatementLibrary {
    /// How connections are kept.
    fileprivate var keepingConnections: Wording {
        switch self {
        case .django: "Set \(code: "\"CONN_MAX_AGE\": None") for the database in \(code: "DATABASES")."
        case .sqlAlchemy: "Create one engine for the program, and do not set \(code: "poolclass=NullPool")."
        case .peewee:
            "Open the database once for each thread, not for each request, or use \(code: "PooledSqliteDatabase")."
        case .grdb: "Keep one \(code: "DatabasePool") or \(code: "DatabaseQueue") for each file."
        case .activeRecord: "Let Active Record's pool keep the connections, and do not remove them after each request."
        case .python: "Call \(code: "sqlite3.connect") once for each thread, and keep the connection."
        }
    }
}
