internal import Foundation

/// Decodes values from files that people write: amounts with units, and objects that allow only known members.
extension StoredValue {
    func memberNames() throws -> [String] {
        guard case .record(let members) = self else { throw StoredProblem(expected: "an object") }
        return members.keys.sorted()
    }

    /// - Throws: ``StoredProblem`` if the value is not an object, or has an unknown member.
    func expectMembers(_ known: [String]) throws {
        for name in try memberNames() where !known.contains(name) {
            throw StoredProblem(
                path: [name], expected: "known here; use one of " + known.map { "\"\($0)\"" }.joined(separator: ", "))
        }
    }

    /// Decodes an amount with its unit.
    ///
    /// - Returns: A count, nanoseconds, bytes, a share from 0 to 1, or a factor.
    func amount(of unit: Threshold.Unit) throws -> Double {
        switch unit {
        case .count: return Double(try count())
        case .time:
            return try amount(
                [("ns", 1), ("µs", 1e3), ("us", 1e3), ("ms", 1e6), ("s", 1e9)], expected: "a time, such as \"16 ms\"")
        case .size:
            if case .number = self { return Double(try count()) }
            return try amount(
                [("KiB", 1024), ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("B", 1)],
                expected: "a size, such as \"64 KiB\" or a number of bytes")
        case .share:
            let share = try amount([("%", 0.01)], expected: Self.share)
            guard share <= 1 else { throw StoredProblem(expected: Self.share) }
            return share
        case .factor:
            if case .number = self { return Double(try count()) }
            return try amount([("", 1)], expected: "a number of times, such as 2 or \"1.5\"")
        }
    }

    private static let share = "a share, such as \"30 %\""

    private func amount(_ factors: [(String, Double)], expected: String) throws -> Double {
        guard case .text(let text) = self, let (name, factor) = factors.first(where: { text.hasSuffix($0.0) }),
            case let digits = text.dropLast(name.count).filter({ $0 != " " }),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }),
            let number = Double(digits), number * factor <= 9e15
        else { throw StoredProblem(expected: expected) }
        return number * factor
    }
}
