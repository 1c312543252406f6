/// What the texts for a terminal have in common.
package enum TextPage {
    /// The characters of a line that a page of prose uses of those there are: at least 80 and at most 100.
    package static func width(_ width: Int, atMost most: Int = 100) -> Int { max(80, min(most, width)) }

    /// Sections with an empty line between them and a line feed at the end; those without lines are left out.
    ///
    /// A line feed within a line is a name's, and starts no new one.
    package static func joined(_ sections: [[String]], _ ink: Ink) -> String {
        sections.filter { !$0.isEmpty }.map { $0.map(ink.finished).joined(separator: "\n") }
            .joined(separator: "\n\n") + "\n"
    }

    /// A paragraph of a list: wrapped, with what follows its first line further in.
    static func item(_ words: String, width: Int) -> [String] {
        TextTable.wrapped(words, width: width - 6).enumerated().map { ($0 == 0 ? "  " : "      ") + $1 }
    }
}
