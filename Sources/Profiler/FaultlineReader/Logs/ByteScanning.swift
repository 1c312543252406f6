import Foundation

/// Searches of a log's text by bytes.
///
/// A log's marks are ASCII. Comparing bytes takes a fraction of the time that comparing characters or matching a
/// regular expression takes, and it is linear in the length of the text.
extension StringProtocol where UTF8View == Substring.UTF8View {
    /// The text's bytes.
    ///
    /// Texts are decoded from bytes, so the fallback never runs.
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        utf8.withContiguousStorageIfAvailable(body) ?? Array(utf8).withUnsafeBufferPointer(body)
    }
}

extension Substring {
    /// The position after a number of bytes.
    func index(afterBytes count: Int) -> Index { utf8.index(startIndex, offsetBy: count) }

    /// The text at a range of bytes.
    subscript(bytes range: Range<Int>) -> Substring {
        self[index(afterBytes: range.lowerBound)..<index(afterBytes: range.upperBound)]
    }

    func begins(with mark: StaticString) -> Bool { withBytes { $0.hasBytes(mark, at: 0) } }

    func has(_ mark: StaticString) -> Bool { withBytes { $0.position(of: mark) != nil } }

    /// Returns the text after a prefix; `nil` if it begins otherwise.
    func behind(_ beginning: StaticString) -> Substring? {
        begins(with: beginning) ? self[index(afterBytes: beginning.utf8CodeUnitCount)...] : nil
    }

    /// Returns the text after the first occurrence of a mark.
    func behindFirst(_ mark: StaticString) -> Substring? {
        withBytes { $0.position(of: mark) }.map { self[index(afterBytes: $0 + mark.utf8CodeUnitCount)...] }
    }

    /// Returns the text before the first of some bytes, or all of it.
    func before(_ ends: Unicode.Scalar...) -> Substring {
        Substring(utf8.prefix { byte in !ends.contains { $0.value == byte } })
    }

    /// Returns the text without the bytes at its beginning that satisfy a condition.
    func withoutLeading(_ isDropped: (UInt8) -> Bool) -> Substring { Substring(utf8.drop(while: isDropped)) }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether a mark is at a position.
    func hasBytes(_ mark: StaticString, at position: Int) -> Bool {
        guard let start = baseAddress, count - position >= mark.utf8CodeUnitCount else { return false }
        return memcmp(start + position, mark.utf8Start, mark.utf8CodeUnitCount) == 0
    }

    /// The first position of a mark at or after another.
    func position(of mark: StaticString, from start: Int = 0) -> Int? {
        guard let base = baseAddress else { return nil }
        var start = start
        while start < count, let found = memchr(base + start, Int32(mark.utf8Start.pointee), count - start) {
            start = UnsafeRawPointer(base).distance(to: found)
            if hasBytes(mark, at: start) { return start }
            start += 1
        }
        return nil
    }

    /// The position behind a mark, if the text begins with it, or has it at a position.
    func behind(_ mark: StaticString, at position: Int = 0) -> Int? {
        hasBytes(mark, at: position) ? position + mark.utf8CodeUnitCount : nil
    }

    /// The position behind the first occurrence of a mark at or after a position.
    func position(behind mark: StaticString, from start: Int = 0) -> Int? {
        position(of: mark, from: start).map { $0 + mark.utf8CodeUnitCount }
    }

    /// The end of the bytes from a position that satisfy a condition.
    func end(of isIncluded: (UInt8) -> Bool, from start: Int) -> Int {
        var position = start
        while position < count, isIncluded(self[position]) { position += 1 }
        return position
    }

    /// The next word at or after a position, up to a space; empty after the last.
    func word(from position: Int) -> Range<Int> {
        let start = end(of: { $0 == 0x20 }, from: position)
        return start..<end(of: { $0 != 0x20 }, from: start)
    }

    /// Whether a word is one of SQL's, in capitals or not.
    func isWord(_ name: StaticString, in range: Range<Int>) -> Bool {
        range.count == name.utf8CodeUnitCount
            && range.indices.allSatisfy { self[$0] & ~0x20 == name.utf8Start[$0 - range.lowerBound] }
    }

    /// The number of parentheses that a range opens, less those that it closes.
    func depth(of range: Range<Int>) -> Int {
        self[range].reduce(0) { $0 + ($1 == UInt8(ascii: "(") ? 1 : $1 == UInt8(ascii: ")") ? -1 : 0) }
    }

    /// Parses the digits at a position; `nil` if there are none, or the number exceeds 64 bits.
    func number(at start: Int) -> (value: UInt64, end: Int)? {
        var (position, value): (Int, UInt64) = (start, 0)
        while position < count, self[position].isDigit {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(self[position] - 0x30))
            if overflow || carry { return nil }
            (value, position) = (sum, position + 1)
        }
        return position > start ? (value, position) : nil
    }

    /// Parses the digits at a position, with or without a decimal point.
    func decimal(at start: Int) -> (value: Double, end: Int)? {
        let end = end(of: { $0.isDigit || $0 == UInt8(ascii: ".") }, from: start)
        // Up to 15 digits and their power of ten are exact, and their quotient is the number nearest to the decimal.
        if end - start <= 16, let whole = number(at: start), let part = number(at: whole.end + 1), part.end == end {
            let unit = (whole.end + 1..<end).reduce(1 as UInt64) { unit, _ in unit * 10 }
            return (Double(whole.value * unit + part.value) / Double(unit), end)
        }
        return Double(String(decoding: self[start..<end], as: UTF8.self)).map { ($0, end) }
    }
}
