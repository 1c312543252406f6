import Foundation

/// How texts are compared; `[c]` and `[d]` in a predicate's format.
///
/// The bits are Foundation's (`NSString.CompareOptions`), which is what stands in Core Data's SQL.
public struct TextOptions: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// `[c]`: "ITEM" is "item".
    public static let caseInsensitive = TextOptions(rawValue: 1)
    /// `[d]`: "café" is "cafe".
    public static let diacriticInsensitive = TextOptions(rawValue: 128)

    /// What `canonical:` disregards.
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

    /// `"[cd]"`, `"[c]"`, `"[d]"` or nothing.
    var suffix: String { letters.map { "[\($0)]" } ?? "" }

    private var folding: String.CompareOptions {
        var options: String.CompareOptions = []
        if contains(.caseInsensitive) { options.insert(.caseInsensitive) }
        if contains(.diacriticInsensitive) { options.insert(.diacriticInsensitive) }
        return options
    }

    /// A text in which what the options disregard is gone: "Águas" with `[cd]` is "aguas".
    ///
    /// What a predicate finds with the options is found without them in texts that were folded, by a text that was folded.
    ///
    /// - Complexity: O(*n*).
    public func fold(_ text: String) -> String {
        guard contains(.caseInsensitive) || contains(.diacriticInsensitive) else { return text }
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            return contains(.caseInsensitive) ? text.lowercased() : text
        }
        // Canonically equal texts must fold alike, whether their marks are combined or not.
        return text.folding(options: folding, locale: nil).precomposedStringWithCanonicalMapping
    }

    /// Folds UTF-8 for a search.
    ///
    /// ASCII, the common case, takes no string.
    func withFolded<R>(_ text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        guard contains(.caseInsensitive) || contains(.diacriticInsensitive) else { return body(text) }
        guard text.allSatisfy({ $0 < 0x80 }) else {
            var folded = fold(String(decoding: text, as: UTF8.self))
            return folded.withUTF8(body)
        }
        guard contains(.caseInsensitive) else { return body(text) }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count) { lowered in
            for place in text.indices {
                let byte = text[place]
                lowered.initializeElement(at: place, to: byte &- 0x41 < 26 ? byte | 0x20 : byte)
            }
            return body(UnsafeBufferPointer(lowered))
        }
    }
}
