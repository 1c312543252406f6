package import Foundation

/// A value in a profile file: JSON without fractions.
package enum StoredValue: Sendable, Hashable {
    case number(Int64)
    case text(String)
    case list([StoredValue])
    case record([String: StoredValue])
    case none
    /// A fraction, a Boolean or a number out of range, which a profile file never has.
    case unusable

    /// The largest number: 36 years as a time.
    ///
    /// JSON parsers without integers round numbers above 2^53.
    static let largest: Int64 = 1 << 60

    /// Creates a count, clamped to ``largest``.
    package init(_ count: UInt64) {
        self = .number(Int64(min(count, UInt64(Self.largest))))
    }

    init(_ isTrue: Bool) {
        self = .number(isTrue ? 1 : 0)
    }

    package init(_ texts: [String]?) {
        self = texts.map { .list($0.map { .text($0) }) } ?? .none
    }
}

/// A problem with a value in a profile file.
package struct StoredProblem: Error {
    /// The path to the value, the innermost part first: `["3", "faults"]`.
    package var path: [String] = []
    /// The expected value: `"a whole number from 0 to 2^60"`.
    package var expected: String

    package init(path: [String] = [], expected: String) { (self.path, self.expected) = (path, expected) }

    /// The path and the expected value as a sentence: `"faults.3.trips" is not a whole number from 0 to 2^60`.
    package var sentence: String {
        (path.isEmpty ? "it" : "\"" + path.reversed().joined(separator: ".") + "\"") + " is not \(expected)"
    }

    /// Runs `body`, and adds a part to the path of the problem it throws.
    static func within<Result>(_ part: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch var problem as StoredProblem {
            problem.path.append(part)
            throw problem
        }
    }
}

extension StoredValue {
    package func count() throws -> UInt64 {
        guard case .number(let value) = self, value >= 0, value <= Self.largest else {
            throw StoredProblem(expected: "a whole number from 0 to 2^60")
        }
        return UInt64(value)
    }

    func signed() throws -> Int64 {
        guard case .number(let value) = self, value.magnitude <= Self.largest.magnitude else {
            throw StoredProblem(expected: "a whole number from -2^60 to 2^60")
        }
        return value
    }

    func optionalCount() throws -> UInt64? { self == .none ? nil : try count() }
    /// Decodes a truth value, which is stored as 0 or another number.
    func optionalFlag() throws -> Bool? { try optionalCount().map { $0 != 0 } }

    package func text() throws -> String {
        guard case .text(let text) = self else { throw StoredProblem(expected: "a text") }
        return text
    }

    package func optionalText() throws -> String? { self == .none ? nil : try text() }

    func list() throws -> [StoredValue] {
        guard case .list(let values) = self else { throw StoredProblem(expected: "a list") }
        return values
    }

    /// Decodes a list of a fixed length.
    package func list(of count: Int) throws -> [StoredValue] {
        let values = try list()
        guard values.count == count else { throw StoredProblem(expected: "a list of \(count)") }
        return values
    }

    /// Decodes each element of a list.
    package func map<Result>(_ body: (StoredValue) throws -> Result) throws -> [Result] {
        try list().enumerated().map { index, value in
            try StoredProblem.within(String(index)) { try body(value) }
        }
    }

    package func texts() throws -> [String] { try map { try $0.text() } }
    func optionalTexts() throws -> [String]? { self == .none ? nil : try texts() }

    /// Decodes a member of a record.
    ///
    /// A missing member is ``none``.
    package func member<Result>(_ name: String, _ body: (StoredValue) throws -> Result) throws -> Result {
        guard case .record(let members) = self else { throw StoredProblem(expected: "an object") }
        return try StoredProblem.within(name) { try body(members[name] ?? .none) }
    }
}

extension StoredValue: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let value): try container.encode(value)
        case .text(let text): try container.encode(text)
        case .list(let values): try container.encode(values)
        case .record(let members): try container.encode(members)
        case .none, .unusable: try container.encodeNil()
        }
    }

    /// The value as JSON on one line.
    ///
    /// Equal values give equal JSON.
    func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// Reads JSON.
    package init(json: Data) throws {
        self.init(object: try JSONSerialization.jsonObject(with: json))
    }

    /// Converts the output of `JSONSerialization`.
    private init(object: Any) {
        switch object {
        case is NSNull: self = .none
        case let text as String: self = .text(text)
        case let values as [Any]: self = .list(values.map { StoredValue(object: $0) })
        case let members as [String: Any]: self = .record(members.mapValues { StoredValue(object: $0) })
        case let number as NSNumber where String(cString: number.objCType) != "c":
            self = Int64(exactly: number).map { .number($0) } ?? .unusable
        default: self = .unusable
        }
    }
}
