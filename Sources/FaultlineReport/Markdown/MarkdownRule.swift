internal import FaultlineAnalysis

/// A rule's manual page in Markdown.
enum MarkdownRule {
    /// Returns the page, with a trailing line feed.
    static func page(of rule: RulePage) -> String {
        let sections = RuleText.sections(of: rule).flatMap { section in
            [
                ["### \(Markdown.text(section.heading))"],
                section.items.isEmpty
                    ? [Markdown.text(section.paragraph)] : section.items.map { "- " + Markdown.text($0) },
            ]
        }
        return Markdown.page([[Markdown.text(rule.purpose)]] + sections)
    }
}
