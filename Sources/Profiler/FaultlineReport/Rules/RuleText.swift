internal import FaultlineFindings
internal import FaultlineProfile
package import FaultlineRules

/// The manual pages of rules as text for a terminal.
package enum RuleText {
    /// A section of a page: a heading, with a paragraph or a list below it.
    package struct Section {
        package var heading: String
        package var paragraph = ""
        package var items: [String] = []
    }

    /// The sections of a rule's page, which all formats share.
    package static func sections(of rule: RulePage) -> [Section] {
        let manual = rule.manual
        var sections = [
            Section(heading: "What it looks for", paragraph: manual.trigger),
            Section(heading: "What a finding is based on", paragraph: manual.evidence),
            Section(heading: "What to do", paragraph: manual.fix),
            Section(heading: "What it saves", paragraph: manual.saving),
            Section(heading: "Exceptions", items: manual.guards),
        ]
        if !rule.thresholds.isEmpty {
            sections.append(
                Section(heading: "What --thresholds can set", items: rule.thresholds.map(sentence)))
        }
        return sections
    }

    /// Returns a rule's page, with a trailing line feed.
    package static func page(of rule: RulePage, width: Int) -> String {
        "\(rule.id) \(rule.name)\n" + paragraph(rule.purpose, width)
            + sections(of: rule).map { section in
                let body = section.items.isEmpty ? paragraph(section.paragraph, width) : items(section.items, width)
                return "\n\(section.heading)\n" + body
            }.joined()
    }

    /// Returns the list of the rules, the words that their pages use, and the thresholds that they share.
    package static func list(width: Int) -> String {
        let general = Thresholds.all.filter { $0.rule == "significance" }.map(sentence)
        return RulePage.all.map { "\($0.id)  \($0.name)\n" + paragraph($0.purpose, width) }.joined()
            + "\nWords\n" + items(words, width)
            + "\nSignificance: when a finding is a warning, not a note (in --thresholds: \"significance\")\n"
            + items(general, width)
    }

    /// The terms that the pages use.
    package static let words = [
        "trip, or round trip: one statement that the store sends to SQLite to read or write rows; in other programs, one that reads rows.",
        "fault: an object or a relationship whose values are not in memory. Reading it fires it; the row cache then "
            + "serves it, or else a trip does (a cache miss).",
        "realized: having its values in memory; the opposite of a fault.",
        "row cache: the rows that the store keeps in memory, shared by all contexts.",
        "shape: a request without its values.",
        "scope: the work of one screen, request or job, which the program marks with Faultline.scope.",
        "occasion: one scope or, outside scopes, work without a pause. A pause lasts at least 5 ms and four times as long "
            + "as a fetch in R04, and at least 100 ms in R10 and R18.",
        "call site: the line of the program that caused an event, such as List.swift:42.",
        "severity: error, warning or note. Only a failure, or a finding that saves at least 5 % of the run and 10 ms, is an error. A report lists "
            + "findings by severity, and then by the time that they save.",
        "confidence: how far a predicted saving can be trusted: high, medium or low. A report says why it is low.",
    ]

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
        Phrase.wrapped(text, width: width - 2).map { "  \($0)\n" }.joined()
    }
}
