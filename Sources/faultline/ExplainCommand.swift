import ArgumentParser
import FaultlineAnalysis
import FaultlineReport

/// Tells what a rule looks for, and what it leaves alone.
struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Tells what a rule looks for, what it advises, and what it leaves alone.",
        discussion: "Without a number it lists the rules.")

    @Argument(help: "The rule's number, as a report or an inspection has it: R02, S01.")
    var rule: String?

    func run() throws {
        let width = Terminal.output.width
        guard let rule else {
            return try Terminal.output.write(RuleText.list(width: width))
        }
        guard let found = RulePage.all.first(where: { $0.id.lowercased() == rule.lowercased() }) else {
            let numbers = RulePage.all.map(\.id).joined(separator: ", ")
            throw CommandFailure.usage("There is no rule \"\(rule)\"; the rules are \(numbers).")
        }
        try Terminal.output.write(RuleText.page(of: found, width: width))
    }
}

/// Rules in words.
enum RuleText {
    static func list(width: Int) -> String {
        RulePage.all.map { "\($0.id)  \($0.name)\n" + paragraph($0.purpose, width) }.joined()
    }

    static func page(of rule: RulePage, width: Int) -> String {
        let manual = rule.manual
        let parts = [
            ("What it looks for", manual.trigger), ("What a finding rests on", manual.evidence),
            ("What to do", manual.fix), ("What it saves", manual.saving),
        ]
        let sections = parts.map { "\n\($0)\n" + paragraph($1, width) }.joined()
        let guards = manual.guards.map { guardText in
            paragraph(guardText, width - 2).split(separator: "\n").enumerated().map {
                ($0 == 0 ? "  - " : "    ") + $1.dropFirst(2) + "\n"
            }.joined()
        }
        return "\(rule.id) \(rule.name)\n" + paragraph(rule.purpose, width) + sections + "\nWhat it leaves alone\n"
            + guards.joined()
    }

    private static func paragraph(_ text: String, _ width: Int) -> String {
        TextTable.wrapped(text, width: width - 2).map { "  \($0)\n" }.joined()
    }
}
