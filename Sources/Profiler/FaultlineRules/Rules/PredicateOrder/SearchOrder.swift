internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// Two text searches of one AND: the second compares only the texts of rows that passed the first.
///
/// The number that passed the first is measured: the first search compares the text of every row, and all further
/// comparisons belong to the second.
struct SearchOrder {
    let fetch: FetchProfile
    let first: ShapeEntry.Term
    let second: ShapeEntry.Term
    /// The mean numbers of rows that were scanned, that passed the first search, and that passed both.
    let scanned: Double
    let passed: Double
    let found: Double
    /// The cost of a comparison for each search, relative to one with an empty text.
    let weights: (first: Double, second: Double)
    /// The mean bytes of the texts, or `nil` if the trace does not have both.
    ///
    /// They then count as equal.
    let lengths: (first: Double, second: Double)?

    /// The minimum ratio of the written order's cost to the other's.
    static let threshold = Threshold(
        "R07", "costRatio", 1.3, .factor, "minimum ratio of the written order's cost to the other order's cost")
    /// The length, in bytes, at which searching a text costs as much as calling the function.
    ///
    /// 3,000 bytes took 3.4 µs, and ten 300 ns.
    static let shortText = 300.0

    /// Returns `nil` if there are not exactly two searches, or the trace does not have the counters.
    init?(_ fetch: FetchProfile, _ profile: Profile) {
        let (counts, shape) = (fetch.counts, fetch.key.shape)
        guard let terms = shape.terms, terms.count == 2, terms.allSatisfy(\.isSearch),
            terms[0].keyPath != terms[1].keyPath,
            !terms.contains(where: { $0.isAlternative == true }), let entity = profile.entity(shape.entity),
            terms.allSatisfy({ entity.column($0.keyPath) != nil }),
            counts.statements > 0, counts.textComparisons > 0
        else { return nil }
        self.fetch = fetch
        (first, second) = (terms[0], terms[1])
        scanned = counts.scannedRows
        passed = Double(counts.textComparisons) / Double(counts.statements) - scanned
        // With a limit, the returned rows are not all that passed. The matches of both searches give that number.
        let isCut = shape.isLimited && !shape.sort.isEmpty
        guard !isCut || terms.allSatisfy({ $0.isNegated != true }) else { return nil }
        let matches = Double(counts.textMatches) / Double(counts.statements)
        found = isCut ? max(0, matches - passed) : counts.foundRows
        // If the counts do not fit, SQLite evaluated the terms in another order than the written one.
        guard scanned >= PredicateOrderRule.minimumRows.value, passed > 0, passed <= scanned, found <= passed else {
            return nil
        }
        let sizes = terms.compactMap { profile.size(of: $0.keyPath, entity: shape.entity) }
        lengths = sizes.count == 2 ? (sizes[0], sizes[1]) : nil
        weights = lengths.map { (1 + $0.first / Self.shortText, 1 + $0.second / Self.shortText) } ?? (1, 1)
    }

    /// The shares of rows that match each search.
    var shares: (first: Double, second: Double) { (passed / scanned, found / passed) }

    /// The cost of all comparisons in the written order, and in the other order.
    private var now: Double { scanned * weights.first + passed * weights.second }
    private var then: Double { scanned * weights.second + scanned * shares.second * weights.first }

    /// The ratio of the written order's cost to the other's.
    var ratio: Double { now / max(1, then) }

    /// The share of the comparisons' cost that the other order saves, and its maximum.
    ///
    /// If the lengths of the texts are unknown, the first search may account for the whole cost.
    var avoidedShare: Double { max(0, 1 - then / now) }
    var largestShare: Double { lengths == nil ? 1 - shares.second : avoidedShare }
}

extension Profile {
    /// The mean bytes of an attribute's values, or `nil` if no fetch loaded any.
    func size(of property: String, entity: String) -> Double? {
        let uses = fetches.compactMap { $0.properties[entity]?[property] }
        let rows = uses.reduce(0) { $0 &+ $1.rowsLoaded }
        return rows > 0 ? Double(uses.reduce(0) { $0 &+ $1.bytes }) / Double(rows) : nil
    }
}

extension PredicateOrderRule {
    /// The finding about two searches that are better run in the other order.
    func finding(for order: SearchOrder, _ profile: Profile, _ costs: CostModel) -> Finding? {
        guard order.ratio >= SearchOrder.threshold.value else { return nil }
        let (fetch, counts) = (order.fetch, order.fetch.counts)
        let estimate = costs.store
        let step = costs.machine.steppedRow.usual
        let searching = estimate.range { line in
            if let one = counts.searchTime(step: step, costs.machine) { return Double(counts.executions) * one }
            let rest = line.cost(trips: 1, rows: order.found) + step * order.scanned
            return Double(counts.executions) * max(0, counts.meanTime - rest)
        }
        // The correlation of the terms is unknown, and so is the cost of a text of this kind.
        let saving = Saving.Range(
            median: searching.median * order.avoidedShare, low: searching.low * order.avoidedShare / 2,
            high: max(searching.high * order.largestShare, searching.median * order.avoidedShare * 1.5))
        let advice = PredicateOrderAdvice.Searches(order: order)
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: fetch.key.site,
            severity: Severity.of(order.ratio - 1, warning: SearchOrder.threshold.value - 1, error: 4),
            fix: advice.fix, code: advice.code,
            saving: Saving(time: saving), confidence: .low("the selectivity of each search is estimated"),
            signature: fetch.signature(id, [order.first, order.second].map(\.keyPath).joined(separator: ",")))
        finding.scopes = counts.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("executions", counts.executions, .count), Evidence("rows", counts.rows, .rows),
            Evidence("fullScanSteps", counts.fullScanSteps, .count),
            Evidence("textComparisons", counts.textComparisons, .count),
            Evidence("firstShare", order.shares.first, .share), Evidence("secondShare", order.shares.second, .share),
            Evidence("fetchTime", counts.time, .nanoseconds),
        ]
        finding.claims = [Claim.loads(fetch.key, profile)]
        finding.remedy = .reorder(fetch.key, [1, 0])
        weigh(&finding, fetch, profile)
        return finding
    }
}
