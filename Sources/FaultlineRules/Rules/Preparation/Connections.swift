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
    /// Joins the findings about statements that each connection prepares once.
    ///
    /// A new connection reads the schema, keeps no statement and has an empty page cache.
    func joined(
        _ found: [(finding: Finding, times: PreparationEvidence)], _ profile: Profile
    ) -> [Finding] {
        let connections = profile.connections
        let isOfConnections = { (times: PreparationEvidence) in times.preparations <= connections }
        let caused = found.filter { isOfConnections($0.times) }
        guard connections >= Self.minimumPreparations.count,
            let first = caused.max(by: { $0.finding.saving.time.median < $1.finding.saving.time.median })
        else { return found.map(\.finding) }
        var finding = first.finding
        let runs = caused.reduce(0) { $0 &+ $1.times.executions }
        let prepareTime = caused.reduce(0) { $0 &+ $1.times.prepareTime }
        let saved = caused.reduce(0) { $0 + $1.finding.saving.time.median }
        finding.title = "Keep connections open instead of opening \(count: connections, "connection")"
        finding.explanation = [
            "\(count: connections, "connection") for \(count: runs, "run") of \(count: UInt64(caused.count), "statement"): each of them read "
                + "the schema and prepared its statements anew, in \(duration: prepareTime)."
        ]
        let names = Set(profile.statementOrigins.flatMap(\.evidence.libraries))
        finding.fix =
            StatementLibrary(names: names)?.keepingConnections ?? "Open a connection for each thread once, and keep it."
        finding.saving = Saving(time: .init(median: saved, low: saved / 2, high: saved))
        finding.signature = [id, "connections"].joined(separator: "|")
        finding.seenAt = caused.flatMap(\.finding.seenAt)
        finding.subjects = caused.flatMap(\.finding.subjects)
        finding.claims = caused.flatMap(\.finding.claims)
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
        case .python: "Call \(code: "sqlite3.connect") once for each thread, and keep the connection."
        }
    }
}
