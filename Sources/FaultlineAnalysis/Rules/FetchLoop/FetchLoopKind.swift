internal import FaultlineTrace

/// The kind of data that a loop of fetches asks for, which determines the one fetch that replaces them.
enum FetchLoopKind: Sendable, Hashable {
    /// A number that the store computes over the rows of each value.
    enum Aggregate: Sendable, Hashable {
        /// The number of rows, from a count request or from the length of a result.
        case count
        /// A sum, a mean, a minimum or a maximum that the program computed from one property.
        case fold(property: String)
        /// The expressions of dictionary requests.
        case expressions([String])
    }

    /// Rows.
    ///
    /// One fetch with `IN` returns those of all values.
    case rows
    /// A number for each value.
    ///
    /// One fetch that groups the rows returns all of them.
    case groups(Aggregate)
    /// The first row of each value in an order, such as the newest.
    ///
    /// No single fetch returns them all.
    case first

    /// - Returns: `nil` if no single fetch can replace the loop, or another rule has the advice.
    init?(_ key: LoopEvidence.Key, _ fetch: FetchProfile?) {
        let shape = key.fetch.shape
        guard key.term != nil else {
            guard shape.resultType == "objects", fetch?.isForItsRows != false else { return nil }
            self = .rows
            return
        }
        switch shape.resultType {
        case "count" where !shape.isLimited: self = .groups(.count)
        case "dictionaries" where !shape.isLimited:
            guard let expressions = shape.expressions, shape.having == nil else { return nil }
            let areAggregates = expressions.allSatisfy { $0.contains(":(") }
            guard areAggregates || shape.groups == nil else { return nil }
            self = areAggregates ? .groups(.expressions(expressions)) : .rows
        case "objects":
            if shape.isLimited, !shape.sort.isEmpty {
                self = .first
            } else if !shape.isLimited, let aggregate = fetch.flatMap(Self.aggregate) {
                self = .groups(aggregate)
            } else {
                guard fetch?.isForItsRows != false else { return nil }
                self = .rows
            }
        default: return nil
        }
    }

    /// The number that nearly all results of a fetch were used for.
    private static func aggregate(of fetch: FetchProfile) -> Aggregate? {
        guard let (_, use) = fetch.mainUse else { return nil }
        let needs = use.needs.filter { $0.key != .nothing }
        let total = needs.values.reduce(0) { $0 &+ $1.executions } &+ use.openExecutions
        let isMost = { (count: UInt64) in count > 0 && Double(count) >= ResultDemand.share.value * Double(total) }
        if isMost((needs[.count]?.executions ?? 0) &+ (needs[.existence]?.executions ?? 0)) { return .count }
        for case (.fold(let property), let tally) in needs where isMost(tally.executions) {
            return .fold(property: property)
        }
        return nil
    }

    /// Whether most fetches of a line run in a loop for a number of each value's rows.
    ///
    /// A count or an aggregate per value would only be the next thing to change.
    static func isGrouped(_ fetch: FetchProfile, _ profile: Profile) -> Bool {
        profile.loops.contains { loop in
            guard loop.key.fetch == fetch.key, case .groups = FetchLoopKind(loop.key, fetch) else { return false }
            return Significance.isAtLeastHalf(loop.evidence.executions, of: fetch.counts.executions)
        }
    }
}
