internal import FaultlineAnalysis

/// Rows of text in columns.
package struct TextTable {
    package enum Alignment: Sendable {
        case left, right
    }

    package struct Column: Sendable {
        var title: String
        var alignment: Alignment
        /// Takes what room the others leave, and loses its middle if that is too little.
        var isFlexible: Bool

        package init(title: String, alignment: Alignment, isFlexible: Bool = false) {
            self.title = title
            self.alignment = alignment
            self.isFlexible = isFlexible
        }
    }

    let columns: [Column]
    private(set) var rows: [[String]] = []

    package init(_ columns: [Column]) {
        self.columns = columns
    }

    package mutating func add(_ row: [String]) {
        precondition(row.count == columns.count, "A row has as many cells as the table has columns.")
        rows.append(row)
    }

    /// The lines, the titles first.
    ///
    /// - Parameter width: Characters that a line may have; narrower tables stay narrow.
    package func lines(width: Int) -> [String] {
        var widths = columns.indices.map { index in
            max(columns[index].title.count, rows.map { $0[index].count }.max() ?? 0)
        }
        let excess = widths.reduce(0, +) + 2 * (columns.count - 1) - width
        if excess > 0 {
            let flexible = columns.indices.filter { columns[$0].isFlexible }.sorted { widths[$0] > widths[$1] }
            var left = excess
            for index in flexible {
                let cut = min(left, max(0, widths[index] - 8))
                widths[index] -= cut
                left -= cut
            }
        }
        return ([columns.map(\.title)] + rows).map { row in
            let cells = columns.indices.map { Self.pad(row[$0], to: widths[$0], columns[$0].alignment) }
            return Self.trimmed(cells.joined(separator: "  "))
        }
    }

    static func pad(_ text: String, to width: Int, _ alignment: Alignment) -> String {
        let text = shortened(Phrase.printable(text), to: width)
        let space = String(repeating: " ", count: max(0, width - text.count))
        return alignment == .left ? text + space : space + text
    }

    /// A text that lost its middle if it was too long.
    package static func shortened(_ text: String, to width: Int) -> String {
        guard text.count > width else { return text }
        guard width > 1 else { return String(text.prefix(max(0, width))) }
        let head = width / 2
        return text.prefix(head) + "…" + text.suffix(width - 1 - head)
    }

    private static func trimmed(_ text: String) -> String {
        var text = text[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }

    /// A text in lines of a width, broken at spaces, but not between a number and what it counts.
    package static func wrapped(_ text: String, width: Int) -> [String] {
        let text = Phrase.printable(text)
        var pieces: [String] = []
        var isOpen = false
        for word in text.split(separator: " ") {
            if isOpen, let last = pieces.last {
                pieces[pieces.count - 1] = last + " " + word
            } else {
                pieces.append(String(word))
            }
            isOpen = word.last == ":" || word.allSatisfy { $0.isNumber || ",.(–-".contains($0) }
        }
        var lines: [String] = []
        for piece in pieces {
            if let line = lines.last, line.count + 1 + piece.count <= width {
                lines[lines.count - 1] = line + " " + piece
            } else {
                lines.append(piece)
            }
        }
        return lines
    }
}
