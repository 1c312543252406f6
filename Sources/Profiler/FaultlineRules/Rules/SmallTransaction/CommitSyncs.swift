internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// Commits that wait for the disk, however many rows they write.
///
/// With a rollback journal, a commit syncs the journal and the database file. With a write-ahead log it syncs the log
/// once, and with `synchronous = NORMAL` not at all: only checkpoints sync (https://sqlite.org/wal.html,
/// https://sqlite.org/pragma.html#pragma_synchronous).
struct CommitSyncs {
    /// The statements that waited for the disk, the longest first.
    private let groups: [EventGroup]
    private let commits: UInt64
    private let syncs: UInt64
    /// In nanoseconds, without the waits that larger transactions would avoid.
    private let time: UInt64
    /// Whether small transactions wait, too.
    private let isRest: Bool
    private let profile: Profile
    /// Whether the commits write to a write-ahead log.
    private let hasLog: Bool

    /// The least syncs of a commit with a rollback journal; one with a write-ahead log waits once, but for checkpoints.
    private static let syncsOfJournal = 1.5
    /// The minimum number of commits, and the minimum share of the run that they wait.
    private static let leastCommits: UInt64 = 5
    private static let leastShare = 0.05
    /// The minimum share for a warning: other commits are the price of writing.
    private static let dominantShare = 0.2

    /// - Parameter small: Transactions whose finding advises larger ones.
    /// - Returns: `nil` if commits hardly wait.
    init?(_ profile: Profile, besides small: [SmallTransactionEvidence]) {
        self.profile = profile
        isRest = !small.isEmpty
        groups = profile.groups.filter { group in
            // A write that waits each time is a transaction of its own; others wait when the page cache is full.
            group.key.kind == .sql && group.counts.syncs > 0
                && (group.key.statementType == .transaction
                    || group.key.statementType == .write && group.counts.syncs >= group.count)
        }.ordered { ($0.counts.syncTime, $1.key.sortText) > ($1.counts.syncTime, $0.key.sortText) }
        commits = groups.reduce(0) { $0 &+ $1.count }
        syncs = groups.reduce(0) { $0 &+ $1.counts.syncs }
        let all = groups.reduce(0) { $0 &+ $1.counts.syncTime }
        time = all &- min(all, small.reduce(0) { $0 &+ $1.syncTime })
        let left = commits &- min(commits, small.reduce(0) { $0 &+ $1.executions })
        hasLog = groups.reduce(0) { $0 &+ $1.counts.logged } * 2 >= commits
        guard left >= Self.leastCommits, Double(time) >= Significance.time.value, profile.wallTime > 0,
            Double(time) >= Self.leastShare * Double(profile.wallTime),
            // Only checkpoints sync: with a log after several commits, or after each large one.
            syncs * 2 >= commits, !hasLog || Double(syncs) < Self.syncsOfJournal * Double(commits)
        else { return nil }
    }

    private var each: Double { Double(syncs) / Double(max(1, commits)) }
    private var hasJournal: Bool { !hasLog && each >= Self.syncsOfJournal }

    func finding(of rule: SmallTransactionRule) -> Finding {
        let first = groups[0].key
        let saved = Double(time)
        let withLog = hasJournal ? saved * (1 - 1 / each) : saved / 2
        var finding = Finding(
            rule: rule.id, ruleName: rule.name,
            title: hasJournal
                ? "Use a write-ahead log, so that not every commit waits for the disk"
                : "Set synchronous to NORMAL, so that not every commit waits for the disk",
            change: first.site,
            severity: min(
                Severity.warning,
                Significance.severity(saving: saved, wallTime: profile.wallTime, isMainThread: false)),
            fix:
                "With a write-ahead log and synchronous = NORMAL, SQLite waits for the disk only at checkpoints. After a loss of "
                + "power, the last commits can be missing, but the file is consistent.",
            code: (hasJournal ? ["PRAGMA journal_mode = WAL"] : []) + ["PRAGMA synchronous = NORMAL"],
            saving: Saving(time: .init(median: max(withLog, saved * 0.9), low: withLog, high: saved)),
            confidence: .medium("the trace does not show how often the log will be checkpointed"),
            signature: [rule.id, "syncs"].joined(separator: "|"))
        finding.codeLanguage = "sql"
        finding.seenAt = groups.map { group in
            Finding.Sighting(site: group.key.site, count: group.count, time: group.counts.syncTime)
        }
        finding.subjects = groups.map(\.key.subject)
        let others: Wording = isRest ? ", some of them in small transactions; the others took" : ":"
        finding.explanation = [
            "\(count: commits, "commit") waited \(count: syncs, "time") for the disk\(others) \(duration: time), "
                + "\(percent: saved / Double(max(1, profile.wallTime))) of the run."
        ]
        finding.alternatives =
            (hasJournal ? ["To lose no commit, leave synchronous as it is: SQLite then waits once for each."] : [])
            + ["Write more rows in each transaction."]
        finding.evidence = [
            Evidence("commits", commits, .count), Evidence("syncs", syncs, .count),
            Evidence("syncTime", time, .nanoseconds), Evidence("wallTime", profile.wallTime, .nanoseconds),
        ]
        if !hasJournal {
            finding.downgrade("Only you can say whether the last commits may be missing after a loss of power.")
        }
        if saved < Self.dominantShare * Double(profile.wallTime) {
            finding.downgrade("The waits are less than \(percent: Self.dominantShare) of the run.")
        }
        finding.claims = groups.compactMap { group in
            guard case .statement(let sql) = group.key.subject else { return nil }
            return Claim(
                SmallTransactionDetector.self, StatementSite(sql: sql, site: group.key.site),
                balance: Double(group.counts.syncTime))
        }
        return finding
    }
}
