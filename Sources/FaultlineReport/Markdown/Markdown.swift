internal import FaultlineAnalysis
internal import FaultlineTrace

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
