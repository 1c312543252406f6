internal import FaultlineDocuments
internal import FaultlineFindings
package import FaultlineProfile
public import FaultlineRules
internal import FaultlineTrace

/// A report as text for a terminal: the totals, what to change, and where the time went.
///
///     groceries: 4.21 s, 12,345 events, none lost; recording took 12.3 ms (0.3 %)
public struct TextReport: Sendable {
    let analysis: Analysis
    /// The maximum number of hotspots.
    static let hotspots = 8
    /// The number of findings shown in full, unless there are more errors.
    ///
    /// Others get one line each.
    static let fullFindings = 4
    /// Whether to show every finding in full, every hotspot, every projection and every rule that found nothing.
    let showsAll: Bool
    /// The hotspots to show in place of those by kind and line.
    let grouped: GroupedHotspots?

    /// A report with the findings and hotspots that fit a screen.
    public init(_ analysis: Analysis) { self.init(analysis, showsAll: false) }

    /// - Parameters:
    ///   - showsAll: Whether to show every finding in full, and every hotspot.
    ///   - grouped: The hotspots to show in place of those by kind and line, or `nil` for these.
    package init(_ analysis: Analysis, showsAll: Bool = false, grouped: GroupedHotspots? = nil) {
        self.analysis = analysis
        self.showsAll = showsAll
        self.grouped = grouped
    }

    /// Returns the report, with a trailing line feed.
    ///
    /// - Parameters:
    ///   - width: The maximum number of characters in a line, limited to 80–100 or, for the table of hotspots, to 80–120.
    ///   - colour: Whether to colour the text for a terminal.
    public func render(width: Int = 100, colour: Bool = false) -> String {
        let tableWidth = TextPage.width(width, atMost: 120)
        let width = TextPage.width(width)
        let ink = Ink(isColoured: colour)
        let findings = FindingsText(findings: analysis.findings, showsAll: showsAll)
        let unexplained = UnexplainedText(
            works: analysis.unexplained, showsAll: showsAll, isMean: analysis.profile.recordingCount > 1)
        var sections = [header(ink, width), findings.lines(ink, width), unexplained.lines(ink, width)]
        if analysis.profile.totals.eventCount > 0 {
            sections += [
                HotspotsText(analysis: analysis, showsAll: showsAll, grouped: grouped).lines(ink, tableWidth),
                requests(ink, tableWidth),
                StoreTimeText(analysis: analysis).lines(ink, width, showsAll: showsAll),
                CPUText(profile: analysis.profile, showsAll: showsAll).lines(ink, width),
                MemoryText(profile: analysis.profile, showsAll: showsAll).lines(ink, width),
                MigrationText(profile: analysis.profile, showsAll: showsAll).lines(ink, width),
                GrowthText(analysis: analysis, showsAll: showsAll).lines(ink, width),
            ]
        }
        return TextPage.joined(sections + [checks(ink, width)], ink)
    }

    /// The requests, tests and jobs of a program that has no store.
    private func requests(_ ink: Ink, _ width: Int) -> [String] {
        let profile = analysis.profile
        guard grouped == nil, !profile.scopes.isEmpty, profile.allProcesses.lacks(.operations) else { return [] }
        let scopes = GroupedHotspots(profile, by: .scope)
        return HotspotsText(analysis: analysis, showsAll: showsAll, grouped: scopes).lines(ink, width)
    }

    /// Returns the sections about migrations and findings alone, with a trailing line feed.
    package func migrations(width: Int, colour: Bool) -> String {
        let (ink, width) = (Ink(isColoured: colour), TextPage.width(width))
        return TextPage.joined(
            [
                MigrationText(profile: analysis.profile, showsAll: showsAll).lines(ink, width),
                FindingsText(findings: analysis.findings, showsAll: showsAll).lines(ink, width),
            ], ink)
    }

    private func header(_ ink: Ink, _ width: Int) -> [String] {
        let profile = analysis.profile
        let name = TextTable.shortened(Self.programs(profile).prefix(3).joined(separator: ", "), to: width / 2)
        let facts = Self.facts(profile)
        let lines = Phrase.wrapped("\(name.isEmpty ? "trace" : name): \(facts)", width: width)
        var text = [ink(.bold, lines[0])] + lines.dropFirst()
        for limit in analysis.quality?.explanation ?? [] {
            let wrapped = Phrase.wrapped(limit.text, width: width - 4)
            for (index, line) in wrapped.enumerated() {
                text.append((index == 0 ? "  ! " : "    ") + ink(.yellow, line))
            }
        }
        for total in Self.totals(analysis) {
            text += Phrase.wrapped(total, width: width - 4).enumerated().map { ($0 == 0 ? "  " : "    ") + $1 }
        }
        return text
    }

    /// The totals of the store, the CPU and the memory, as far as they were recorded: a line each.
    static func totals(_ analysis: Analysis) -> [String] {
        [
            StoreTimeText(analysis: analysis).summary, CPUText(profile: analysis.profile, showsAll: false).summary,
            MemoryText(profile: analysis.profile, showsAll: false).summary,
        ].compactMap(\.self)
    }

    /// A summary of the recording and its cost: `4.21 s, 12,345 events, none lost; recording took 12.3 ms (0.3 %)`.
    static func facts(_ profile: Profile) -> String {
        let totals = profile.totals
        let events = Phrase.count(totals.eventCount, "event")
        let processes = profile.allProcesses.processes
        let origin = processes > 1 ? " of \(Phrase.count(processes)) processes" : ""
        let traces = profile.recordingCount > 1 ? " in \(Phrase.count(profile.recordingCount)) traces" : ""
        // Without start times or durations it is not known how long it was.
        let isUntimed = profile.wallTime == 0 && profile.groups.contains { $0.untimed > 0 }
        var facts =
            profile.allProcesses.lacks(.startTimes) || isUntimed
            ? "\(events)\(origin)\(traces), " : "\(Phrase.duration(profile.wallTime))\(traces), \(events)\(origin), "
        let missing = missing(profile)
        facts += missing.isEmpty ? "none lost" : missing.joined(separator: ", ")
        if profile.removed > 0 { facts += ", \(Phrase.count(profile.removed)) earlier ones removed by --max-size" }
        let cost = totals.overhead
        if cost > 0 {
            let share = profile.wallTime > 0 ? " (\(Phrase.percent(profile.overheadShare)))" : ""
            facts += "; recording took \(Phrase.duration(cost))\(share)"
        }
        if profile.writing > 0 { facts += ", writing \(Phrase.duration(profile.writing))" }
        return facts
    }

    /// The parts that are missing from the trace.
    ///
    /// A line that could not be written may be a name, and a damaged part may be many events, so neither counts as lost
    /// events.
    private static func missing(_ profile: Profile) -> [String] {
        var missing: [String] = []
        if profile.lost > 0 { missing.append("\(Phrase.count(profile.lost)) lost") }
        if profile.unwritten > 0 { missing.append("\(Phrase.count(profile.unwritten, "line")) not written") }
        if profile.unread > 0 { missing.append("\(Phrase.count(profile.unread, "damaged part"))") }
        return missing
    }

    /// The programs' names without directories, in the order in which they started if that is known.
    static func programs(_ profile: Profile) -> [String] {
        let isAlone = profile.processes.count == 1
        let began = profile.processes.map { (path: $0.program, name: isAlone ? "" : "process \($0.process)") }
        let all = began.isEmpty ? profile.programs.map { (path: $0.path, name: "unknown programs") } : began
        let names = all.map { $0.path.split(separator: "/").last.map(String.init) ?? $0.name }
        return names.filter { !$0.isEmpty }.uniqued
    }

    /// The rules that found nothing, in one line unless all are shown, and what others could not examine.
    private func checks(_ ink: Ink, _ width: Int) -> [String] {
        showsAll ? allChecks(ink, width) : summaryOfChecks(ink, width)
    }

    private func summaryOfChecks(_ ink: Ink, _ width: Int) -> [String] {
        let all = analysis.checks.filter { $0.rule != "R24" }
        let found = all.count { $0.findings > 0 }
        let examined = all.count { $0.isApplicable && $0.findings == 0 && $0.examined != nil }
        let counts = [
            (found, "found something"), (examined, "found nothing"),
            (all.count - found - examined, "do not apply to this trace"),
        ].filter { $0.0 > 0 }.map { "\(Phrase.count($0)) \($1)" }
        let lists = [counts.dropLast().joined(separator: ", "), counts.suffix(1).joined()].filter { !$0.isEmpty }
        let words = "of \(Phrase.count(all.count)) rules, " + lists.joined(separator: " and ")
        let lines = Phrase.wrapped("\(words); --all lists them.", width: width - 9)
        var text = lines.enumerated().map { ($0 == 0 ? ink(.bold, "Checked") + ": " : "         ") + $1 }
        for check in all where check.isApplicable && !check.obstacles.isEmpty {
            let words = check.obstacles.map(\.text).joined(separator: " ")
            text += TextPage.item("\(check.rule) \(check.name): \(words)", width: width)
        }
        return text
    }

    private func allChecks(_ ink: Ink, _ width: Int) -> [String] {
        var text = [ink(.bold, "Checked")]
        func add(_ paragraph: String) {
            text += TextPage.item(paragraph, width: width)
        }
        let all = analysis.checks.filter { $0.rule != "R24" }
        let checks = all.filter(\.isApplicable)
        let isSilent = { (check: RuleCheck) in check.findings == 0 && check.obstacles.isEmpty }
        for check in checks where !isSilent(check) {
            let found = check.findings == 0 ? "nothing found" : Phrase.count(UInt64(check.findings), "finding")
            let looked = check.examined.map { "\($0): \(found)" } ?? "nothing to examine"
            add("\(check.rule) \(check.name): \(looked)")
            for obstacle in check.obstacles {
                text += Phrase.wrapped(obstacle.text, width: width - 6).map { "      " + ink(.dim, $0) }
            }
        }
        let silent = checks.filter(isSilent)
        // The JSON has what each of them examined.
        let examined = silent.filter { $0.examined != nil }.map { "\($0.rule) \($0.name)" }
        if !examined.isEmpty { add("Nothing found: " + examined.joined(separator: ", ")) }
        // Rules with nothing to examine need no explanation here; "faultline explain" has it.
        let idle = Self.runs(analysis.checks.map { silent.contains($0) && $0.examined == nil ? $0.rule : nil })
        if !idle.isEmpty { add("Not applicable to this trace: " + idle.joined(separator: ", ")) }
        let gaps = Set(all.filter { !$0.isApplicable }.flatMap(\.gaps)).ordered(on: \.kind.name)
        let missing = gaps.map { gap in
            let rules = Self.runs(
                analysis.checks.map { check in
                    all.contains(check) && !check.isApplicable && check.gaps.contains(gap) ? check.rule : nil
                })
            let remedy = gap.remedy.isEmpty ? "" : ", which \(gap.remedy) logs"
            return "\(rules.joined(separator: ", ")) (\(gap.kind.name)\(remedy))"
        }
        if !missing.isEmpty {
            add("Not applicable, because the trace lacks what they need: " + missing.joined(separator: ", "))
        }
        return text
    }

    /// The numbers of rules, with consecutive ones as `R01–R05`.
    private static func runs(_ rules: [String?]) -> [String] {
        rules.split(separator: nil).flatMap { run -> [String] in
            let run = run.compactMap(\.self)
            return run.count > 2 ? ["\(run[0])–\(run[run.count - 1])"] : run
        }
    }
}

extension Analysis: PageDocumented {
    package func text(_ layout: Layout) -> String {
        TextReport(self, showsAll: layout.showsAll, grouped: layout.grouped)
            .render(width: layout.width, colour: layout.isColoured)
    }

    package func json(_ layout: Layout) -> String { ReportJSON(self, grouped: layout.grouped).jsonText }
}
