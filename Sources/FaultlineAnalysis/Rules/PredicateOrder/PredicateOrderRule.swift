internal import FaultlineTrace

/// R07: texts that are searched before a comparison that is cheaper, or leaves less, has sorted most rows out.
///
/// SQLite asks the terms of an AND in the order in which they are written, where no index decides.
public struct PredicateOrderRule: Rule {
    public let id = "R07"
    public let name = "Predicate order"
    public let purpose =
        "Texts that are searched before a comparison that is cheaper, or leaves less, has sorted rows out."

    /// The minimum rows that are scanned for the order to be reported.
    static let minimumRows = Threshold("R07", "minimumRows", 500.0, .count, "minimum rows that are scanned")
    /// The share of rows that a term may leave over: one that leaves more sorts nothing out.
    static let uselessShare = Threshold(
        "R07", "uselessShare", 0.9, .share, "maximum share of the rows that match the cheaper term")
    /// What comparing a number is assumed to take, in nanoseconds.
    static let comparison = StepCost(usual: 40, least: 40, most: 40)
    /// The share of what SQLite takes beside the scan and the rows that it hands out which is searching, and the range in
    /// which that lies; the rest is reading the columns.
    static let searchingShare = 0.85
    static let searchingShares = 0.5...1.0

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        var examined: UInt64 = 0
        var uncounted: UInt64 = 0
        for fetch in profile.fetches {
            if let order = SearchOrder(fetch, profile) {
                examined &+= fetch.counts.executions
                if let finding = finding(for: order, profile, costs) { outcome.findings.append(finding) }
                continue
            }
            guard let order = PredicateOrder(fetch.key.shape, profile.entity(fetch.key.shape.entity)) else { continue }
            examined &+= fetch.counts.executions
            guard fetch.counts.scannedRows >= Self.minimumRows.value else { continue }
            guard let search = Search(fetch, order) else {
                uncounted &+= fetch.counts.executions
                continue
            }
            if let finding = finding(for: fetch, order, search, profile, costs) { outcome.findings.append(finding) }
        }
        if examined > 0 {
            outcome.examined =
                "the order of terms in \(count: examined, "fetch", plural: "fetches") with a text search first"
        }
        if uncounted > 0 {
            outcome.obstacles.append(
                "The trace does not tell how many texts \(count: uncounted, "search", plural: "searches") compared."
            )
        }
        return outcome
    }

    /// What a fetch's text searches did, on average.
    struct Search {
        /// Rows that were gone through.
        var scanned: Double
        /// Texts that were compared, those that fulfilled the term, and rows that fulfilled all terms.
        var compared: Double
        var passed: Double
        var found: Double
        /// Whether ``passed`` is known: of several searches one does not know which of them a text passed.
        var isSingle: Bool
        /// Whether a limit keeps rows back that were sorted, and so fulfilled all terms.
        var isCut: Bool

        /// `nil`: nobody counted.
        init?(_ fetch: FetchProfile, _ order: PredicateOrder) {
            let counts = fetch.counts
            guard counts.statements > 0, counts.textComparisons > 0 else { return nil }
            let statements = Double(counts.statements)
            scanned = fetch.counts.scannedRows
            compared = Double(counts.textComparisons) / statements
            let matched = Double(counts.textMatches) / statements
            passed = order.searches[0].isNegated == true ? compared - matched : matched
            found = fetch.counts.foundRows
            isSingle = order.searches.count == 1
            isCut = fetch.key.shape.isLimited && !fetch.key.shape.sort.isEmpty
        }

        /// The share of texts that the terms behind the search leave over; `nil`: not known.
        var leftOver: Double? { isSingle && !isCut && passed > 0 ? min(1, found / passed) : nil }
    }

    private func finding(
        for fetch: FetchProfile, _ order: PredicateOrder, _ search: Search, _ profile: Profile, _ costs: CostModel
    ) -> Finding? {
        let counts = fetch.counts
        // Where a cheap term came first already, few texts are left to compare.
        guard search.compared >= search.scanned / 2, (search.leftOver ?? 0) <= Self.uselessShare.value else {
            return nil
        }
        let estimate = costs.store
        let spared = search.compared * (1 - (search.leftOver ?? 0.5))
        let range = saving(fetch, search, spared: spared, estimate, costs.machine)
        let advice = PredicateOrderAdvice(fetch: fetch, order: order, search: search)
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: fetch.key.site,
            score: Score.of(spared, info: Self.minimumRows.value, warning: 50_000), fix: advice.fix, code: advice.code,
            saving: Saving(time: Saving.Range(range)),
            confidence: search.leftOver == nil ? .low : min(.medium, estimate.confidence(in: range)),
            signature: fetch.signature(id, order.signature))
        finding.scopes = counts.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("executions", counts.executions, .count), Evidence("rows", counts.rows, .rows),
            Evidence("fullScanSteps", counts.fullScanSteps, .count),
            Evidence("textComparisons", counts.textComparisons, .count),
            Evidence("textMatches", counts.textMatches, .count), Evidence("fetchTime", counts.time, .nanoseconds),
        ]
        finding.claims = [Claim.loads(fetch.key, profile)]
        finding.remedy = .reorder(fetch.key, order.places)
        weigh(&finding, fetch, profile)
        return finding
    }

    /// What the other order saves: the texts that need not be compared, less the comparisons of numbers that come instead.
    private func saving(
        _ fetch: FetchProfile, _ search: Search, spared: Double, _ estimate: CostModel.Estimate,
        _ machine: MachineCosts
    ) -> (median: Double, low: Double, high: Double) {
        let counts = fetch.counts
        let comparison = machine.cost(.comparison, assumed: Self.comparison)
        let step = machine.steppedRow.usual
        let gain = { (text: Double, comparison: Double) in
            Double(counts.executions) * (text * spared - comparison * (search.scanned - search.passed))
        }
        if let searching = counts.searchTime(step: step, machine) {
            let shares = Self.searchingShares
            let text = { (share: Double) in share * searching / search.compared }
            return (
                gain(text(Self.searchingShare), comparison.usual), gain(text(shares.lowerBound), comparison.most),
                gain(text(shares.upperBound), comparison.least)
            )
        }
        let saving = { (text: Double) in
            estimate.range { line in
                let rest = line.cost(trips: 1, rows: min(search.found, search.compared))
                // Going through long rows can take more than searching them.
                let searching = max(0, counts.meanTime - rest - step * search.scanned)
                return gain(min(text, searching / search.compared), comparison.usual)
            }
        }
        let texts = TextSearchCost.range
        return (saving(TextSearchCost.usual).median, saving(texts.lowerBound).low, saving(texts.upperBound).high)
    }

    func weigh(_ finding: inout Finding, _ fetch: FetchProfile, _ profile: Profile) {
        let saving = finding.saving.time.median
        guard
            !Significance.isMet(
                saving: saving, wallTime: profile.wallTime(of: fetch.counts.scopes.keys),
                isMainThread: fetch.isOnMainThread)
        else { return }
        let one = saving / Double(max(1, fetch.counts.executions)) * Growth.projected
        finding.reservations.append(
            Significance.notProven + " With ten times the rows it would save some \(duration: one) each time.")
    }
}

/// The terms of a predicate of which all must hold, in the order in which they are written.
struct PredicateOrder {
    /// What is compared cheaply and stands behind a search.
    let cheap: [ShapeEntry.Term]
    /// The searches that stand before it.
    let searches: [ShapeEntry.Term]
    /// All terms, the cheap ones first.
    let better: [ShapeEntry.Term]
    /// Their places before.
    let places: [Int]

    /// `nil`: no search stands before a cheap comparison, or some terms are alternatives, whose order says nothing.
    init?(_ shape: ShapeEntry, _ entity: EntityEntry?) {
        guard let terms = shape.terms, let entity, !terms.contains(where: { $0.isAlternative == true }) else {
            return nil
        }
        guard let first = terms.firstIndex(where: \.isSearch),
            let last = terms.lastIndex(where: { $0.isCheap(entity) }), first < last
        else { return nil }
        cheap = terms[first...].filter { $0.isCheap(entity) }
        searches = terms[..<last].filter(\.isSearch)
        let isCheap = terms.map { $0.isCheap(entity) }
        places = terms.indices.filter { isCheap[$0] } + terms.indices.filter { !isCheap[$0] }
        better = places.map { terms[$0] }
    }

    var signature: String { (cheap + searches).map(\.keyPath).joined(separator: ",") }
}

extension FetchCounts {
    /// What SQLite takes in one of the fetches beside the scan and the rows that it hands out, in nanoseconds; `nil`: the
    /// trace does not tell that apart from waiting, preparing and making objects.
    ///
    /// - Parameter step: What passing over a row takes.
    func searchTime(step: Double, _ machine: MachineCosts) -> Double? {
        guard isSplit else { return nil }
        let handedOut = CostModel.assumed.row / 2 * foundRows
        let reading = (machine.leastPage ?? 0) * Double(pageMisses) / Double(max(1, executions))
        return max(0, meanRunTime - step * scannedRows - handedOut - reading)
    }
}

extension ShapeEntry.Term {
    /// Whether it asks a function about a text.
    var isSearch: Bool {
        if isFolded == true { return false }
        return ["CONTAINS", "ENDSWITH", "LIKE", "MATCHES"].contains(operation) || options != nil
    }

    /// Whether it compares a number, a date, a truth value or what a relationship leads to, in the fetched table.
    fileprivate func isCheap(_ entity: EntityEntry) -> Bool {
        guard operand != "expression", options == nil, let property = entity.column(keyPath) else { return false }
        return ["==", "!=", "<", "<=", ">", ">=", "BETWEEN", "IN"].contains(operation)
            && (property.type == "toOne" || Self.cheapTypes.contains(property.type))
    }

    private static let cheapTypes: Set<String> = [
        "Integer 16", "Integer 32", "Integer 64", "Double", "Float", "Boolean", "Date", "UUID",
    ]
}
