import Foundation

extension SQLValue {
    /// Compares values in SQLite's order with binary collation.
    ///
    /// NULL comes first, then numbers, text and blobs (https://www.sqlite.org/datatype3.html#comparison_expressions).
    ///
    /// - Returns: A negative number, 0 or a positive number.
    func order(_ other: SQLValue) -> Int {
        switch (self, other) {
        case (.null, .null): 0
        case (.integer(let left), .integer(let right)): left == right ? 0 : left < right ? -1 : 1
        case (.real(let left), .real(let right)): left == right ? 0 : left < right ? -1 : 1
        case (.integer(let left), .real(let right)): Self.order(left, right)
        case (.real(let left), .integer(let right)): -Self.order(right, left)
        case (.text(var left), .text(var right)):
            left.withUTF8 { left in right.withUTF8 { Int(TextSearch.compare(left, $0)) } }
        case (.blob(let left), .blob(let right)):
            left.withUnsafeBytes { left in
                right.withUnsafeBytes { right in
                    Int(
                        TextSearch.compare(
                            left.assumingMemoryBound(to: UInt8.self), right.assumingMemoryBound(to: UInt8.self)))
                }
            }
        default: rank - other.rank
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }

    /// Compares exactly, although a `Double` cannot represent every integer.
    private static func order(_ integer: Int64, _ real: Double) -> Int {
        if real >= 0x1p63 { return -1 }
        if real < -0x1p63 { return 1 }
        let whole = Int64(real.rounded(.towardZero))
        if integer != whole { return integer < whole ? -1 : 1 }
        let fraction = real - Double(whole)
        return fraction == 0 ? 0 : fraction > 0 ? -1 : 1
    }

    /// The number that a value represents in arithmetic; `nil` if there is none.
    ///
    /// Decimals with more digits than a `Double` can hold are stored as blobs of their digits.
    var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .text(let text): Double(text)
        case .blob(let data): Double(String(decoding: data, as: UTF8.self))
        case .null: nil
        }
    }
}
