internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R24: the limits of the trace's evidence.
struct TraceQualityRule: Rule {
    static let number = "R24"
    /// The minimum share of lost events that turns all findings into notes.
    static let lossLimit = Threshold(
        number, "lostShare", 0.01, .share, "share of lost events at which all findings become notes")

    let id = TraceQualityRule.number
    let name = "Trace quality"
    let purpose = "The completeness of the trace, and the cost of recording."
    let kinds: Set<EventKind> = []

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        let all = profile.allProcesses
        let totals = all.counts
        let (lost, unwritten) = (profile.lost, profile.unwritten)
        let (entriesLost, usesLost) = (all.entriesLost, all.usesLost)
        let lostShare = profile.lossShare
        let overheadShare = profile.overheadShare
        let truncatedShare = Self.share(totals.truncatedStacks, of: totals.eventsWithStack)
        var severity = Severity.note
        var limits: [Wording] = []
        let limit = { (sentence: Wording, worst: Severity) in
            limits.append(sentence)
            severity = max(severity, worst)
        }
        if totals.eventCount == 0 { limit("The trace is empty, so it says nothing about the program.", .error) }
        for sentence in Self.sentences(all.gaps) { limit(sentence, .note) }
        for sentence in Self.losses(profile) { limit(sentence, lostShare >= Self.lossLimit.value ? .error : .warning) }
        if unwritten > 0 {
            limit("\(count: unwritten, "line") could not be written: counts and times are too low.", .warning)
        }
        if profile.removed > 0 {
            limit(
                "\(count: profile.removed, "earlier event") \(profile.removed == 1 ? "was" : "were") removed to keep "
                    + "the trace below its maximum size: the report is about the end of the run.", .note)
        }
        if profile.unread > 0 {
            limit(
                "\(count: profile.unread, "damaged part") of the trace could not be read: counts and times are too "
                    + "low.", .warning)
        }
        if entriesLost > 0 {
            limit(
                "\(count: entriesLost, "name") \(entriesLost == 1 ? "was" : "were") lost: some events have no name or line.",
                .warning)
        }
        let nameless = Self.nameless(profile)
        if nameless > 0 {
            limit(
                "\(count: nameless, "event") \(nameless == 1 ? "refers" : "refer") to names that the trace does not "
                    + "have: their dictionary was overwritten or lost.", .warning)
        }
        if usesLost > 0 {
            limit("The use of \(count: usesLost, "result") was lost: batch sizes are evaluated without it.", .warning)
        }
        for sentence in Self.endings(profile, all) { limit(sentence, .note) }
        if overheadShare >= 0.03 {
            limit(
                "Recording took \(percent: overheadShare) of the run, so the shortest events look longer than they were.",
                .warning)
        }
        if truncatedShare >= 0.01 {
            limit(
                "\(percent: truncatedShare) of the stacks are cut short: some lines may be those of a library.",
                .warning)
        }
        if Self.share(totals.unresolvedStacks, of: totals.eventsWithStack) >= 0.01 {
            limit(
                "\(count: totals.unresolvedStacks) of \(count: totals.eventsWithStack, "stack") "
                    + "\(totals.unresolvedStacks == 1 ? "has" : "have") no line of the program; if it was stripped, record a build with symbols.",
                Self.share(totals.unresolvedStacks, of: totals.eventsWithStack) >= 0.1 ? .warning : .note)
        }
        if totals.openUses > 0 {
            limit(
                "\(count: totals.openUses, "result") \(totals.openUses == 1 ? "was" : "were") still in use at the "
                    + "end: values that were not read yet may have been read later.", .note)
        }
        if totals.events[.fetch, default: 0] > 0, totals.events[.use] == nil, !all.lacks(.use) {
            limit("The use of results was not recorded: batch sizes and unread values cannot be evaluated.", .warning)
        }
        if !all.lacks(.exactTimes), totals.overlaps > 0 {
            limit(
                "\(count: totals.overlaps, "event") \(totals.overlaps == 1 ? "begins" : "begin") before the previous "
                    + "event of the same thread has ended: the clock was changed during the recording, and times "
                    + "cannot be trusted.", .warning)
        }
        for sentence in Self.scopes(profile) { limit(sentence, .note) }
        for sentence in Self.settings(profile) { limit(sentence, .note) }
        if totals.events[.scope] == nil, totals.eventCount > 0, !all.lacks(.operations) {
            limit(
                "No scope was marked, so pauses and the lifetimes of fetches stand in for screens and requests.", .note)
        }
        return outcome(
            profile, totals, severity: severity, limits: limits,
            evidence: [
                Evidence("events", totals.eventCount, .count), Evidence("lost", lost, .count),
                Evidence("unwritten", unwritten, .count), Evidence("unread", profile.unread, .count),
                Evidence("entriesLost", entriesLost, .count),
                Evidence("usesLost", usesLost, .count), Evidence("lostShare", lostShare, .share),
                Evidence("overhead", totals.overhead, .nanoseconds), Evidence("overheadShare", overheadShare, .share),
                Evidence("writing", profile.writing, .nanoseconds),
                Evidence("truncatedStacks", totals.truncatedStacks, .count),
                Evidence("unresolvedStacks", totals.unresolvedStacks, .count),
                Evidence("eventsWithoutSite", totals.eventsWithoutSite, .count),
                Evidence("eventsOutsideScopes", totals.eventsOutsideScopes, .count),
                Evidence("openUses", totals.openUses, .count),
                Evidence("unclosedProcesses", all.unclosed, .count),
            ])
    }

    /// The minimum number of statements with which Django logs others.
    private static let fewLogged: UInt64 = 10

    /// Sentences about settings of Python programs that distort what the trace shows.
    private static func settings(_ profile: Profile) -> [Wording] {
        var sentences: [Wording] = []
        // DatabaseOperations.last_executed_query has SQLite write the values of each statement as text.
        let logging = profile.statementHotspots.filter { $0.sql.uppercased().hasPrefix("SELECT QUOTE(") }.flatMap(
            \.groups)
        let statements = logging.reduce(0) { $0 &+ $1.count }
        if statements >= fewLogged {
            let time = logging.reduce(0) { $0 &+ $1.totalTime }
            sentences.append(
                "Django logs its statements, with \(count: statements, "statement") of its own (\(duration: time)): set "
                    + "\(code: "DEBUG = False") before measuring.")
        }
        let peak = profile.allocations.reduce(0) { $0 &+ $1.sum.atPeak }
        let resident = profile.programMemory.map(\.memory.resident).max() ?? 0
        let isPython = profile.allocations.contains { path, _ in
            path.functions.contains { $0.fileName.hasSuffix(".py") }
        }
        if isPython, peak < resident / 2 {
            sentences.append(
                "Python takes blocks of up to 512 bytes from larger ones, which hides the lines that allocate them: record with "
                    + "\(code: "PYTHONMALLOC=malloc") to see them.")
        }
        return sentences
    }

    /// The events whose threads could not get a buffer, as far as the processes are known.
    private static func withoutBuffer(_ profile: Profile) -> UInt64 {
        profile.processes.reduce(0) { $0 &+ ($1.ended?.withoutRing ?? 0) }
    }

    /// Sentences about lost events, by the reasons for the loss.
    private static func losses(_ profile: Profile) -> [Wording] {
        let withoutBuffer = withoutBuffer(profile), full = profile.lost - min(profile.lost, withoutBuffer)
        let failures = Set(profile.processes.compactMap(\.ended?.ringFailure).filter { !$0.isEmpty }).sorted()
        let reason = failures.isEmpty ? "" : " (\(failures.joined(separator: ", ")))"
        var sentences: [Wording] = []
        if full > 0 {
            sentences.append(
                "\(count: full, "event") (\(percent: profile.lossShare * share(full, of: profile.lost))) "
                    + "\(full == 1 ? "was" : "were") lost because the buffers were full: counts and times are too low.")
        }
        if withoutBuffer > 0 {
            sentences.append(
                "\(count: withoutBuffer, "event") \(withoutBuffer == 1 ? "was" : "were") lost because their threads could "
                    + "not get a buffer\(reason): counts and times are too low.")
        }
        return sentences
    }

    /// The advice for a trace that lacks much.
    private static func remedy(_ profile: Profile) -> Wording {
        let withoutBuffer = withoutBuffer(profile)
        return withoutBuffer > 0 && withoutBuffer >= profile.lost
            ? "Record again where the program can create buffers." : "Record again with larger buffers, or record less."
    }

    private func outcome(
        _ profile: Profile, _ totals: ProfileCounts, severity: Severity, limits: [Wording], evidence: [Evidence]
    ) -> RuleOutcome {
        var finding = Finding(
            rule: id, ruleName: name,
            title: limits.isEmpty ? "The trace is complete" : "Note what the trace does not show",
            severity: severity, fix: severity > .note ? Self.remedy(profile) : "",
            saving: Saving(), confidence: .high, signature: id)
        finding.evidence = evidence
        finding.explanation = limits
        let examined: Wording =
            "\(count: totals.eventCount, "event") of "
            + "\(count: profile.allProcesses.processes, "process", plural: "processes")"
        return RuleOutcome(findings: [finding], examined: examined, obstacles: limits)
    }

    /// The number of events whose entity or statement has no name in the trace.
    private static func nameless(_ profile: Profile) -> UInt64 {
        profile.groups.reduce(0) { sum, group in
            let isNameless: Bool =
                switch (group.key.kind, group.key.subject) {
                case (.fetch, .unknown), (.batch, .unknown), (.fault, .unknown), (.cacheMiss, .unknown),
                    (.sql, .unknown):
                    true
                default: false
                }
            return sum &+ (isNameless ? group.count : 0)
        }
    }

    /// Sentences about the data that the recordings lack, and how to get it.
    private static func sentences(_ gaps: Set<TraceGap>) -> [Wording] {
        let isInferred = gaps.contains { $0.kind == .certainOrigins }
        let open = TraceGap.Kind.allCases.filter { kind in
            ![.certainOrigins, .exactTimes, .shortDurations].contains(kind)
                && gaps.contains { $0.kind == kind && $0.remedy.isEmpty }
        }
        var sentences: [Wording] = []
        // A program without an object store is not a fault of its trace, and the list of rules mentions it.
        if !open.isEmpty, open != [.operations] {
            let names = open.flatMap(\.names)
            let list =
                names.count == 1 ? names[0] : names.dropLast().joined(separator: ", ") + " or " + names[names.count - 1]
            sentences.append(
                "The trace has no \(list)."
                    + (isInferred ? " The fetch behind a fault is inferred from the statements." : ""))
        }
        if gaps.contains(where: { $0.kind == .shortDurations }) {
            sentences.append("Durations are whole milliseconds, so the sum of many short ones can be far off.")
        }
        let others = gaps.filter { !$0.remedy.isEmpty }.ordered {
            ($0.remedy, $0.kind.rawValue) < ($1.remedy, $1.kind.rawValue)
        }
        if !others.isEmpty {
            let list = others.map(\.remedy).uniqued.map { remedy in
                let names = others.filter { $0.remedy == remedy }.map(\.kind.name)
                return "\(names.joined(separator: " and no ")) (\(remedy) logs them)"
            }
            sentences.append("It has no \(list.joined(separator: " and no ")).")
        }
        return sentences
    }

    /// Sentences about scopes whose beginning or end is missing from the trace.
    private static func scopes(_ profile: Profile) -> [Wording] {
        // Files of the first version do not have the number of closed scopes.
        let scopes = profile.scopes.map { (begun: $0.count, ended: max($0.ends, $0.wallTimes.count)) }
        let open = scopes.reduce(0) { $0 &+ $1.begun - min($1.begun, $1.ended) }
        let unbegun = scopes.reduce(0) { $0 &+ $1.ended - min($1.begun, $1.ended) }
        let ends = [(open, "end"), (unbegun, "beginning")].filter { $0.0 > 0 }.map { count, end -> Wording in
            "\(count: count, "scope") \(count == 1 ? "has" : "have") no \(end) in the trace"
        }
        guard !ends.isEmpty else { return [] }
        let unknown: Wording =
            open &+ unbegun == 1
            ? "its duration, and which objects outlived it, are unknown."
            : "their durations, and which objects outlived them, are unknown."
        return [ends.joined(separator: ", ") + ": " + unknown]
    }

    /// Sentences about processes that did not close their recordings.
    private static func endings(_ profile: Profile, _ all: ProgramSummary) -> [Wording] {
        let processes = profile.processes.filter { !$0.isClosed }
        guard processes.isEmpty else {
            return processes.map { process -> Wording in
                process.ended == nil
                    ? "Process \(String(process.process)) has no end in the trace: the trace was cut short, or is "
                        + "still being written."
                    : process.ended?.isRunning == true
                        ? "Process \(String(process.process)) was still running when the recording ended: its later "
                            + "work is not in the trace."
                        : "Process \(String(process.process)) was killed: the trace has all work that it had "
                            + "finished, but nothing that was in progress."
            }
        }
        guard all.unclosed > 0 else { return [] }
        return [
            "\(count: all.unclosed) of \(count: all.processes) processes were killed or have no end in their "
                + "traces: the traces lack the work that was in progress."
        ]
    }

    private static func share(_ part: UInt64, of whole: UInt64) -> Double {
        whole == 0 ? 0 : Double(part) / Double(whole)
    }
}

extension TraceQualityRule {
    var thresholds: [Threshold] {
        [Self.lossLimit]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R24 reports lost events and names, lines that could not be written, processes without an end, "
                + "recording that took at least 3 % of the time, at least 1 % truncated stacks, events of one thread "
                + "that overlap because the clock was changed, and scopes without a beginning or an end.",
            evidence: "The finding gives the recorded events, the lost events, and the time of recording.",
            fix:
                "Use larger buffers, record less or for a shorter time, and follow the warning at the top of the report.",
            saving: "R24 predicts no saving: it describes how far the other findings can be trusted.",
            guards: [
                "R24 is always evaluated, and appears at the top of the report.",
                "A finding becomes a note if events were lost in at least half of its scopes. All findings become "
                    + "notes if at least \(Self.lossLimit.text) of the events were lost.",
            ])
    }
}
