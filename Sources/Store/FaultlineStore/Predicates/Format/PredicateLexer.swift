import Foundation

/// A token of a predicate's format.
enum PredicateToken: Equatable {
    case name(String)
    case word(PredicateWord)
    case integer(Int64)
    case real(Double)
    case text(String)
    /// `$name`.
    case variable(String)
    /// `%@`, `%K`, `%d` and so on, by their last letter.
    case argument(Character)
    /// `==`, `(`, `,`: operators and punctuation, in one spelling each.
    case sign(String)
    case end

    /// The token as errors quote it.
    var text: String {
        switch self {
        case .name(let name): "'\(name)'"
        case .word(let word): "'\(word.rawValue)'"
        case .integer(let value): "'\(value)'"
        case .real(let value): "'\(value)'"
        case .text(let text): PredicateWord.quoted(text)
        case .variable(let name): "'$\(name)'"
        case .argument(let letter): "'%\(letter)'"
        case .sign(let sign): "'\(sign)'"
        case .end: "the end"
        }
    }
}

/// Splits a predicate's format into tokens.
struct PredicateLexer {
    /// A syntax error and its position.
    struct Failure: Error {
        /// The offset in bytes.
        var position: Int
        var message: String
        var remedy = "correct it"
    }

    private let bytes: [UInt8]
    private var position = 0

    init(_ format: String) {
        bytes = Array(format.utf8)
    }

    /// Returns the next token and its offset.
    mutating func next() throws(Failure) -> (token: PredicateToken, start: Int) {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
        let start = position
        guard position < bytes.count else { return (.end, start) }
        let byte = bytes[position]
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return (.text(try text(byte)), start)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return (try number(), start)
        case UInt8(ascii: "."):
            if let next = peek(1), Self.isDigit(next) { return (try number(), start) }
        case UInt8(ascii: "$"):
            position += 1
            guard let name = name() else { throw fail(start, "expected a variable name after '$'") }
            return (.variable(name), start)
        case UInt8(ascii: "%"):
            if let argument = try argument() { return (.argument(argument), start) }
        case UInt8(ascii: "#"):
            position += 1
            guard let name = name() else { throw fail(start, "expected a name after '#'") }
            return (.name(name), start)
        default:
            if let name = name() {
                if let word = PredicateWord(name) { return (.word(word), start) }
                return (.name(name), start)
            }
        }
        return (.sign(try sign()), start)
    }

    /// Returns a part of the format as written.
    func source(from position: Int, count: Int) -> String {
        String(decoding: bytes[position..<min(position + count, bytes.count)], as: UTF8.self)
    }

    private func fail(_ position: Int, _ message: String) -> Failure { Failure(position: position, message: message) }

    private func peek(_ distance: Int) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    // MARK: - Names and signs

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 48 < 10 }

    /// A name begins with a letter, `_` or `@`; every character beyond ASCII is a letter.
    private mutating func name() -> String? {
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            let isLetter = byte | 32 >= 97 && byte | 32 <= 122 || byte == 95 || byte >= 0x80
            let isSign = byte == UInt8(ascii: "@") && position == start
            guard isLetter || isSign || Self.isDigit(byte) && position > start else { break }
            position += 1
        }
        // A lone at sign is not a name.
        if position == start + 1, bytes[start] == UInt8(ascii: "@") { position = start }
        return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    /// Operators and punctuation, longest first, with the spelling that tokens use.
    private static let signs: [(bytes: [UInt8], name: String)] = [
        ("==", "=="), ("=>", ">="), ("=<", "<="), (">=", ">="), ("<=", "<="), ("!=", "!="), ("<>", "!="), ("&&", "&&"),
        ("||", "||"), ("**", "**"), (":=", ":="), ("<<", "<<"), (">>", ">>"),
        ("=", "=="), ("<", "<"), (">", ">"), ("!", "!"), ("(", "("),
        (")", ")"), ("{", "{"), ("}", "}"), ("[", "["), ("]", "]"), (",", ","), (".", "."), (":", ":"), ("+", "+"),
        ("-", "-"), ("*", "*"), ("/", "/"), ("&", "&"), ("|", "|"), ("^", "^"), ("~", "~"),
        ("%", "%"),
    ].map { (Array($0.0.utf8), $0.1) }

    private mutating func sign() throws(Failure) -> String {
        for (text, name) in Self.signs where bytes[position...].starts(with: text) {
            position += text.count
            return name
        }
        throw fail(
            position, "expected a name, a value or an operator but found '\(String(UnicodeScalar(bytes[position])))'")
    }

    /// Parses a `%` argument; `nil` if the `%` is an operator.
    private mutating func argument() throws(Failure) -> Character? {
        let start = position
        var end = position + 1
        // Length modifiers, as in printf.
        while end < bytes.count, "hlqLzt".utf8.contains(bytes[end]) { end += 1 }
        guard end < bytes.count else {
            if end == start + 1 { return nil }
            throw fail(start, "expected a letter after '%'")
        }
        switch bytes[end] {
        case UInt8(ascii: "@"), UInt8(ascii: "K"): break
        case _ where "diuxXo".utf8.contains(bytes[end]):
            position = end + 1
            return "d"
        case _ where "fFgGeEaA".utf8.contains(bytes[end]):
            position = end + 1
            return "f"
        case UInt8(ascii: "s"), UInt8(ascii: "S"), UInt8(ascii: "c"), UInt8(ascii: "C"):
            position = end + 1
            return "@"
        default:
            if end == start + 1, !bytes[end].isLetter { return nil }
            throw fail(start, "expected '%@', '%K', '%d' or '%f' but found '%\(String(UnicodeScalar(bytes[end])))'")
        }
        position = end + 1
        return Character(UnicodeScalar(bytes[end]))
    }

    // MARK: - Numbers

    private mutating func number() throws(Failure) -> PredicateToken {
        let start = position
        if bytes[position] == UInt8(ascii: "0"), let letter = peek(1), let radix = Self.radices[letter | 32] {
            position += 2
            let digits = position
            while position < bytes.count, bytes[position].isLetter || Self.isDigit(bytes[position]) { position += 1 }
            let text = String(decoding: bytes[digits..<position], as: UTF8.self)
            guard let value = Int64(text, radix: radix) else {
                throw fail(
                    start, "expected a base-\(radix) number of at most 64 bits after '0\(UnicodeScalar(letter))'")
            }
            return .integer(value)
        }
        func digits() { while position < bytes.count, Self.isDigit(bytes[position]) { position += 1 } }
        digits()
        var isInteger = true
        if peek(0) == UInt8(ascii: "."), let next = peek(1), Self.isDigit(next) {
            isInteger = false
            position += 1
            digits()
        }
        if let letter = peek(0), letter | 32 == UInt8(ascii: "e"), let next = peek(1) {
            let hasSign = next == UInt8(ascii: "+") || next == UInt8(ascii: "-")
            if let digit = peek(hasSign ? 2 : 1), Self.isDigit(digit) {
                isInteger = false
                position += hasSign ? 2 : 1
                digits()
            }
        }
        if let letter = peek(0), letter.isLetter {
            throw fail(start, "expected a number or a name but found a mixture of both")
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else {
            throw fail(start, "expected a number that fits in 64 bits")
        }
        return .real(value)
    }

    private static let radices: [UInt8: Int] = [
        UInt8(ascii: "x"): 16, UInt8(ascii: "o"): 8, UInt8(ascii: "b"): 2,
    ]

    // MARK: - Texts

    private mutating func text(_ quote: UInt8) throws(Failure) -> String {
        let start = position
        position += 1
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == quote { return String(decoding: text, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard position < bytes.count else { break }
            try escape(into: &text)
        }
        throw fail(
            start, "expected \(quote == UInt8(ascii: "'") ? "'" : "\"") at the end of the string that begins here")
    }

    private mutating func escape(into text: inout [UInt8]) throws(Failure) {
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "n"): text.append(10)
        case UInt8(ascii: "r"): text.append(13)
        case UInt8(ascii: "t"): text.append(9)
        case UInt8(ascii: "0"): text.append(0)
        case UInt8(ascii: "u"):
            let start = position - 2
            var number = try hexadecimal(start)
            // A surrogate pair, for a character beyond U+FFFF.
            if (0xd800..<0xdc00).contains(number), peek(0) == UInt8(ascii: "\\"), peek(1) == UInt8(ascii: "u") {
                position += 2
                let low = try hexadecimal(start)
                guard (0xdc00..<0xe000).contains(low) else {
                    throw fail(start, "expected the second half of a surrogate pair after '\\u'")
                }
                number = 0x10000 + (number - 0xd800) << 10 + (low - 0xdc00)
            }
            guard let scalar = Unicode.Scalar(number) else {
                throw fail(start, "expected a character after '\\u' but found half of a surrogate pair")
            }
            text += Array(String(Character(scalar)).utf8)
        default: text.append(byte)
        }
    }

    private mutating func hexadecimal(_ start: Int) throws(Failure) -> UInt32 {
        let end = min(position + 4, bytes.count)
        guard end == position + 4,
            let number = UInt32(String(decoding: bytes[position..<end], as: UTF8.self), radix: 16),
            bytes[position] != UInt8(ascii: "+"), bytes[position] != UInt8(ascii: "-")
        else { throw fail(start, "expected four hexadecimal digits after '\\u'") }
        position = end
        return number
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { self | 32 >= 97 && self | 32 <= 122 || self == 95 || self >= 0x80 }
}
