internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R07: text searches that run before a cheaper or more selective comparison has narrowed the rows.
///
/// SQLite evaluates the terms of an AND in the order in which they are written, unless an index decides.
struct PredicateOrderRule: Rule {
    let id = "R07"
    let name = "Predicate order"
    let purpose =
        "Text searches that SQLite evaluates before a cheaper or more selective term."
    let kinds: Set<EventKind> = [.fetch, .sql]

    /// The minimum scanned rows for the order to be reported.
    static let minimumRows = Threshold("R07", "minimumRows", 500.0, .count, "minimum rows that are scanned")
    /// The maximum share of rows that may match a useful term.
    static let uselessShare = Threshold(
        "R07", "uselessShare", 0.9, .share, "maximum share of the rows that match the cheaper term")
    /// The assumed time to compare a number, in nanoseconds.
    static let comparison = StepCost(usual: 40, least: 40, most: 40)
    /// The share of SQLite's time, without the scan and the returned rows, that is spent searching, with its range.
    ///
    /// The rest is reading columns.
    static let searchingShare = 0.85
    static let searchingShares = 0.5...1.0

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
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
                "The trace does not show how many texts \(count: uncounted, "search", plural: "searches") compared."
            )
        }
        return outcome
    }

    /// The means of a fetch's text searches.
    struct Search {
        /// The number of scanned rows.
        var scanned: Double
        /// The number of compared texts, of texts that matched the term, and of rows that matched all terms.
        var compared: Double
        var passed: Double
        var found: Double
        /// Whether ``passed`` is exact.
        ///
        /// With several searches, the trace does not show which of them a text passed.
        var isSingle: Bool
        /// Whether a limit omits rows that were sorted, and so matched all terms.
        var isCut: Bool

        /// Returns `nil` if the trace does not have the counters.
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

        /// The share of the passed texts that also match the terms after the search, or `nil` if unknown.
        var leftOver: Double? { isSingle && !isCut && passed > 0 ? min(1, found / passed) : nil }
    }

    private func finding(
        for fetch: FetchProfile, _ order: PredicateOrder, _ search: Search, _ profile: Profile, _ costs: CostModel
    ) -> Finding? {
        let counts = fetch.counts
        // If a cheap term already came first, few texts remain to compare.
        guard search.compared >= search.scanned / 2, (search.leftOver ?? 0) <= Self.uselessShare.value else {
            return nil
        }
        let estimate = costs.store
        let avoided = search.compared * (1 - (search.leftOver ?? 0.5))
        let range = saving(fetch, search, avoided: avoided, estimate, costs.machine)
        let advice = PredicateOrderAdvice(fetch: fetch, order: order, search: search)
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: fetch.key.site,
            severity: Severity.of(avoided, warning: Self.minimumRows.value, error: 50_000), fix: advice.fix,
            code: advice.code,
            saving: Saving(time: Saving.Range(range)),
            confidence: search.leftOver == nil
                ? .low("the selectivity of the other terms is assumed")
                : min(.medium("the cost of comparing a text is an average"), estimate.confidence(in: range)),
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

    /// The saving of the other order: the comparisons of texts that it avoids, minus the comparisons of numbers that it
    /// adds.
    private func saving(
        _ fetch: FetchProfile, _ search: Search, avoided: Double, _ estimate: CostModel.Estimate,
        _ machine: MachineCosts
    ) -> (median: Double, low: Double, high: Double) {
        let counts = fetch.counts
        let comparison = machine.cost(.comparison, assumed: Self.comparison)
        let step = machine.steppedRow.usual
        let gain = { (text: Double, comparison: Double) in
            Double(counts.executions) * (text * avoided - comparison * (search.scanned - search.passed))
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
                // Scanning long rows can take longer than searching them.
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
            Significance.notProven + " With ten times the rows, it would save about \(duration: one) each time.")
    }
}

/// The terms of a predicate that must all hold, in the order in which they are written.
struct PredicateOrder {
    /// The cheap comparisons that come after a search.
    let cheap: [ShapeEntry.Term]
    /// The searches that come before a cheap comparison.
    let searches: [ShapeEntry.Term]
    /// All terms, the cheap ones first.
    let better: [ShapeEntry.Term]
    /// The original positions of these terms.
    let places: [Int]

    /// Returns `nil` if no search comes before a cheap comparison, or terms are alternatives, whose order does not
    /// matter.
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
    /// SQLite's time per fetch without the scan and the returned rows, in nanoseconds, or `nil` if the trace does not
    /// separate it from waiting, preparing and making objects.
    ///
    /// - Parameter step: The time to step over a row.
    func searchTime(step: Double, _ machine: MachineCosts) -> Double? {
        guard isSplit else { return nil }
        let handedOut = CostModel.assumed.row / 2 * foundRows
        let reading = (machine.minimumPage ?? 0) * Double(pageMisses) / Double(max(1, executions))
        return max(0, meanRunTime - step * scannedRows - handedOut - reading)
    }
}

extension ShapeEntry.Term {
    /// Whether SQLite calls a function to compare a text.
    var isSearch: Bool {
        if isFolded == true { return false }
        return ["CONTAINS", "ENDSWITH", "LIKE", "MATCHES"].contains(operation) || options != nil
    }

    /// Whether the term compares a number, a date, a Boolean or a to-one relationship of the fetched table.
    fileprivate func isCheap(_ entity: EntityEntry) -> Bool {
        guard operand != "expression", options == nil, let property = entity.column(keyPath) else { return false }
        return ["==", "!=", "<", "<=", ">", ">=", "BETWEEN", "IN"].contains(operation)
            && (property.type == "toOne" || Self.cheapTypes.contains(property.type))
    }

    private static let cheapTypes: Set<String> = [
        "Integer 16", "Integer 32", "Integer 64", "Double", "Float", "Boolean", "Date", "UUID",
    ]
}

extension PredicateOrderRule {
    var needs: Set<TraceGap.Kind> { [.counters] }

    var thresholds: [Threshold] {
        [Self.minimumRows, Self.uselessShare, SearchOrder.threshold]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R07 reports a predicate whose terms must all match, with a text search before a comparison of a "
                + "number, a date, a Boolean or a relationship, that scans at least "
                + "\(Phrase.decimal(PredicateOrderRule.minimumRows.value, places: 0)) rows. It also reports two text "
                + "searches, if their written order costs at least "
                + "\(Phrase.decimal(SearchOrder.threshold.value, places: 1)) times as much as the other order, because "
                + "the second search is more selective or compares shorter texts.",
            evidence:
                "The finding gives the texts that were compared, the texts that passed, and the rows that were found, "
                + "which show the selectivity of the cheap terms.",
            fix: "Put the cheap terms first. SQLite evaluates the terms of an AND in order unless an index decides.",
            saving:
                "The saving is the time of the text comparisons that are avoided (about "
                + "\(Phrase.duration(TextSearchCost.usual)) each, or SQLite's time without the scan if the trace has "
                + "it), minus the time of comparing the cheap terms in the other rows. For two searches, it is the "
                + "share of the fetch's time, without its trip and rows, that follows from the selectivity of each "
                + "search and the length of its texts.",
            guards: [
                "If more than \(Phrase.percent(PredicateOrderRule.uselessShare.value)) of the rows match the cheap "
                    + "terms, their order makes no difference, and R07 reports nothing.",
                "It reports nothing if an index seeks the rows, or if the predicate has an OR.",
                "If no text passed, or there are several searches, R07 assumes that half of the rows match the other "
                    + "terms, and the confidence is low.",
                "On little data the finding stays a warning, says that the cost is not proven at this size, and "
                    + "projects the saving at ten times the rows.",
                "R07 does not reorder comparisons of numbers: an unneeded one takes about "
                    + "\(Phrase.duration(PredicateOrderRule.comparison.usual)).",
            ])
    }
}
