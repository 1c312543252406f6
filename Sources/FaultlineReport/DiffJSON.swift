public import FaultlineAnalysis
internal import FaultlineTrace

/// A comparison of two profiles as JSON: everything that ``DiffText`` shows, and the unchanged operations.
///
/// Numbers are sums over all traces of a side, and `traces` has the number of these. `longestOperation`, a maximum, is
/// there if both sides have equally many traces. Times are in nanoseconds.
public struct DiffJSON: Sendable {
    /// The version of the keys.
    ///
    /// It increases when a key is removed or changes its meaning.
    public static let version = 1

    let diff: ProfileDiff

    public init(_ diff: ProfileDiff) {
        self.diff = diff
    }

    /// Returns the JSON, with a trailing line feed.
    public func render() -> String { value.indented + "\n" }

    /// The comparison as a value.
    var value: JSONValue {
        .sorted([
            "version": .integer(Int64(Self.version)), "pace": .number(diff.pace),
            "traces": .sorted(["before": .unsigned(diff.traces.before), "after": .unsigned(diff.traces.after)]),
            "totals": Self.figures(diff.totals), "operations": .array(diff.operations.map(Self.operation)),
            "scopes": .array(
                diff.scopes.map {
                    .sorted([
                        "name": .string($0.key.name), "kind": .string("\($0.key.kind)"),
                        "figures": Self.figures($0.figures),
                    ])
                }),
            "findings": .array(diff.findings.map(Self.finding)),
            "plans": .array(
                diff.plans.map {
                    .sorted([
                        "shape": .string(GroupText.shape($0.shape)), "statement": .string($0.text),
                        "site": SiteJSON.value($0.site),
                        "before": .array($0.before.map { .string($0) }), "after": .array($0.after.map { .string($0) }),
                    ])
                }),
        ])
    }

    private static func figures(_ figures: [ProfileDiff.Figure]) -> JSONValue {
        .sorted(
            Dictionary(
                uniqueKeysWithValues: figures.map {
                    ($0.name, .sorted(["before": .unsigned($0.before), "after": .unsigned($0.after)]))
                }))
    }

    private static func operation(_ operation: ProfileDiff.Operation) -> JSONValue {
        .sorted([
            "verdict": .string(operation.verdict.rawValue), "changes": figures(operation.changes),
            "before": operation.before.map(GroupJSON.value) ?? .null,
            "after": operation.after.map(GroupJSON.value) ?? .null,
            "time": operation.time.map { time in
                .sorted([
                    "direction": .string(time.direction.rawValue), "before": median(time.before),
                    "after": median(time.after), "leastRatio": time.minimumRatio.map { .number($0) } ?? .null,
                ])
            } ?? .null,
        ])
    }

    private static func median(_ median: TimeChange.Median) -> JSONValue {
        .sorted(["median": .unsigned(median.value), "low": .unsigned(median.low), "high": .unsigned(median.high)])
    }

    private static func finding(_ change: ProfileDiff.FindingChange) -> JSONValue {
        .sorted([
            "state": .string(change.state.rawValue),
            "before": change.before.map(FindingJSON.value) ?? .null,
            "after": change.after.map(FindingJSON.value) ?? .null,
        ])
    }
}
