/// The markup of manual pages.
enum Roff {
    /// Returns text whose dashes and quotes a reader can copy, as options, paths and code need them.
    static func code(_ text: String) -> String {
        protectingStart(of: text.map { escape($0, isCode: true) }.joined())
    }

    /// Returns a sentence, in which only options and quotes are code.
    static func prose(_ text: String) -> String {
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            let isCode = word.contains("--") || word.drop { !$0.isLetter && $0 != "-" }.hasPrefix("-")
            return word.indices.map { index in
                // A single quote between letters is an apostrophe.
                let isApostrophe =
                    word[index] == "'" && index != word.startIndex && word[word.index(before: index)].isLetter
                    && word.index(after: index) != word.endIndex && word[word.index(after: index)].isLetter
                return isApostrophe ? "'" : escape(word[index], isCode: isCode)
            }.joined()
        }
        return protectingStart(of: words.joined(separator: " "))
    }

    /// Returns an argument of a macro, in quotes.
    static func quoted(_ text: String) -> String { "\"\(code(text).replacing("\"", with: "\\(dq"))\"" }

    private static func escape(_ character: Character, isCode: Bool) -> String {
        switch character {
        case "\\": "\\e"
        case "-": isCode ? "\\-" : "-"
        case "'": "\\(aq"
        case "`": "\\(ga"
        case "^": "\\(ha"
        case "~": "\\(ti"
        default:
            character.unicodeScalars.map { scalar in
                let digits = String(scalar.value, radix: 16, uppercase: true)
                return scalar.isASCII
                    ? String(scalar)
                    : "\\[u\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)]"
            }.joined()
        }
    }

    /// A line that begins with a dot or a quote would be a request.
    private static func protectingStart(of line: String) -> String {
        line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
    }
}
