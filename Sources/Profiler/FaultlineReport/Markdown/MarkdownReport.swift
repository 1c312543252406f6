internal import FaultlineDocuments
internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineRules
internal import FaultlineTrace

/// A report in Markdown: what was recorded, what to change, and where the store's time went.
struct MarkdownReport {
    let analysis: Analysis
    /// Whether to show every finding in full, and every hotspot.
    var showsAll = false
    /// The hotspots to show in place of those by kind and line.
    var grouped: GroupedHotspots?

    /// Returns the report, with a trailing line feed.
    func render() -> String {
        Markdown.page(
            [title, [Markdown.text(TextReport.facts(analysis.profile)) + "."], limits] + findings + unexplained
                + hotspots)
    }

    private var title: [String] {
        let programs = TextReport.programs(analysis.profile).prefix(3).map(Markdown.code)
        return ["## Faultline: " + (programs.isEmpty ? "trace" : programs.joined(separator: ", "))]
    }

    /// The limits of the trace.
    private var limits: [String] {
        let limits = analysis.quality?.explanation ?? []
        return limits.isEmpty ? [] : ["> [!NOTE]"] + limits.map { "> - " + Markdown.text($0) }
    }

    private var findings: [[String]] {
        let all = analysis.findings
        guard !all.isEmpty else { return [["No finding."]] }
        let full = FindingsText(findings: all, showsAll: showsAll).fullCount
        var blocks = [["### What to change"]]
        for (index, finding) in all.prefix(full).enumerated() {
            blocks += MarkdownFinding(finding: finding, number: index + 1).blocks
        }
        guard all.count > full else { return blocks }
        let rest = all.dropFirst(full).map { finding in
            "- \(finding.severity.name): \(finding.rule) \(Markdown.text(finding.title)), \(Markdown.site(finding.change))"
        }
        return blocks + [["### Also"], rest]
    }

    private var unexplained: [[String]] {
        let text = UnexplainedText(works: analysis.unexplained, showsAll: showsAll)
        guard !text.works.isEmpty else { return [] }
        let items = text.shown.map { work in
            let sentences = UnexplainedText.sentences(work).map { Markdown.text($0) }.joined(separator: " ")
            return "- \(Markdown.code(UnexplainedText.name(work))), \(Markdown.site(work.group.key.site)): \(sentences)"
        }
        return [["### \(UnexplainedText.heading)"], items]
    }

    private func table(_ grouped: GroupedHotspots) -> [[String]] {
        let heading = "### Hotspots by \(grouped.words)"
        guard !grouped.rows.isEmpty else { return [[heading], [grouped.absence]] }
        let shown = grouped.rows.prefix(showsAll ? .max : TextReport.hotspots)
        let times = GroupTimes(analysis.profile)
        let rows = shown.map { row in
            let cells = grouped.cells(row, times)
            return [Markdown.code(cells[0])] + cells.dropFirst()
        }
        let rest = grouped.rows.count - shown.count
        let remarks = (rest > 0 ? ["\(Phrase.count(UInt64(rest))) more"] : []) + [grouped.remark].compactMap(\.self)
        return [
            [heading], Markdown.table(grouped.titles, numbers: Set(1..<grouped.titles.count), rows),
            remarks.isEmpty ? [] : ["(\(remarks.joined(separator: "; ")))"],
        ]
    }

    private var hotspots: [[String]] {
        if let grouped { return table(grouped) }
        let groups = analysis.profile.hotspots
        let shown = groups.prefix(showsAll ? .max : TextReport.hotspots)
        let times = GroupTimes(analysis.profile)
        let rows = shown.map { group in
            [
                GroupText.kind(group.key), Markdown.code(GroupText.subject(group.key)), Phrase.count(group.count),
                times.text(group) { $0.percentile(50) }, times.text(group) { $0.percentile(99) },
                GroupText.rows(group), times.total(group),
                Markdown.site(group.key.site, unknown: "–"),
            ]
        }
        guard !rows.isEmpty else { return [] }
        let rest = groups.count - shown.count
        return [
            ["### Hotspots"],
            Markdown.table(
                ["kind", "what", "count", "p50", "p99", "rows", "total", "call site"], numbers: [2, 3, 4, 5, 6], rows),
            rest > 0 ? ["\(Phrase.count(UInt64(rest))) more."] : [],
        ]
    }
}

/// Markdown for comments on pull requests.
struct MarkdownRenderer: Renderer {
    let name = "markdown"
    let fileExtensions = ["md", "markdown"]
    let purpose = "for pull requests"

    func printer(of document: any Document.Type) -> Printer? {
        document is any MarkdownDocument.Type ? { ($0 as? any MarkdownDocument)?.markdown($1) ?? "" } : nil
    }
}

/// A document that has a form in Markdown.
protocol MarkdownDocument: Document {
    func markdown(_ layout: Layout) -> String
}

extension Analysis: MarkdownDocument {
    func markdown(_ layout: Layout) -> String {
        MarkdownReport(analysis: self, showsAll: layout.showsAll, grouped: layout.grouped).render()
    }
}

extension BudgetCheck: MarkdownDocument {
    func markdown(_ layout: Layout) -> String { MarkdownCheck(check: self).render() }
}

extension ProfileDiff: MarkdownDocument {
    func markdown(_ layout: Layout) -> String { MarkdownDiff(diff: self).render() }
}

/// Creates Markdown that no text in a trace can break.
///
/// The dialect is GitHub's (https://github.github.com/gfm). Names come from the recorded program. A vertical bar in a
/// name would end a table cell, a backtick would end a code span, and a tag would be HTML.
enum Markdown {
    /// Plain text, on one line, with all markup escaped.
    static func text(_ words: String) -> String {
        var escaped = ""
        for character in Phrase.printable(words).unicodeScalars {
            switch character {
            case "\\", "`", "*", "_", "[", "]", "#", "~", "$": escaped += "\\" + String(character)
            case "<", ">", "&", "|": escaped += entity(character)
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }

    /// A name or code in backticks.
    ///
    /// Text that backticks cannot hold everywhere becomes a `<code>` element. For example, a vertical bar ends a table
    /// cell even in a code span.
    static func code(_ code: String) -> String {
        let code = Phrase.printable(code)
        guard !code.isEmpty else { return "" }
        let isPlain = !code.unicodeScalars.contains { "`|".unicodeScalars.contains($0) } && code.contains { $0 != " " }
        if isPlain, code.first != " ", code.last != " " { return "`\(code)`" }
        let escaped = code.unicodeScalars.map { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil ? String(scalar) : entity(scalar)
        }
        return "<code>\(escaped.joined())</code>"
    }

    /// A sentence with its names, code and call sites in backticks.
    static func text(_ wording: Wording) -> String {
        wording.pieces.map { piece in
            switch piece {
            case .text(let words): text(words)
            case .code(let name, _), .entity(let name), .property(let name, _): code(name)
            case .site(let site): code(site.description)
            case .quantity(let quantity): text(quantity.text)
            }
        }.joined()
    }

    /// A call site as `file:line`, or `unknown` if the trace does not have it.
    static func site(_ site: CallSite?, unknown: String = "call site unknown") -> String {
        site.map { code($0.description) } ?? unknown
    }

    /// Lines of code in a fence that is longer than any fence within.
    ///
    /// - Parameter language: The language, or none if it is empty. The default is SQL for statements, and Swift otherwise.
    static func fence(_ lines: [String], language: String? = nil) -> [String] {
        let longest = lines.flatMap { $0.split { $0 != "`" } }.map(\.count).max() ?? 0
        let fence = String(repeating: "`", count: max(3, longest + 1))
        let usual = lines.allSatisfy { $0.hasSuffix(";") } ? "sql" : "swift"
        return [fence + (language ?? usual)] + lines.map { Phrase.printable($0) } + [fence]
    }

    /// A table whose cells already are Markdown.
    ///
    /// - Parameter numbers: The columns to align right.
    static func table(_ titles: [String], numbers: Set<Int> = [], _ rows: [[String]]) -> [String] {
        guard !rows.isEmpty else { return [] }
        let marks = titles.indices.map { numbers.contains($0) ? "---:" : "---" }
        return ([titles, marks] + rows).map { "| " + $0.joined(separator: " | ") + " |" }
    }

    /// Joins blocks with an empty line between them and a trailing line feed.
    ///
    /// Blocks without lines are omitted.
    static func page(_ blocks: [[String]]) -> String {
        blocks.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    /// A character reference, which is plain text wherever it occurs.
    private static func entity(_ scalar: Unicode.Scalar) -> String { "&#\(scalar.value);" }
}

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
