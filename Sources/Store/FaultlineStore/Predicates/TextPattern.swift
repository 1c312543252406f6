import Foundation

/// The right side of a text comparison, prepared once for many comparisons.
final class TextPattern: Sendable {
    private let folded: [UInt8]
    let options: TextOptions
    /// For MATCHES only; `nil` if the expression is invalid.
    let expression: NSRegularExpression?

    init(_ text: String, _ options: TextOptions, isExpression: Bool = false) {
        folded = Array(options.fold(text).utf8)
        self.options = options
        expression = isExpression ? Self.expression(text, options) : nil
    }

    /// Compiles an expression that is anchored at both ends, because MATCHES applies to the whole string.
    private static func expression(_ text: String, _ options: TextOptions) -> NSRegularExpression? {
        let pattern = options.contains(.diacriticInsensitive) ? options.fold(text) : text
        let flags: NSRegularExpression.Options = options.contains(.caseInsensitive) ? [.caseInsensitive] : []
        // Some valid expressions are invalid inside a group, for example those that end in a comment.
        return (try? NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: flags))
            ?? (try? NSRegularExpression(pattern: pattern, options: flags))
    }

    /// Whether a text contains the pattern, begins with it or ends with it, depending on the options.
    func isFound(in text: UnsafeBufferPointer<UInt8>) -> Bool {
        options.withFolded(text) { text in
            folded.withUnsafeBufferPointer { wanted in
                guard options.contains(.anchored) else { return TextSearch.contains(text, wanted) }
                return options.contains(.backwards)
                    ? TextSearch.ends(text, with: wanted) : TextSearch.begins(text, with: wanted)
            }
        }
    }

    /// Compares a text with the pattern; returns -1, 0 or 1.
    func order(of text: UnsafeBufferPointer<UInt8>) -> Int32 {
        options.withFolded(text) { text in
            folded.withUnsafeBufferPointer { TextSearch.compare(text, $0) }
        }
    }

    /// Whether a text matches the pattern's wildcards.
    func fitsWildcards(_ text: String) -> Bool {
        TextSearch.matches(options.fold(text), wildcards: String(decoding: folded, as: UTF8.self))
    }

    /// Whether the whole text matches the regular expression; `nil` if the expression is invalid.
    func fitsExpression(_ text: String) -> Bool? {
        guard let expression else { return nil }
        let text = options.contains(.diacriticInsensitive) ? options.fold(text) : text
        let range = NSRange(text.startIndex..., in: text)
        return expression.firstMatch(in: text, options: [.anchored], range: range)?.range == range
    }
}
