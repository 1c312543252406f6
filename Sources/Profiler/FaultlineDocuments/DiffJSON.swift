internal import FaultlineProfile
package import FaultlineRules
internal import FaultlineTrace

/// Everything that ``DiffText`` shows, and the unchanged operations.
///
/// Among the totals, `longestOperation`, a maximum, is there if both sides have equally many traces.
extension ProfileDiff: JSONDocument {
    package static let name = "diff"
    package static let title = "A comparison"
    package static let summary =
        "The output of `faultline diff --format json`. Numbers are sums over all traces of a side."
    package static let members: JSONMembers<ProfileDiff> = [
        .init("pace", "How much longer unchanged operations took after.", \.pace),
        .init("traces", "The number of traces.") { Pair(before: $0.traces.before, after: $0.traces.after) },
        .init("totals") { Pair.named($0.totals) }, .init("operations", \.operations),
        .init("scopes") { $0.scopes.map { Scope(key: $0.key, figures: $0.figures) } },
        .init("findings", \.findings),
        .init("samples", "The sampled CPU time, then the allocations, as far as there are any.", \.samples),
        .init("plans", "Changed query plans, with a text for each step.", \.plans),
    ]

    private struct Scope: JSONObject {
        let key: ScopeSummary.Key
        let figures: [Figure]

        static let members: JSONMembers<Scope> = [
            .init("name", \.key.name), .init("kind", \.key.kind), .init("figures") { Pair.named($0.figures) },
        ]
    }

    private struct Pair: JSONObject {
        let before: UInt64
        let after: UInt64

        static let definition: String? = "pair"
        static let summary = "A number before and after."
        static let members: JSONMembers<Pair> = [.init("before", \.before), .init("after", \.after)]

        /// Figures by name.
        static func named(_ figures: [Figure]) -> [String: Pair] {
            Dictionary(
                figures.map { ($0.name, Pair(before: $0.before, after: $0.after)) }, uniquingKeysWith: { $1 })
        }
    }
}

extension ProfileDiff.Operation: JSONObject {
    package static let members: JSONMembers<ProfileDiff.Operation> = [
        .init("verdict", \.verdict), .init("changes", "The counts that differ.") { ProfileDiff.Pair.named($0.changes) },
        .init("before", \.before), .init("after", \.after), .init("time", \.time),
    ]
}

extension SampleDiff: JSONObject {
    package static let members: JSONMembers<SampleDiff> = [
        .init("unit", "`nanoseconds` of CPU time, or allocated `bytes`.", \.unit),
        .init("all", "All samples; null if only one side was sampled.", \.all),
        .init("functions", "The functions whose change exceeds the noise.", \.functions),
    ]
}

extension SampleChange: JSONObject {
    package static let definition: String? = "sampleChange"
    package static let summary = "Samples before and after, all of them or those of a function."
    package static let members: JSONMembers<SampleChange> = [
        .init("function", "The innermost function of the program; null for all samples.", \.function?.function),
        .init("file", "The function's file.", \.function?.file),
        .init("before", \.before), .init("after", \.after),
        .init("isChange", "Whether the change exceeds the noise of the samples.", \.isChange),
    ]
}

extension SampleChange.Sum: JSONObject {
    package static let definition: String? = "samples"
    package static let summary = "Samples, and what they stand for in the unit."
    package static let members: JSONMembers<SampleChange.Sum> = [
        .init("samples", \.samples), .init("amount", \.amount),
    ]
}

extension SampleChange.Unit: JSONWord {}

extension ProfileDiff.Verdict: JSONWord {}

extension TimeChange: JSONObject {
    package static let members: JSONMembers<TimeChange> = [
        .init("direction", \.direction), .init("before", \.before), .init("after", \.after),
        .init("leastRatio", "The least ratio of the times that the noise allows.", \.minimumRatio),
    ]
}

extension TimeChange.Direction: JSONWord {}

extension TimeChange.Median: JSONObject {
    package static let summary = "In nanoseconds, with its 95 % confidence bounds."
    package static let members: JSONMembers<TimeChange.Median> = [
        .init("median", \.value), .init("low", \.low), .init("high", \.high),
    ]
}

extension ProfileDiff.FindingChange: JSONObject {
    package static let members: JSONMembers<ProfileDiff.FindingChange> = [
        .init("state", \.state), .init("before", \.before), .init("after", \.after),
    ]
}

extension ProfileDiff.FindingChange.State: JSONWord {}

extension PlanChange: JSONObject {
    package static let members: JSONMembers<PlanChange> = [
        .init("shape") { GroupText.shape($0.shape) }, .init("statement", \.text), .init("site", \.site),
        .init("before", \.before), .init("after", \.after),
    ]
}
