internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R21: statements that are prepared again and again although they do the same.
struct PreparationRule: Rule {
    let id = "R21"
    let name = "Repeated preparation"
    let purpose = "Statements that are prepared again for each fetch."
    let kinds: Set<EventKind> = [.fetch, .sql]

    /// The minimum number of preparations, and the minimum share of the fetches' time that they take.
    static let minimumPreparations = Threshold("R21", "minimumPreparations", 10, .count, "minimum preparations")
    static let minimumShare = Threshold(
        "R21", "minimumShare", 0.5, .share, "minimum share of the fetches' time that they take")

    static let minimumRunShare = Threshold(
        "R21", "minimumRunShare", 0.1, .share, "the same as a share of the run, in a program without an object store")

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        var examined = profile.fetches.reduce(0) { $0 &+ $1.counts.preparations }
        outcome.findings = profile.fetches.compactMap { finding(for: $0, profile) }
        if profile.allProcesses.lacks(.operations) {
            examined &+= profile.groups.reduce(0) { $0 &+ $1.counts.preparations }
            let library = StatementLibrary(names: Set(profile.statementOrigins.flatMap(\.evidence.libraries)))
            let found = profile.preparations.compactMap { statement, times in
                finding(for: statement, times, library, profile).map { (finding: $0, times: times) }
            }
            outcome.findings += joined(found, library, profile)
        }
        if examined > 0 { outcome.examined = "\(count: examined, "prepared statement")" }
        return outcome
    }

    private func finding(for fetch: FetchProfile, _ profile: Profile) -> Finding? {
        let counts = fetch.counts
        guard counts.preparations >= Self.minimumPreparations.count,
            2 * Double(counts.preparations) >= Double(counts.statements),
            Double(counts.prepareTime) >= Self.minimumShare.value * Double(counts.time)
        else { return nil }
        let entity = fetch.key.shape.entity
        let texts = fetch.statements.texts.keys.sorted()
        let isSame = texts.count <= 1
        // One preparation is needed, and binding values takes some of that time too.
        let saved = Double(counts.prepareTime) * (1 - 1 / Double(counts.preparations))
        var finding = Finding(
            rule: id, ruleName: name,
            title: isSame
                ? "Keep the statement of the fetch of \(entity: entity) prepared"
                : "Use one statement text for all values of the fetch of \(entity: entity)",
            change: fetch.key.site,
            severity: Severity.of(Double(counts.preparations), warning: Self.minimumPreparations.value, error: 1000),
            fix: isSame
                ? "A prepared statement is discarded when its connection is closed, when the schema changes, or when "
                    + "hundreds of other statements ran in between. Keep the container, and do not change the schema "
                    + "while the program works."
                : "Limits and offsets are part of a statement's text, so each value makes a new one. Page by the last "
                    + "value shown, not by offset, and use few different limits.",
            code: isSame ? [] : ["request.predicate = PropertyPath(\"key\") > last", "request.fetchLimit = 50"],
            saving: Saving(time: .init(median: saved, low: saved / 2, high: saved)),
            confidence: .medium("some of the preparations may remain"),
            signature: fetch.signature(id, ""))
        finding.scopes = counts.scopes.names
        let most: Wording =
            (texts.count == StatementTable.capacity ? "at least " : "") + "\(plain: UInt64(texts.count)) texts"
        finding.explanation = [
            "\(count: counts.preparations, "preparation") for \(count: counts.executions, "fetch", plural: "fetches")"
                + (isSame ? "" : " with \(most)")
                + " took \(duration: counts.prepareTime) of \(duration: counts.time)."
        ]
        finding.evidence = [
            Evidence("executions", counts.executions, .count), Evidence("preparations", counts.preparations, .count),
            Evidence("texts", Double(texts.count), .count), Evidence("prepareTime", counts.prepareTime, .nanoseconds),
            Evidence("fetchTime", counts.time, .nanoseconds),
        ]
        finding.claims = [Claim.loads(fetch.key, profile)]
        finding.weigh(
            isLongEnough: Significance.isMet(
                saving: saved, wallTime: profile.wallTime(of: counts.scopes.keys), isMainThread: fetch.isOnMainThread),
            isLargePart: false, of: "preparations")
        return finding
    }
}

extension PreparationRule {
    var needs: Set<TraceGap.Kind> { [.counters] }

    var thresholds: [Threshold] {
        [Self.minimumPreparations, Self.minimumShare, Self.minimumRunShare]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R21 reports fetches of one shape and line that prepare at least half of their statements, at least "
                + "\(Phrase.count(PreparationRule.minimumPreparations.count)) times, and spend at least "
                + "\(PreparationRule.minimumShare.text) of their time on it. In a program without an object store, it "
                + "reports statements at one line that are prepared for at least half of their runs, at least as "
                + "often, and take at least that share of the time of both, or \(Self.minimumRunShare.text) of the run.",
            evidence:
                "The finding gives the preparations, the fetches, the number of different texts, and the time spent "
                + "preparing.",
            fix:
                "Use one statement text for all values: page by key instead of by offset, and use few different "
                + "limits. Or keep the container. Elsewhere, keep the statement, or let the library's cache find it: with parameters "
                + "instead of values in its text. If pragmas show that the program opened at least as many connections, keep those.",
            saving: "The saving is the time of all preparations but one.",
            guards: [
                "R21 ignores a statement that is prepared once and kept, however long that takes.",
                "In a program without an object store, the slowest tenth of the preparations and of the runs count as if they took "
                    + "as long as the slowest of the others: a thread that waits for a CPU takes a thousand times as long.",
                "The finding is a note if it saves less than 1 % of the time that the work took and less than 2 ms.",
            ])
    }
}

/// The findings about statements of programs without an object store.
extension PreparationRule {
    /// A list of any length in a text that stays the same (https://sqlite.org/json1.html#jeach).
    private static let listCode = ["… IN (SELECT value FROM json_each(?))  -- one JSON array for the list"]

    private static func fix(_ library: StatementLibrary?) -> Wording {
        if let library, library != .grdb {
            return
                "Python keeps a prepared statement as long as its connection is open, and finds it by its text. So pass values "
                + "as parameters (\(code: "?")) and not in the text, and keep the connection open."
        }
        return
            "Reset it after each run instead of finalizing it. A library that keeps statements finds it again if its text is "
            + "the same, so pass values as parameters and not in the text. If a library opens a connection for each "
            + "transaction, let it keep connections in a pool."
    }

    func finding(
        for statement: StatementSite, _ times: PreparationEvidence, minimumShare: Double = Self.minimumShare.value,
        _ library: StatementLibrary?, _ profile: Profile
    ) -> Finding? {
        let preparations = times.preparations
        // A process cannot keep the statements of another.
        guard times.executions > profile.allProcesses.processes, preparations >= Self.minimumPreparations.count,
            2 * preparations >= times.executions,
            times.share >= minimumShare
                || times.typicalPrepareTime >= Self.minimumRunShare.value * Double(max(1, profile.wallTime))
        else { return nil }
        let text = StatementText(statement.sql)
        let saved = times.typicalPrepareTime * (1 - 1 / Double(preparations))
        var finding = Finding(
            rule: id, ruleName: name, title: "Keep this statement prepared, and bind other values to it",
            change: statement.site,
            severity: Severity.of(Double(preparations), warning: Self.minimumPreparations.value, error: 1000),
            fix: Self.fix(library),
            code: statement.sql.contains("IN (…)") ? Self.listCode : [],
            saving: Saving(time: .init(median: saved, low: saved / 2, high: saved)),
            confidence: .medium("some of the preparations may remain"),
            signature: [id, text.summary, statement.site?.function ?? ""].joined(separator: "|"))
        finding.codeLanguage = "sql"
        finding.seenAt = [Finding.Sighting(site: statement.site, count: times.executions, time: times.time)]
        finding.subjects = [.statement(statement.sql)]
        finding.explanation = [
            "\(count: preparations, "preparation") for \(count: times.executions, "run") of "
                + "\(code: Phrase.shortened(text.summary, to: 90)) took \(duration: times.prepareTime), and the runs "
                + "\(duration: times.time)."
        ]
        finding.evidence = [
            Evidence("executions", times.executions, .count), Evidence("preparations", preparations, .count),
            Evidence("prepareTime", times.prepareTime, .nanoseconds), Evidence("time", times.time, .nanoseconds),
        ]
        finding.claims = [Claim(account: .preparing(statement), balance: Double(times.prepareTime))]
        finding.remedy = .statement(
            StatementChange(
                sql: statement.sql, executions: times.executions, rows: times.rows,
                time: times.prepareTime &+ times.time, kind: .prepared))
        finding.weigh(
            isLongEnough: Significance.isMet(saving: saved, wallTime: profile.wallTime, isMainThread: false),
            isLargePart: false, of: "preparations")
        return finding
    }
}

/// Gathers the times of preparing and running each statement, outside any operation of an object store.
struct PreparationDetector: EvidenceDetector {
    static let name = "preparations"
    static let kinds: Set<EventKind> = [.sql]
    /// The most statements and lines to keep.
    private static let capacity = 8192

    var evidence: [StatementSite: PreparationEvidence] = [:]

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        // A library's BEGIN and COMMIT are not in the program's hands.
        guard case .sql(let statement) = event.detail, event.parent == 0, [.read, .write].contains(statement.type),
            let sql = context.dictionary.statement(statement.statement)?.sql
        else { return }
        let key = StatementSite(sql: sql, site: context.stackSite(of: event))
        guard hasRoom(for: key, among: Self.capacity) else { return }
        evidence[key, default: PreparationEvidence()].add(statement, event)
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}
}

extension Profile {
    /// The times of preparing and running statements, outside any operation of an object store.
    var preparations: [(key: StatementSite, evidence: PreparationEvidence)] {
        evidence(of: PreparationDetector.self)
    }
}

/// The times of preparing and running one statement at one line.
struct PreparationEvidence: Sendable {
    var rows: UInt64 = 0
    var preparations: UInt64 = 0
    private var runSpeeds = Speeds()
    private var prepareSpeeds = Speeds()

    init() {}
}

extension PreparationEvidence {
    var executions: UInt64 { runSpeeds.count }
    /// The runs' time in SQLite, in nanoseconds.
    var time: UInt64 { runSpeeds.time }
    /// The time spent preparing, in nanoseconds.
    var prepareTime: UInt64 { prepareSpeeds.time }

    mutating func add(_ statement: TraceEvent.Statement, _ event: TraceEvent) {
        rows &+= UInt64(statement.rows)
        runSpeeds.add(event.timeWithoutLockWait)
        guard statement.preparations > 0 else { return }
        preparations &+= UInt64(statement.preparations)
        prepareSpeeds.add(statement.prepare)
    }

    /// The time spent preparing without its outliers, in nanoseconds.
    ///
    /// A thread that waits for a CPU while it prepares a statement takes a thousand times as long.
    var typicalPrepareTime: Double { prepareSpeeds.typicalTime }

    /// The share of preparing in the time of preparing and running, both without their outliers.
    var share: Double {
        let both = typicalPrepareTime + runSpeeds.typicalTime
        return both > 0 ? typicalPrepareTime / both : 0
    }
}

extension PreparationEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<PreparationEvidence>] = [
        .sum("rows", \.rows), .sum("preparations", \.preparations),
        .part("runSpeeds", \.runSpeeds), .part("prepareSpeeds", \.prepareSpeeds),
    ]
}
