internal import FaultlineFindings

/// The colours of a terminal, or none.
///
/// Coloured text contains marks, which ``finished(_:)`` turns into the terminal's codes. Each ink has random marks that
/// no name in a trace can contain. So only the report's own text is coloured.
package struct Ink: Sendable {
    /// Whether the output is a terminal that shows colours.
    let isColoured: Bool
    private let mark: String

    package init(isColoured: Bool) {
        self.isColoured = isColoured
        mark = isColoured ? "\u{1B}\(UInt64.random(in: 0...(.max)))[" : ""
    }

    package enum Tone: String, Sendable, CaseIterable {
        case bold = "1"
        case dim = "2"
        case red = "1;31"
        case yellow = "1;33"
        case green = "32"
        case blue = "34"
    }

    private static let beginning = "\u{1B}["
    private static let reset = "0m"
    /// All codes that can follow ``beginning``.
    private static let endings = Tone.allCases.map { $0.rawValue + "m" } + [reset]

    package func callAsFunction(_ tone: Tone, _ text: String) -> String {
        isColoured && !text.isEmpty ? "\(mark)\(tone.rawValue)m\(text)\(mark)\(Self.reset)" : text
    }

    /// Returns a line for the terminal, with this ink's colours and everything else made printable.
    package func finished(_ line: String) -> String {
        guard isColoured else { return Phrase.printable(line) }
        return Self.printable(line, colours: mark, keeping: [])
    }

    /// Makes a text that is already laid out safe for a terminal, whatever it contains.
    ///
    /// It keeps only line feeds, tabs and, on a terminal that shows colours, the codes of inks.
    package static func printable(page: String, isColoured: Bool) -> String {
        let kept: Set<Unicode.Scalar> = ["\n", "\t"]
        guard isColoured else { return Phrase.printable(page, keeping: kept) }
        return printable(page, colours: beginning, keeping: kept)
    }

    private static func printable(_ text: String, colours mark: String, keeping kept: Set<Unicode.Scalar>) -> String {
        var printable = ""
        var rest = text.unicodeScalars[...]
        while let found = rest.firstRange(of: mark.unicodeScalars) {
            printable += Phrase.printable(String(rest[..<found.lowerBound]), keeping: kept)
            rest = rest[found.upperBound...]
            if let ending = endings.first(where: { rest.starts(with: $0.unicodeScalars) }) {
                printable += beginning + ending
                rest = rest.dropFirst(ending.unicodeScalars.count)
            } else {
                printable += Phrase.printable(mark, keeping: kept)
            }
        }
        return printable + Phrase.printable(String(rest), keeping: kept)
    }
}
