import ArgumentParser
import FaultlineReport
import FaultlineRules
import Foundation

/// Describes a rule, or explains a finding of a trace.
struct ExplainCommand: AnalyzingCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Describes a rule, or explains a finding of a trace.",
        discussion: """
            faultline explain
                Lists the rules.
            faultline explain R02
                Describes a rule: what it looks for, what it advises, and what it ignores.
            faultline explain trace.json 2
                Explains the second finding of the trace's report, with its slowest events and the source lines around it.
            """)

    @Argument(
        help: "The rule's number, as in a report or an inspection: R02, S01. Or a trace, or a profile of traces.",
        completion: .file())
    var subject: String?

    @Argument(help: "The finding's number in the trace's report, such as 2.")
    var finding: Int?

    @Option(
        name: .long,
        help: "The folder with the program's sources; no others are shown. Default: the current one.",
        completion: .directory)
    var sources: String?

    @OptionGroup var options: AnalysisOptions

    func work() throws {
        if let sources { try SourceFiles.check(sources) }
        let width = Terminal.output.width
        guard let subject else {
            return try Terminal.output.write(RuleText.list(width: width))
        }
        if let finding { return try explain(finding, of: subject) }
        guard let found = RulePage.all.first(where: { $0.id.lowercased() == subject.lowercased() }) else {
            if FileManager.default.fileExists(atPath: subject) {
                throw CommandFailure.usage(
                    "\"\(subject)\" is a file, not a rule; add the number of a finding of its report: "
                        + "faultline explain \(subject) 1.")
            }
            if let nearest = RulePage.nearest(to: subject) {
                throw CommandFailure.usage(
                    "There is no rule \"\(subject)\"; did you mean \(nearest.id) (\(nearest.name))? \"faultline explain\" lists the "
                        + "rules.")
            }
            let numbers = RulePage.all.map(\.id).joined(separator: ", ")
            throw CommandFailure.usage(
                "There is no rule \"\(subject)\"; the rules are \(numbers). \"faultline explain\" lists them with their names."
            )
        }
        try Terminal.output.write(RuleText.page(of: found, width: width))
    }

    /// Explains a finding of a trace or a profile.
    private func explain(_ number: Int, of trace: String) throws {
        let loaded = try LoadedProfile(path: trace)
        for note in loaded.notes { Terminal.tell(note) }
        let findings = try Analysis(asking: nil, about: loaded.profile).findings
        try EventSelection<ToOption>.check(number, of: findings, in: trace)
        let finding = findings[number - 1]
        var events = FindingEvents(of: finding)
        let isProfile = LoadedProfile.isProfile(trace)
        if !isProfile {
            // The first pass has already printed the notes about the trace.
            var trace = try LoadedTrace(path: trace)
            _ = try trace.read { events.add($0) }
        }
        let (excerpts, remarks) = SourceFiles(root: sources ?? ".", paths: events.sourcePaths)
            .excerpts(of: finding, recorded: events.date)
        let page = FindingPage(
            findings, number: number, events: isProfile ? nil : events.events, excerpts: excerpts, remarks: remarks,
            next: NextStep.Input(file: trace, options.words).flatMap { .afterExplaining(number, of: $0) })
        let output = Terminal.output
        try output.write(page.render(width: output.width, colour: output.wantsColour))
    }
}

extension RulePage {
    /// Returns the rule that a word stands for, by its number without zeros (`R2`) or by its name (`batchsize`).
    fileprivate static func nearest(to word: String) -> RulePage? {
        func number(_ text: String) -> String {
            text.first.map { $0.uppercased() + text.dropFirst().drop { $0 == "0" } } ?? ""
        }
        func letters(_ text: String) -> String { text.filter { $0.isLetter || $0.isNumber } }
        if let page = all.first(where: { number($0.id) == number(word) }) { return page }
        // Digits that differ are another rule and not a mistake.
        guard word.count > 3, let name = NearestName.of(letters(word), in: all.map { letters($0.name) }) else {
            return nil
        }
        return all.first { letters($0.name) == name }
    }
}
