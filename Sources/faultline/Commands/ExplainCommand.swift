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
