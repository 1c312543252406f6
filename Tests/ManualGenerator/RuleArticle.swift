import FaultlineReport
import FaultlineRules

/// A rule's page as an article of the documentation, with the text of `faultline explain`.
struct RuleArticle {
    let rule: RulePage

    /// The name of the file, to which `<doc:R02>` leads.
    var name: String { rule.id }

    var text: String {
        var lines = ["# \(rule.id) \(rule.name)", "", Markdown.prose(rule.purpose), ""]
        for section in RuleText.sections(of: rule) {
            lines += ["## \(Markdown.prose(section.heading))", ""]
            lines += section.items.isEmpty ? [Markdown.prose(section.paragraph)] : section.items.map(item)
            lines.append("")
        }
        return lines.dropLast().joined(separator: "\n") + "\n"
    }

    /// The article that lists the rules and the words that their pages use.
    static var index: String {
        let rules = RulePage.all.map { Markdown.row(["<doc:\($0.id)>", Markdown.prose($0.purpose)]) }
        return """
            # Rules

            What Faultline looks for, what it advises, and what it ignores.

            ## Overview

            `faultline explain R02` prints a page in the terminal. Rules whose numbers begin with S examine stores at rest.

            | rule | reports |
            | --- | --- |
            \(rules.joined(separator: "\n"))

            ## Words

            \(RuleText.words.map { "- " + Markdown.prose($0) }.joined(separator: "\n"))

            ## Topics

            \(RulePage.all.map { "- <doc:\($0.id)>" }.joined(separator: "\n"))

            """
    }

    /// A threshold's name is code: `minimumRows (500): …`.
    private func item(_ text: String) -> String {
        guard let threshold = text.wholeMatch(of: /([a-z][A-Za-z]+) (\([^)]*\): .*)/) else {
            return "- " + Markdown.prose(text)
        }
        return "- `\(threshold.output.1)` \(Markdown.prose(String(threshold.output.2)))"
    }
}
