import ArgumentParser
import FaultlineAnalysis
import FaultlineReport

/// Describes a rule: what it looks for, and what it ignores.
struct ExplainCommand: AnalyzingCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Describes a rule: what it looks for, what it advises, and what it ignores.",
        discussion: "Without a number it lists the rules.")

    @Argument(help: "The rule's number, as in a report or an inspection: R02, S01.")
    var rule: String?

    @OptionGroup var options: AnalysisOptions

    func work() throws {
        let width = Terminal.output.width
        guard let rule else {
            return try Terminal.output.write(RuleText.list(width: width))
        }
        guard let found = RulePage.all.first(where: { $0.id.lowercased() == rule.lowercased() }) else {
            let numbers = RulePage.all.map(\.id).joined(separator: ", ")
            throw CommandFailure.usage(
                "There is no rule \"\(rule)\"; the rules are \(numbers). \"faultline explain\" lists them with their names."
            )
        }
        try Terminal.output.write(RuleText.page(of: found, width: width))
    }
}

/// The text of rules.
enum RuleText {
    static func list(width: Int) -> String {
        let general = Thresholds.all.filter { $0.rule == "significance" }.map(sentence)
        return RulePage.all.map { "\($0.id)  \($0.name)\n" + paragraph($0.purpose, width) }.joined()
            + "\nWords\n" + items(words, width)
            + "\nSignificance: when a finding is a warning, not a note (in --thresholds: \"significance\")\n"
            + items(general, width)
    }

    /// The terms that the pages use.
    private static let words = [
        "trip, or round trip: one statement that SQLite runs for the store.",
        "fault: an object or a relationship whose values are not in memory. Reading it fires it; the row cache then "
            + "serves it, or else a trip does (a cache miss).",
        "realized: having its values in memory; the opposite of a fault.",
        "row cache: the rows that the store keeps in memory, shared by all contexts.",
        "shape: a request without its values.",
        "scope: the work of one screen, request or job, which the program marks with Faultline.scope.",
        "occasion: one scope or, outside scopes, work without a pause. A pause lasts at least 5 ms and four times as long "
            + "as a fetch in R04, and at least 100 ms in R10 and R18.",
        "call site: the line of the program that caused an event, such as List.swift:42.",
        "score: from 0 to 100, the extent of a problem. From 25 on it is a warning, from 75 on an error. A report lists "
            + "findings by severity, and then by the time that they save.",
        "confidence: how far a predicted saving can be trusted: high, medium or low. A report says why it is low.",
    ]

    static func page(of rule: RulePage, width: Int) -> String {
        let manual = rule.manual
        let parts = [
            ("What it looks for", manual.trigger), ("What a finding is based on", manual.evidence),
            ("What to do", manual.fix), ("What it saves", manual.saving),
        ]
        let sections = parts.map { "\n\($0)\n" + paragraph($1, width) }.joined()
        return "\(rule.id) \(rule.name)\n" + paragraph(rule.purpose, width) + sections + "\nExceptions\n"
            + items(manual.guards, width) + thresholds(of: rule, width)
    }

    /// The thresholds that a user can set, with their names in a thresholds file.
    private static func thresholds(of rule: RulePage, _ width: Int) -> String {
        rule.thresholds.isEmpty ? "" : "\nWhat --thresholds can set\n" + items(rule.thresholds.map(sentence), width)
    }

    /// A threshold as a line: `minimumRows (500): minimum rows of a table that is worth an index`.
    private static func sentence(_ threshold: Threshold) -> String {
        "\(threshold.name) (\(threshold.text)): \(threshold.meaning)"
    }

    private static func items(_ texts: [String], _ width: Int) -> String {
        texts.map { text in
            paragraph(text, width - 2).split(separator: "\n").enumerated().map {
                ($0 == 0 ? "  - " : "    ") + $1.dropFirst(2) + "\n"
            }.joined()
        }.joined()
    }

    private static func paragraph(_ text: String, _ width: Int) -> String {
        TextTable.wrapped(text, width: width - 2).map { "  \($0)\n" }.joined()
    }
}
