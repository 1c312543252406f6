import CStore
import Foundation

/// Comparisons of folded texts.
enum TextSearch {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    static func begins(_ text: Bytes, with prefix: Bytes) -> Bool {
        guard prefix.count <= text.count else { return false }
        guard let first = prefix.baseAddress, let start = text.baseAddress else { return prefix.isEmpty }
        return memcmp(start, first, prefix.count) == 0
    }

    static func ends(_ text: Bytes, with suffix: Bytes) -> Bool {
        guard suffix.count <= text.count else { return false }
        guard let first = suffix.baseAddress, let start = text.baseAddress else { return suffix.isEmpty }
        return memcmp(start + (text.count - suffix.count), first, suffix.count) == 0
    }

    static func contains(_ text: Bytes, _ wanted: Bytes) -> Bool {
        guard let first = wanted.baseAddress, !wanted.isEmpty else { return true }
        guard let start = text.baseAddress else { return false }
        return cstore_contains(start, text.count, first, wanted.count) != 0
    }

    /// -1, 0 or 1, as SQLite orders text in binary collation.
    static func compare(_ left: Bytes, _ right: Bytes) -> Int32 {
        let common = min(left.count, right.count)
        if common > 0, let first = left.baseAddress, let second = right.baseAddress {
            let order = memcmp(first, second, common)
            if order != 0 { return order < 0 ? -1 : 1 }
        }
        return left.count == right.count ? 0 : left.count < right.count ? -1 : 1
    }

    /// Matches wildcards: `*` is any text, `?` is one character, and a backslash escapes the next character.
    static func matches(_ text: String, wildcards pattern: String) -> Bool {
        let text = Array(text)
        let parts = parts(of: pattern)
        // Greedy, backtracking only to the last `*`, which is sufficient. Linear except for the last `*`.
        var position = 0
        var part = 0
        var star = -1
        var starPosition = 0
        while position < text.count {
            if part < parts.count, parts[part] == .one || parts[part] == .character(text[position]) {
                position += 1
                part += 1
            } else if part < parts.count, parts[part] == .any {
                star = part
                starPosition = position
                part += 1
            } else if star >= 0 {
                part = star + 1
                starPosition += 1
                position = starPosition
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { $0 == .any }
    }

    /// The position of a pattern's wildcards.
    enum Wildcards: String {
        /// The pattern has no wildcards.
        case none
        /// Plain text followed only by `*`.
        case trailing
        case leading
        /// Another position after plain text.
        case inner
    }

    static func wildcards(of pattern: String) -> Wildcards {
        let parts = parts(of: pattern)
        guard let first = parts.firstIndex(where: \.isWildcard) else { return .none }
        if first == 0 { return .leading }
        return parts[first...].allSatisfy { $0 == .any } ? .trailing : .inner
    }

    private static func parts(of pattern: String) -> [Part] {
        var parts: [Part] = []
        var isEscaped = false
        for character in pattern {
            if isEscaped {
                parts.append(.character(character))
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                parts.append(character == "*" ? .any : character == "?" ? .one : .character(character))
            }
        }
        return parts
    }

    private enum Part: Equatable {
        case any, one
        case character(Character)

        var isWildcard: Bool { self == .any || self == .one }
    }
}
