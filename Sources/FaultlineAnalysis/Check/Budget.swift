public import Foundation

/// The limits on what a program may ask of its store, and the findings to suppress.
///
///     {
///       "total": {"trips": 120, "storeTime": "40 ms"},
///       "scopes": {"list": {"trips": 3, "rows": 200, "time": "16 ms"}},
///       "findings": {
///         "fail": "warning",
///         "ignore": [{"finding": "R01|…", "reason": "the archive is opened once a year", "expires": "2027-06-30"}]
///       }
///     }
///
/// Every member is optional. Counts are whole numbers. Times are strings with `ns`, `µs` (or `us`), `ms` or `s`. Sizes
/// are bytes, or strings with `B`, `KiB`, `MiB` or `GiB`.
public struct Budget: Sendable, Hashable {
    /// A limit on one measure.
    public struct Limit: Sendable, Hashable {
        public enum Unit: Sendable, Hashable {
            case count, time, size
        }

        /// The scope's name, or `nil` for the whole trace.
        public var scope: String?
        /// The name of the measure, such as `"trips"`.
        public var measure: String
        public var unit: Unit
        /// The limit: a count, nanoseconds or bytes.
        public var value: UInt64
    }

    public var limits: [Limit] = []
    /// The suppressed findings.
    public var accepted: [Acceptance] = []
    /// The lowest severity that fails the check.
    ///
    /// The default is a warning. `nil` if no finding fails the check.
    public var failing: Severity? = .warning

    public init() {}

    /// The names of the measures that can be limited for a whole trace, and for a scope.
    public static var totalMeasures: [String] { Measure.ofTraces.map(\.name) }
    public static var scopeMeasures: [String] { Measure.ofScopes.map(\.name) }
}

extension Budget {
    /// Reads a budget from JSON.
    ///
    /// - Throws: ``BudgetError`` if the data is not JSON, or a member is unknown or has the wrong type. Without this
    ///   error, a mistyped limit would never fail.
    public init(json data: Data) throws(BudgetError) {
        self.init()
        try BudgetError.reading(data) { try read($0) }
    }

    private mutating func read(_ file: StoredValue) throws {
        try file.expectMembers(["total", "scopes", "findings"])
        try file.member("total") { limits += try Self.limits($0, scope: nil) }
        try file.member("scopes") { scopes in
            guard scopes != .none else { return }
            for name in try scopes.memberNames() {
                try scopes.member(name) { limits += try Self.limits($0, scope: name) }
            }
        }
        try file.member("findings") { findings in
            guard findings != .none else { return }
            try findings.expectMembers(["fail", "ignore"])
            try findings.member("fail") { if $0 != .none { failing = try Self.severity($0) } }
            accepted = try findings.member("ignore") { $0 == .none ? [] : try $0.map(Self.acceptance) }
        }
    }

    private static func limits(_ value: StoredValue, scope: String?) throws -> [Limit] {
        guard value != .none else { return [] }
        let measures =
            scope == nil ? Measure.ofTraces.map { ($0.name, $0.unit) } : Measure.ofScopes.map { ($0.name, $0.unit) }
        try value.expectMembers(measures.map(\.0))
        return try measures.compactMap { name, unit in
            try value.member(name) { value in
                value == .none
                    ? nil : Limit(scope: scope, measure: name, unit: unit, value: try Self.amount(value, unit))
            }
        }
    }

    private static func amount(_ value: StoredValue, _ unit: Limit.Unit) throws -> UInt64 {
        switch unit {
        case .count: try value.count()
        case .time: UInt64(try value.amount(of: .time).rounded())
        case .size: UInt64(try value.amount(of: .size).rounded())
        }
    }

    private static func severity(_ value: StoredValue) throws -> Severity? {
        let text = try value.text()
        if text == "never" { return nil }
        guard let severity = Severity.allCases.first(where: { $0.name == text }) else {
            throw StoredProblem(expected: "one of \"note\", \"warning\", \"error\", \"never\"")
        }
        return severity
    }

    private static func acceptance(_ value: StoredValue) throws -> Acceptance {
        try value.expectMembers(["finding", "reason", "expires"])
        let reason = try value.member("reason") { value in
            guard case .text(let text) = value, !text.isEmpty else {
                throw StoredProblem(expected: "a text that explains why the finding is suppressed")
            }
            return text
        }
        let expires = try value.member("expires") { value -> String? in
            guard let text = try value.optionalText() else { return nil }
            guard Acceptance.isDay(text) else { throw StoredProblem(expected: "a day, such as \"2027-06-30\"") }
            return text
        }
        let finding = try value.member("finding") { try $0.text() }
        return Acceptance(subject: .finding(finding), reason: reason, expires: expires)
    }
}
