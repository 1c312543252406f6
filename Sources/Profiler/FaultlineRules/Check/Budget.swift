package import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace
package import Foundation

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
package struct Budget: Sendable, Hashable {
    /// A limit on one measure.
    package struct Limit: Sendable, Hashable {
        package enum Unit: Sendable, Hashable {
            case count, time, size
        }

        /// The scope's name, or `nil` for the whole trace.
        package var scope: String?
        /// The name of the measure, such as `"trips"`.
        package var measure: String
        package var unit: Unit
        /// The limit: a count, nanoseconds or bytes.
        package var value: UInt64
    }

    package var limits: [Limit] = []
    /// The suppressed findings.
    package var accepted: [Acceptance] = []
    /// The lowest severity that fails the check.
    ///
    /// The default is a warning. `nil` if no finding fails the check.
    package var failing: Severity? = .warning

    package init() {}

    /// The names of the measures that can be limited for a whole trace, and for a scope.
    package static var totalMeasures: [String] { Measure.ofTraces.map(\.name) }
    package static var scopeMeasures: [String] { Measure.ofScopes.map(\.name) }
}

extension Budget {
    /// Reads a budget from JSON.
    ///
    /// - Throws: ``BudgetError`` if the data is not JSON, or a member is unknown or has the wrong type. Without this
    ///   error, a mistyped limit would never fail.
    package init(json data: Data) throws(BudgetError) {
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

/// A measure that a budget can limit.
struct Measure<Subject>: Sendable {
    let name: String
    let unit: Budget.Limit.Unit
    /// The data that a recording must have for the measure.
    var needs: TraceGap.Kind?
    /// The figure to compare with the limit: a sum over a whole trace, or the largest value of a scope.
    let value: @Sendable (Subject) -> UInt64
}

extension Measure<ProfileCounts> {
    /// The measures of a whole trace, which are sums.
    static var ofTraces: [Self] {
        [
            Measure(name: "trips", unit: .count) { $0.readTrips },
            Measure(name: "rows", unit: .count, needs: .rows) { $0.rowsLoaded },
            Measure(name: "fetches", unit: .count, needs: .operations) { $0.events[.fetch] ?? 0 },
            Measure(name: "cacheMisses", unit: .count, needs: .operations) { $0.faultTrips },
            Measure(name: "saves", unit: .count, needs: .operations) { $0.events[.save] ?? 0 },
            Measure(name: "writes", unit: .count, needs: .statements) { $0.writes },
            Measure(name: "bytesRead", unit: .size, needs: .sizes) { $0.bytesRead },
            Measure(name: "bytesWritten", unit: .size, needs: .sizes) { $0.bytesWritten },
            Measure(name: "storeTime", unit: .time) { $0.storeTime },
            Measure(name: "mainThreadStoreTime", unit: .time, needs: .threads) { $0.mainThreadStoreTime },
        ]
    }
}

extension Measure<ScopeSummary> {
    /// The measures of a scope: the maximum over all scopes of a name, or the 95th percentile of their times.
    static var ofScopes: [Self] {
        [
            Measure(name: "trips", unit: .count) { $0.mostTrips },
            Measure(name: "rows", unit: .count) { $0.mostRows },
            Measure(name: "time", unit: .time) { $0.wallTimes.percentile(95) },
        ]
    }
}

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
