internal import FaultlineAnalysis

/// Text that an XML 1.0 document can hold.
enum XMLText {
    /// Escapes a text.
    ///
    /// XML forbids most control characters, even as references (https://www.w3.org/TR/xml/#charsets). Their pictures
    /// take their place.
    ///
    /// - Parameter inAttribute: Whether the text is the value of an attribute, in which a parser would replace line
    ///   feeds and tabs by spaces.
    static func escaped(_ text: String, inAttribute: Bool = false) -> String {
        var escaped = ""
        for scalar in Phrase.printable(text, keeping: ["\n", "\t"]).unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n" where inAttribute: escaped += "&#10;"
            case "\t" where inAttribute: escaped += "&#9;"
            case "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
