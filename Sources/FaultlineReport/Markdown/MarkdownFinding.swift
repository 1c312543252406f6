internal import FaultlineAnalysis

/// A finding in Markdown: what to do, why, the code, and the evidence.
struct MarkdownFinding {
    let finding: Finding
    let number: Int

    var blocks: [[String]] {
        [
            ["#### \(number). \(Markdown.text(finding.title))"],
            [
                "**\(finding.severity.name)** · \(finding.rule) \(Markdown.text(finding.ruleName)) · "
                    + Markdown.site(finding.change)
            ],
        ] + body + [evidence]
    }

    /// The finding without its heading and its evidence: why, what to do, the code, and the saving.
    var body: [[String]] {
        [
            [finding.explanation.map(Markdown.text).joined(separator: " ")].filter { !$0.isEmpty },
            [Markdown.text(finding.fix)].filter { !$0.isEmpty },
            finding.code.isEmpty
                ? []
                : Markdown.fence(
                    finding.code, language: finding.codeLanguage == "swift" ? nil : finding.codeLanguage),
            finding.alternatives.map { "- or: " + Markdown.text($0) },
            [remarks],
        ]
    }

    private var remarks: String {
        ([Markdown.text(FindingsText.saving(finding))] + finding.reservations.map(Markdown.text)).joined(separator: " ")
    }

    /// The evidence and the other places at which the problem was observed, in a collapsed section.
    private var evidence: [String] {
        let numbers = finding.evidence.map { [Markdown.code($0.name), Markdown.text($0.text)] }
        let sites = finding.seenAt.filter { $0.site != nil && $0.site != finding.change }.map { sighting in
            [Markdown.site(sighting.site), Phrase.count(sighting.count)]
        }
        guard !numbers.isEmpty || !sites.isEmpty else { return [] }
        let tables = [
            Markdown.table(["evidence", "value"], numbers: [1], numbers),
            Markdown.table(["observed at", "times"], numbers: [1], sites),
        ]
        // Markdown within an element needs an empty line around it.
        return ["<details><summary>Evidence</summary>"] + tables.filter { !$0.isEmpty }.flatMap { [""] + $0 }
            + ["", "</details>"]
    }
}

extension Evidence {
    /// The number with its unit, as in a sentence: `1,204`, `12.3 ms`, `41 %`.
    var text: String {
        switch unit {
        case .count, .rows, .trips: Phrase.decimal(value, places: value == value.rounded() ? 0 : 1)
        case .bytes: Phrase.size(value)
        case .nanoseconds: Phrase.duration(value)
        case .share: Phrase.percent(value)
        }
    }
}
