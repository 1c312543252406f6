internal import FaultlineAnalysis

/// Lines of a source file around the places that a finding names.
package struct SourceExcerpt: Sendable, Equatable {
    /// The reason why a line is shown.
    package enum Mark: Sendable, Equatable {
        /// The line to change.
        case change
        /// A line at which the problem was observed.
        case seen

        /// The character before the line.
        fileprivate var sign: String { self == .change ? "→" : "•" }
    }

    /// The number of lines shown above and below a place.
    private static let context = 3

    /// The path of the file.
    let path: String
    /// The number of the first line.
    let first: Int
    let lines: [String]
    /// The reasons, by the number of the line.
    let marks: [Int: Mark]

    /// Returns the excerpts of a file, the first line first.
    ///
    /// Places that are close to each other share an excerpt. Lines that the file does not have are left out.
    package static func around(_ marks: [Int: Mark], in lines: [Substring], path: String) -> [SourceExcerpt] {
        var ranges: [ClosedRange<Int>] = []
        for line in marks.keys.sorted() where line >= 1 && line <= lines.count {
            let range = max(1, line - context)...min(lines.count, line + context)
            if let last = ranges.last, range.lowerBound <= last.upperBound + 1 {
                ranges[ranges.count - 1] = last.lowerBound...range.upperBound
            } else {
                ranges.append(range)
            }
        }
        return ranges.map { range in
            var shown = lines[(range.lowerBound - 1)..<range.upperBound].map(String.init)
            while shown.last?.allSatisfy(\.isWhitespace) == true, marks[range.lowerBound + shown.count - 1] == nil {
                shown.removeLast()
            }
            return SourceExcerpt(
                path: path, first: range.lowerBound, lines: shown, marks: marks.filter { range.contains($0.key) })
        }
    }

    /// Returns the excerpt for a terminal: the path, and the numbered lines with their marks.
    ///
    /// - Parameter continues: Whether an excerpt of the same file precedes it, so that the path is known.
    func text(_ ink: Ink, _ width: Int, continues: Bool = false) -> [String] {
        let digits = max(4, String(first + lines.count).count)
        let dots = String(repeating: " ", count: digits + 3) + "⋮"
        let title = continues ? dots : "  " + TextTable.shortened(path, to: width - 2, losing: .beginning)
        return [ink(.dim, title)]
            + lines.enumerated().map { index, line in
                let mark = marks[first + index]
                let number = TextTable.pad(String(first + index), to: digits, .right)
                let code = line.split(separator: "\t", omittingEmptySubsequences: false).joined(separator: "    ")
                let cut = Phrase.printable(code)
                let room = width - digits - 6
                let shown = cut.count > room ? cut.prefix(room - 1) + "…" : cut
                let text = "  \(mark?.sign ?? " ") \(number)" + (shown.isEmpty ? "" : "  \(shown)")
                return mark == nil ? text : ink(.bold, text)
            }
    }
}
