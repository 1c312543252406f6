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
        TextTable.wrapped(words, width: width - 6).enumerated().map { ($0 == 0 ? "  " : "      ") + $1 }
    }
}
