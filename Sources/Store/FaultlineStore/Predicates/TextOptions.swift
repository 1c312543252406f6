import Foundation

/// Options for comparing strings; `[c]` and `[d]` in a predicate's format.
///
/// The bits are Foundation's (`NSString.CompareOptions`), which Core Data's SQL contains.
public struct TextOptions: OptionSet, Sendable, Hashable {
    /// The options as bits.
    public let rawValue: Int

    /// Creates a set of options from its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// `[c]`: "ITEM" equals "item".
    public static let caseInsensitive = TextOptions(rawValue: 1)
    /// `[d]`: "café" equals "cafe".
    public static let diacriticInsensitive = TextOptions(rawValue: 128)

    /// The options that `canonical:` applies.
    static let canonical: TextOptions = [.caseInsensitive, .diacriticInsensitive]

    static let backwards = TextOptions(rawValue: 4)
    static let anchored = TextOptions(rawValue: 8)

    /// `"cd"`, `"c"` or `"d"`.
    var letters: String? {
        switch (contains(.caseInsensitive), contains(.diacriticInsensitive)) {
        case (true, true): "cd"
        case (true, false): "c"
        case (false, true): "d"
        case (false, false): nil
        }
    }

    /// `"[cd]"`, `"[c]"`, `"[d]"` or an empty string.
    var suffix: String { letters.map { "[\($0)]" } ?? "" }

    private var folding: String.CompareOptions {
        var options: String.CompareOptions = []
        if contains(.caseInsensitive) { options.insert(.caseInsensitive) }
        if contains(.diacriticInsensitive) { options.insert(.diacriticInsensitive) }
        return options
    }

    /// Removes the differences that the options ignore: with `[cd]`, "Águas" becomes "aguas".
    ///
    /// Comparing folded strings without options is equivalent to comparing the original strings with the options.
    ///
    /// - Complexity: O(*n*).
    public func fold(_ text: String) -> String {
        guard contains(.caseInsensitive) || contains(.diacriticInsensitive) else { return text }
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            return contains(.caseInsensitive) ? text.lowercased() : text
        }
        // Canonically equivalent strings must fold to the same string, composed or decomposed.
        return text.folding(options: folding, locale: nil).precomposedStringWithCanonicalMapping
    }

    /// Folds UTF-8 for a search.
    ///
    /// ASCII, the common case, needs no `String`.
    func withFolded<R>(_ text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        guard contains(.caseInsensitive) || contains(.diacriticInsensitive) else { return body(text) }
        guard text.allSatisfy({ $0 < 0x80 }) else {
            var folded = fold(String(decoding: text, as: UTF8.self))
            return folded.withUTF8(body)
        }
        guard contains(.caseInsensitive) else { return body(text) }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count) { lowered in
            for position in text.indices {
                let byte = text[position]
                lowered.initializeElement(at: position, to: byte &- 0x41 < 26 ? byte | 0x20 : byte)
            }
            return body(UnsafeBufferPointer(lowered))
        }
    }
}
