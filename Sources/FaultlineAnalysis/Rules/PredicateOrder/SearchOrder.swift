internal import FaultlineTrace

/// Two text searches of one AND, of which the second is asked only about what passed the first.
///
/// What the first leaves over is measured: every row's text is compared once for it, and what was compared beyond that was
/// compared for the second.
struct SearchOrder {
    let fetch: FetchProfile
    let first: ShapeEntry.Term
    let second: ShapeEntry.Term
    /// Rows that were gone through, that passed the first search, and that passed both, on average.
    let scanned: Double
    let passed: Double
    let found: Double
    /// What a comparison for each takes, against one of an empty text.
    let weights: (first: Double, second: Double)
    /// Bytes of the texts on average; `nil`: the trace does not tell both, so that they count as equal.
    let lengths: (first: Double, second: Double)?

    /// How much more than the other order the written one must take.
    static let threshold = Threshold(
        "R07", "costRatio", 1.3, .factor, "minimum ratio of the written order's cost to the other order's cost")
    /// Bytes of a text whose search takes as much again as calling the function does: 3,000 took 3.4 µs, ten 300 ns.
    static let shortText = 300.0

    /// `nil`: they are not two, or not counted.
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
        // What a limit lets through of sorted rows is not what passed: there both searches' texts tell that.
        let isCut = shape.isLimited && !shape.sort.isEmpty
        guard !isCut || terms.allSatisfy({ $0.isNegated != true }) else { return nil }
        let matches = Double(counts.textMatches) / Double(counts.statements)
        found = isCut ? max(0, matches - passed) : counts.foundRows
        // A term that SQLite asked of fewer rows, or of more, stands elsewhere than it is written.
        guard scanned >= PredicateOrderRule.minimumRows.value, passed > 0, passed <= scanned, found <= passed else {
            return nil
        }
        let sizes = terms.compactMap { profile.size(of: $0.keyPath, entity: shape.entity) }
        lengths = sizes.count == 2 ? (sizes[0], sizes[1]) : nil
        weights = lengths.map { (1 + $0.first / Self.shortText, 1 + $0.second / Self.shortText) } ?? (1, 1)
    }

    /// The shares of rows that each leaves over.
    var shares: (first: Double, second: Double) { (passed / scanned, found / passed) }

    /// What all comparisons take as they are written, and the other way round.
    private var now: Double { scanned * weights.first + passed * weights.second }
    private var then: Double { scanned * weights.second + scanned * shares.second * weights.first }

    /// How many times what the other order takes the written one does.
    var ratio: Double { now / max(1, then) }

    /// The share of the comparing that the other order spares, and the most that it can be where the texts' lengths are not
    /// known: then the first search may take all of it.
    var sparedShare: Double { max(0, 1 - then / now) }
    var largestShare: Double { lengths == nil ? 1 - shares.second : sparedShare }
}

extension Profile {
    /// Bytes of an attribute's values on average, where fetches loaded some; `nil`: none did.
    func size(of property: String, entity: String) -> Double? {
        let uses = fetches.compactMap { $0.properties[entity]?[property] }
        let rows = uses.reduce(0) { $0 &+ $1.rowsLoaded }
        return rows > 0 ? Double(uses.reduce(0) { $0 &+ $1.bytes }) / Double(rows) : nil
    }
}

extension PredicateOrderRule {
    /// What two searches are better asked the other way round.
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
        // How terms hang together is not known, nor what a text of its kind takes.
        let saving = Saving.Range(
            median: searching.median * order.sparedShare, low: searching.low * order.sparedShare / 2,
            high: max(searching.high * order.largestShare, searching.median * order.sparedShare * 1.5))
        let advice = PredicateOrderAdvice.Searches(order: order)
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: fetch.key.site,
            score: Score.of(order.ratio - 1, info: SearchOrder.threshold.value - 1, warning: 4),
            fix: advice.fix, code: advice.code,
            saving: Saving(time: saving), confidence: .low,
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
