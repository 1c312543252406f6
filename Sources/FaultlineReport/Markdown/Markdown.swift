internal import FaultlineAnalysis
internal import FaultlineTrace

/// Markup that nothing in a trace can break.
///
/// GitHub's dialect (https://github.github.com/gfm). Names come from the recorded program: one with a vertical bar would
/// end a table's cell, one with a backtick a code span, and one with a tag would be HTML.
enum Markdown {
    /// Words as plain text: everything that would be markup is escaped, and the text stays on its line.
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
    /// What backticks cannot hold everywhere is an element: a table's cell ends at a vertical bar even in a code span.
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

    /// A call site as `file:line`; `unknown` where the trace does not tell it.
    static func site(_ site: CallSite?, unknown: String = "place unknown") -> String {
        site.map { code($0.description) } ?? unknown
    }

    /// Lines of code in a fence that is longer than any within.
    ///
    /// - Parameter language: By default SQL for statements, and Swift for anything else.
    static func fence(_ lines: [String], language: String? = nil) -> [String] {
        let longest = lines.flatMap { $0.split { $0 != "`" } }.map(\.count).max() ?? 0
        let fence = String(repeating: "`", count: max(3, longest + 1))
        let usual = lines.allSatisfy { $0.hasSuffix(";") } ? "sql" : "swift"
        return [fence + (language ?? usual)] + lines.map { Phrase.printable($0) } + [fence]
    }

    /// A table whose cells are markup already.
    ///
    /// - Parameter numbers: The columns that are aligned to the right.
    static func table(_ titles: [String], numbers: Set<Int> = [], _ rows: [[String]]) -> [String] {
        guard !rows.isEmpty else { return [] }
        let marks = titles.indices.map { numbers.contains($0) ? "---:" : "---" }
        return ([titles, marks] + rows).map { "| " + $0.joined(separator: " | ") + " |" }
    }

    /// Blocks with an empty line between them and a line feed at the end; those without lines are left out.
    static func page(_ blocks: [[String]]) -> String {
        blocks.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    /// A character by its number, which is text wherever it stands.
    private static func entity(_ scalar: Unicode.Scalar) -> String { "&#\(scalar.value);" }
}
