internal import Foundation

/// Parses the JSON of a profile file.
///
/// A parser for one type of value is twenty times as fast as `JSONSerialization` and the casts from `Any` that follow it.
struct StoredParser: ~Copyable {
    /// The maximum number of lists and records around a value: more are damaged data, and would exhaust the stack.
    static let deepest = 128

    /// The error for bytes that are not JSON.
    struct NotJSON: Error {}

    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var depth = 0

    /// Parses a whole file.
    static func value(of data: Data) throws -> StoredValue {
        try data.withUnsafeBytes { try value(of: $0.bindMemory(to: UInt8.self)) }
    }

    private static func value(of bytes: UnsafeBufferPointer<UInt8>) throws(NotJSON) -> StoredValue {
        var parser = StoredParser(bytes)
        let value = try parser.value()
        parser.skipSpaces()
        guard parser.position == bytes.count else { throw NotJSON() }
        return value
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// The next byte, or 0 at the end.
    private var next: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private mutating func skipSpaces() {
        while next == 0x20 || next == 0x0A || next == 0x0D || next == 0x09 { position += 1 }
    }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        skipSpaces()
        guard next == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(NotJSON) -> StoredValue {
        skipSpaces()
        switch next {
        case UInt8(ascii: "{"): return try within { parser throws(NotJSON) in .record(try parser.members()) }
        case UInt8(ascii: "["): return try within { parser throws(NotJSON) in .list(try parser.elements()) }
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "n"): return try word("null", .none)
        case UInt8(ascii: "t"): return try word("true", .unusable)
        case UInt8(ascii: "f"): return try word("false", .unusable)
        default: return try number()
        }
    }

    private mutating func within(
        _ body: (inout StoredParser) throws(NotJSON) -> StoredValue
    ) throws(NotJSON) -> StoredValue {
        guard depth < Self.deepest else { throw NotJSON() }
        depth += 1
        defer { depth -= 1 }
        position += 1
        return try body(&self)
    }

    private mutating func word(_ word: StaticString, _ value: StoredValue) throws(NotJSON) -> StoredValue {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count else { throw NotJSON() }
        for offset in 0..<word.utf8CodeUnitCount where bytes[position + offset] != word.utf8Start[offset] {
            throw NotJSON()
        }
        position = end
        return value
    }

    private mutating func elements() throws(NotJSON) -> [StoredValue] {
        var elements: [StoredValue] = []
        if take("]") { return elements }
        while true {
            elements.append(try value())
            if take("]") { return elements }
            guard take(",") else { throw NotJSON() }
        }
    }

    private mutating func members() throws(NotJSON) -> [String: StoredValue] {
        var members: [String: StoredValue] = [:]
        if take("}") { return members }
        while true {
            skipSpaces()
            let name = try text()
            guard take(":") else { throw NotJSON() }
            members[name] = try value()
            if take("}") { return members }
            guard take(",") else { throw NotJSON() }
        }
    }

    /// A whole number, or ``StoredValue/unusable`` for a fraction, an exponent and a number out of range.
    private mutating func number() throws(NotJSON) -> StoredValue {
        let isNegative = next == UInt8(ascii: "-")
        position += isNegative ? 1 : 0
        let first = position
        var (value, isWhole): (Int64, Bool) = (0, true)
        while case let digit = next &- UInt8(ascii: "0"), digit <= 9 {
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflows) = product.subtractingReportingOverflow(Int64(digit))
            if isTooLarge || overflows { isWhole = false }
            value = sum
            position += 1
        }
        guard position > first, position == first + 1 || bytes[first] != UInt8(ascii: "0") else { throw NotJSON() }
        if next == UInt8(ascii: ".") {
            isWhole = false
            position += 1
            try digits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            isWhole = false
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        // The sum is negative, because the smallest number has no positive counterpart.
        guard isWhole, isNegative || value != .min else { return .unusable }
        return .number(isNegative ? value : -value)
    }

    private mutating func digits() throws(NotJSON) {
        let first = position
        while next &- UInt8(ascii: "0") <= 9 { position += 1 }
        guard position > first else { throw NotJSON() }
    }

    private mutating func text() throws(NotJSON) -> String {
        guard next == UInt8(ascii: "\"") else { throw NotJSON() }
        position += 1
        let first = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                guard let text = String(validating: bytes[first..<position], as: UTF8.self) else { throw NotJSON() }
                position += 1
                return text
            case UInt8(ascii: "\\"): return try escapedText(from: first)
            case 0..<0x20: throw NotJSON()
            default: position += 1
            }
        }
        throw NotJSON()
    }

    /// The rest of a text with an escaped character.
    private mutating func escapedText(from first: Int) throws(NotJSON) -> String {
        var units = Array(bytes[first..<position])
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: units, as: UTF8.self) else { throw NotJSON() }
                return text
            case UInt8(ascii: "\\"): units += try escaped().utf8
            case 0..<0x20: throw NotJSON()
            default: units.append(byte)
            }
        }
        throw NotJSON()
    }

    /// The character after a backslash.
    private mutating func escaped() throws(NotJSON) -> String {
        let byte = next
        position += 1
        switch byte {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw NotJSON()
        }
        let unit = try hexadecimal()
        guard UTF16.isLeadSurrogate(unit) else {
            guard let scalar = Unicode.Scalar(unit) else { throw NotJSON() }
            return String(Character(scalar))
        }
        guard next == UInt8(ascii: "\\") else { throw NotJSON() }
        position += 1
        guard next == UInt8(ascii: "u") else { throw NotJSON() }
        position += 1
        let second = try hexadecimal()
        guard UTF16.isTrailSurrogate(second) else { throw NotJSON() }
        return String(decoding: [unit, second], as: UTF16.self)
    }

    private mutating func hexadecimal() throws(NotJSON) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = Character(Unicode.Scalar(next)).hexDigitValue else { throw NotJSON() }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }
}
