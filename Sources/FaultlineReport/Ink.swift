/// Colours of a terminal, or none.
package struct Ink: Sendable {
    /// Whether the text goes to a terminal that shows colours.
    let isColoured: Bool

    package init(isColoured: Bool) {
        self.isColoured = isColoured
    }

    package enum Tone: String, Sendable {
        case bold = "1"
        case dim = "2"
        case red = "1;31"
        case yellow = "1;33"
        case green = "32"
        case blue = "34"
    }

    package func callAsFunction(_ tone: Tone, _ text: String) -> String {
        isColoured && !text.isEmpty ? "\u{1B}[\(tone.rawValue)m\(text)\u{1B}[0m" : text
    }
}
