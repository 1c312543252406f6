internal import FaultlineTrace

/// R02: results that are loaded in batches of another size than the program uses, or all at once.
public struct BatchSizeRule: Rule {
    public let id = "R02"
    public let name = "Batch size"
    public let purpose = "Results loaded in larger or smaller pieces than the program uses at a time."

    /// How a result is used, which decides what a good batch size is.
    enum Regime: Sendable, Hashable {
        /// A screenful at a time; `rows` is what 95 % of the screens do not exceed.
        case screens(rows: UInt64, windows: UInt64, byPauses: Bool)
        /// On and on.
        case bulk
    }

    /// The minimum executions, rows or windows for a fetch to be evaluated.
    static let minimumExecutions = Threshold(
        "R02", "minimumExecutions", 3, .count, "minimum results before a fetch is evaluated")
    static let minimumRows = Threshold(
        "R02", "minimumRows", 200, .count, "rows that suffice to evaluate a fetch with fewer results")
    static let minimumWindows = Threshold(
        "R02", "minimumWindows", 3, .count, "screens that suffice to evaluate a fetch with fewer results")

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        var results: UInt64 = 0
        var withoutWindows: UInt64 = 0
        for fetch in profile.fetches where fetch.key.shape.resultType == "objects" {
            let executions = fetch.total(\.executions)
            results &+= executions
            guard let (_, use) = fetch.mainUse else { continue }
            if use.windows.isEmpty { withoutWindows &+= use.executions }
            if let finding = finding(for: fetch, profile, costs) { outcome.findings.append(finding) }
        }
        if results > 0 { outcome.examined = "the use of \(count: results, "result")" }
        let fetched = profile.totals.events[.fetch, default: 0]
        if fetched > 0, results == 0 {
            outcome.obstacles.append("The trace does not say which rows of the fetched results were used.")
        }
        if withoutWindows > 0 {
            outcome.obstacles.append(
                "\(count: withoutWindows, "result") had no rows read, so nothing can be said about its batches."
            )
        }
        return outcome
    }

    /// What is wrong with the batch size of one fetch, if its rows are what it is there for.
    func finding(for fetch: FetchProfile, _ profile: Profile, _ costs: CostModel) -> Finding? {
        guard let (size, use) = fetch.mainUse, use.touchedRows > 0, use.rows > 0, fetch.isForItsRows
        else { return nil }
        if let lost = lostBatching(fetch, size: size, use, profile, costs) { return lost }
        guard !isLoadedOtherwise(use, size: size) else { return nil }
        let windows = use.windows.filter { $0.key != .setup }.values.reduce(0) { $0 &+ $1.values.reduce(0, &+) }
        guard
            use.executions >= Self.minimumExecutions.count || use.rows >= Self.minimumRows.count
                || windows >= Self.minimumWindows.count
        else { return nil }
        switch Self.regime(use) {
        case .screens(let rows, let windows, let byPauses):
            let screens = ScreenBatches(
                size: size, screen: rows, windows: windows, byPauses: byPauses, use: use, fetch: fetch.key)
            return screens.finding(rule: self, profile, costs)
        case .bulk:
            let mayLoadAll = use.maximumRows < UnboundedFetchRule.minimumRows.count || fetch.isExport
            return BulkBatches(size: size, use: use, fetch: fetch.key, mayLoadAll: mayLoadAll)
                .finding(rule: self, profile, costs)
        }
    }

    /// Whether a batched result was loaded as a whole, though most of its batches have no row that the program took out: what
    /// loads them does so with any size.
    private func isLoadedOtherwise(_ use: ResultUse, size: UInt64) -> Bool {
        guard size > 0, let needed = use.loadings[size] else { return false }
        return Double(use.loadedRows) >= 0.9 * Double(use.rows) && needed.rows < use.loadedRows / 2
    }

    /// How a result is used: by scopes of kind screen if it has them, else by pauses, else on and on.
    static func regime(_ use: ResultUse) -> Regime {
        if let screens = use.windows[.screen] {
            // Rows that bulk work took outweigh what screens took only where there are more of them.
            let bulk = [TraceEvent.Scope.Kind.bulk, .request, .test].reduce(0) { $0 &+ rows(use.windows[$1]) }
            if rows(screens) >= bulk { return screen(screens, byPauses: false) }
            return .bulk
        }
        guard let pauses = use.windows[.none], use.windows.keys.allSatisfy({ $0 == nil || $0 == .setup }) else {
            return .bulk
        }
        guard case .screens(let width, let times, _) = screen(pauses, byPauses: true), times >= minimumWindows.count,
            width <= use.maximumRows / 2
        else { return .bulk }
        return .screens(rows: width, windows: times, byPauses: true)
    }

    private static func screen(_ widths: [UInt64: UInt64], byPauses: Bool) -> Regime {
        let times = widths.values.reduce(0, &+)
        var seen: UInt64 = 0
        let rank = UInt64((Double(times) * 0.95).rounded(.up))
        for (width, count) in widths.sorted(by: { $0.key < $1.key }) {
            seen &+= count
            if seen >= rank { return .screens(rows: width, windows: times, byPauses: byPauses) }
        }
        return .bulk
    }

    private static func rows(_ widths: [UInt64: UInt64]?) -> UInt64 {
        (widths ?? [:]).reduce(0) { $0 &+ $1.key &* $1.value }
    }

    /// The batch size for screens of so many rows: half a screen more, rounded up to five, and a hundred at most.
    static func size(forScreen rows: UInt64) -> UInt64 {
        min(100, max(5, (rows * 3 + 9) / 10 * 5))
    }

    static func signature(_ fetch: FetchProfile.Key) -> String {
        ["R02", fetch.shape.entity, SignatureText.shape(fetch.shape), fetch.site?.function ?? ""].joined(separator: "|")
    }

    static func seenAt(_ use: ResultUse) -> [Finding.Sighting] {
        use.loadSites.map { Finding.Sighting(site: $0, count: $1, time: 0) }
            .sorted { ($0.count, $1.site?.sortText ?? "") > ($1.count, $0.site?.sortText ?? "") }
    }
}

extension BatchSizeRule {
    /// Results that are loaded in batches, every one of which is then loaded at once.
    ///
    /// That is what copying a result into an array does. It counts only where most of the rows were never read, since
    /// otherwise the program needed them.
    private func lostBatching(
        _ fetch: FetchProfile, size: UInt64, _ use: ResultUse, _ profile: Profile, _ costs: CostModel
    ) -> Finding? {
        guard size > 0, use.materialised > 0, Significance.isHalf(use.materialised, of: use.executions) else {
            return nil
        }
        let unread = Double(use.materialisedRows - use.materialisedRowsRead)
        let batches = unread / Double(size)
        let estimate = costs.rows(of: fetch.key.shape)
        let saving = estimate.range { $0.cost(trips: batches, rows: unread) }
        let places = Self.seenAt(use)
        var finding = Finding(
            rule: id, ruleName: name,
            title: "Take rows of \(entity: fetch.key.shape.entity) from the result, not from a copy of it",
            change: places.first?.site ?? fetch.key.site,
            score: Score.of(unread / Double(max(1, use.materialisedRowsRead)), info: 1, warning: 10),
            fix: "Keep the \(code: "FetchResults") and index into it: making an array of it loads every batch.",
            saving: Saving(time: Saving.Range(saving)), confidence: min(.medium, estimate.confidence),
            signature: Self.signature(fetch.key) + "|lost")
        finding.saving.trips = Int64(saturating: batches)
        finding.saving.rows = Int64(saturating: unread)
        finding.saving.memory =
            use.loadedRows > 0 ? Int64(saturating: unread * Double(use.bytes) / Double(use.loadedRows)) : 0
        finding.seenAt = places
        finding.scopes = use.loadScopes.names
        finding.evidence = [
            Evidence("executions", use.materialised, .count), Evidence("rows", use.materialisedRows, .rows),
            Evidence("rowsRead", use.materialisedRowsRead, .rows), Evidence("batchSize", size, .rows),
        ]
        finding.explanation = [
            "All \(rows: use.materialisedRows) of \(count: use.materialised, "result") were read in one pass, "
                + "\(count: size, of: .rows) at a time; properties of \(count: use.materialisedRowsRead, of: .rows) were read."
        ]
        finding.claims = [Claim.loads(fetch.key, profile)]
        if !Significance.isMet(saving: saving.median, wallTime: profile.wallTime, isMainThread: use.mainThreadLoads > 0)
        {
            finding.downgrade(Significance.tooLittle(of: "the recorded time") + ".")
        }
        return finding
    }
}
