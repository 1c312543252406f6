internal import FaultlineFindings

/// A table of text in columns.
package struct TextTable {
    package enum Alignment: Sendable {
        case left, right
    }

    /// The part of a text that is cut first.
    package enum Loss: Sendable {
        case beginning, middle
    }

    package struct Column: Sendable {
        var title: String
        var alignment: Alignment
        /// The part to cut if there is too little space, or `nil` for a column that is never cut.
        var loss: Loss?

        package init(title: String, alignment: Alignment, losing loss: Loss? = nil) {
            self.title = title
            self.alignment = alignment
            self.loss = loss
        }
    }

    /// The minimum width of a column that can be cut.
    private static let minimumWidth = 8

    let columns: [Column]
    private(set) var rows: [[String]] = []

    package init(_ columns: [Column]) {
        self.columns = columns.map { column in
            var column = column
            column.title = Phrase.printable(column.title)
            return column
        }
    }

    package mutating func add(_ row: [String]) {
        precondition(row.count == columns.count, "A row has as many cells as the table has columns.")
        rows.append(row.map { Phrase.printable($0) })
    }

    /// The number of characters in the longest line if nothing is cut.
    var fullWidth: Int { fullWidths.reduce(0, +) + 2 * (columns.count - 1) }

    private var fullWidths: [Int] {
        columns.indices.map { index in
            max(columns[index].title.count, rows.map { $0[index].count }.max() ?? 0)
        }
    }

    /// Returns the lines, beginning with the titles.
    ///
    /// - Parameter width: The maximum number of characters in a line. Narrower tables stay narrow.
    package func lines(width: Int) -> [String] {
        var widths = fullWidths
        var excess = widths.reduce(0, +) + 2 * (columns.count - 1) - width
        let flexible = columns.indices.filter { columns[$0].loss != nil }
        // The widest column is cut first, so no column loses all of its text to another.
        while excess > 0, let widest = flexible.max(by: { widths[$0] < widths[$1] }), widths[widest] > Self.minimumWidth
        {
            widths[widest] -= 1
            excess -= 1
        }
        return ([columns.map(\.title)] + rows).map { row in
            let cells = columns.indices.map {
                Self.pad(row[$0], to: widths[$0], columns[$0].alignment, columns[$0].loss)
            }
            return Self.trimmed(cells.joined(separator: "  "))
        }
    }

    /// Returns the lines of a section, indented by two spaces, with dim titles.
    ///
    /// - Parameter width: The maximum number of characters in a line, including the indentation.
    package func section(_ ink: Ink, width: Int) -> [String] {
        lines(width: width - 2).enumerated().map { "  " + ($0 == 0 ? ink(.dim, $1) : $1) }
    }

    static func pad(
        _ text: String, to width: Int, _ alignment: Alignment, _ loss: Loss? = nil
    ) -> String {
        let text = shortened(text, to: width, losing: loss ?? .middle)
        let space = String(repeating: " ", count: max(0, width - text.count))
        return alignment == .left ? text + space : space + text
    }

    /// A text shortened to a width by cutting its middle or its beginning.
    package static func shortened(_ text: String, to width: Int, losing loss: Loss = .middle) -> String {
        let text = Phrase.printable(text)
        guard text.count > width else { return text }
        guard width > 1 else { return String(text.prefix(max(0, width))) }
        let head = loss == .middle ? width / 2 : 0
        return text.prefix(head) + "…" + text.suffix(width - 1 - head)
    }

    private static func trimmed(_ text: String) -> String {
        var text = text[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}

/// Layout that the texts for a terminal share.
package enum TextPage {
    /// The number of characters in a line of prose: the available width, limited to 80–100.
    package static func width(_ width: Int, atMost most: Int = 100) -> Int { max(80, min(most, width)) }

    /// Joins sections with an empty line between them and a trailing line feed.
    ///
    /// Sections without lines are omitted.
    ///
    /// A line feed within a line belongs to a name and does not start a new line.
    package static func joined(_ sections: [[String]], _ ink: Ink) -> String {
        sections.filter { !$0.isEmpty }.map { $0.map(ink.finished).joined(separator: "\n") }
            .joined(separator: "\n\n") + "\n"
    }

    /// A wrapped list item whose further lines are indented.
    static func item(_ words: String, width: Int) -> [String] {
        Phrase.wrapped(words, width: width - 6).enumerated().map { ($0 == 0 ? "  " : "      ") + $1 }
    }
}
