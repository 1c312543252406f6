internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The change that the batch size of a fetch needs.
///
/// R02 advises it; rules about the same rows leave such fetches to R02.
enum BatchDemand {
    /// The program copies batched results, which loads every batch at once.
    case lost(LostBatches)
    case screens(ScreenBatches)
    case bulk(BulkBatches, BatchCurve)

    /// The minimum number of results, or of rows in fewer results, before a fetch is evaluated.
    static let minimumExecutions = Threshold(
        "R02", "minimumExecutions", 3, .count, "minimum results before a fetch is evaluated")
    static let minimumRows = Threshold(
        "R02", "minimumRows", 200, .count, "rows that suffice to evaluate a fetch with fewer results")

    /// - Returns: `nil` if the batch size is good, or if the program does not use the rows themselves.
    init?(of fetch: FetchProfile, _ profile: Profile, _ costs: CostModel) {
        guard let (size, use) = fetch.mainUse, use.touchedRows > 0, use.rows > 0, fetch.isForItsRows else { return nil }
        if let lost = LostBatches(size: size, use: use, fetch: fetch.key) {
            self = .lost(lost)
            return
        }
        guard !Self.isLoadedOtherwise(use, size: size), Self.isUsedOften(use) else { return nil }
        switch UsePattern(use) {
        case .screens(let rows, let windows, let byPauses):
            let screens = ScreenBatches(
                size: size, screen: rows, windows: windows, byPauses: byPauses, use: use, fetch: fetch.key)
            guard screens.fault != .none else { return nil }
            self = .screens(screens)
        case .bulk:
            let mayLoadAll = use.maximumRows < FetchProfile.manyRows.count || fetch.isExport
            let tree = profile.tree(of: fetch.key.shape.entity)
            let written = profile.changes.filter { profile.tree(of: $0.key) == tree }.values.reduce(0) {
                $0 &+ $1.updated &+ $1.deleted
            }
            let bulk = BulkBatches(
                size: size, use: use, fetch: fetch.key, mayLoadAll: mayLoadAll,
                keepsObjects: Significance.isAtLeastHalf(written, of: use.touchedRows))
            let identities = profile.identities(of: fetch.key, costs).line
            guard let curve = bulk.improvement(costs.rows(of: fetch.key.shape).line, identities) else { return nil }
            self = .bulk(bulk, curve)
        }
    }

    /// Whether there are enough results, rows or screens to judge a batch size by.
    static func isUsedOften(_ use: ResultUse) -> Bool {
        let windows = use.windows.filter { $0.key != .setup }.values.reduce(0) { $0 &+ $1.values.reduce(0, &+) }
        return use.executions >= minimumExecutions.count || use.rows >= minimumRows.count
            || windows >= UsePattern.minimumWindows.count
    }

    /// Whether a batched result was loaded as a whole, although the program took no row from most of its batches.
    ///
    /// Whatever loads them does so with any batch size.
    private static func isLoadedOtherwise(_ use: ResultUse, size: UInt64) -> Bool {
        guard size > 0, let needed = use.loadings[size] else { return false }
        return Double(use.loadedRows) >= 0.9 * Double(use.rows) && needed.rows < use.loadedRows / 2
    }
}

/// Results that are fetched in batches, although the program loads all batches at once.
///
/// Copying a result into an array loads them all.
struct LostBatches {
    /// The current batch size.
    let size: UInt64
    let use: ResultUse
    let fetch: FetchProfile.Key

    /// - Returns: `nil` unless at least half of the results were copied. A copy does not count if most of its rows were
    ///   read, because the program needed those rows.
    init?(size: UInt64, use: ResultUse, fetch: FetchProfile.Key) {
        guard size > 0, use.materialised > 0, Significance.isAtLeastHalf(use.materialised, of: use.executions) else {
            return nil
        }
        (self.size, self.use, self.fetch) = (size, use, fetch)
    }

    /// The number of rows that were never read.
    var unread: Double { Double(use.materialisedRows - use.materialisedRowsRead) }
    /// The number of batches that those rows fill.
    var batches: Double { unread / Double(size) }
}
