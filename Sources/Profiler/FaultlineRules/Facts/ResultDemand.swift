internal import FaultlineProfile
internal import FaultlineTrace

/// The purpose of the results that one line fetches, over all its fetches.
///
/// R03 and R05 report it once per line. Other rules leave these lines to them.
struct ResultDemand: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        /// To know the number of rows.
        case count
        /// To know whether there is a row.
        case existence
        /// To compute a value from one number of every row.
        case fold(property: String)
        /// To read the identities.
        case identities
        /// To delete all objects, or to set properties of all of them to the same values.
        case deletion
        case update(properties: [String])
        /// To use the first rows and, if `isCounted`, to know the number of rows.
        case first(rows: UInt64, isCounted: Bool)
    }

    var kind: Kind
    /// The tally of the results with this purpose.
    var tally: ResultTally
    /// The current batch size, or 0 if there is none.
    var batchSize: UInt64

    /// The minimum share of results with the same purpose, and of results whose end the trace has.
    static let share = Threshold(
        "R03", "usualShare", 0.9, .share, "minimum share of a line's results that must show the same pattern")
    /// The minimum rows, or bytes, of a result that is only counted or folded, before it is reported.
    static let minimumRows = Threshold(
        "R05", "minimumRows", 20, .count, "minimum rows of a result that is only counted or added up")
    static let minimumBytes = Threshold(
        "R05", "minimumBytes", 16384, .size, "minimum size of such a result with fewer rows")
    /// The minimum number of results, and of their rows, before unused rows are evaluated.
    static let minimumExecutions = Threshold(
        "R03", "minimumExecutions", 3, .count, "minimum results before a fetch is evaluated")
    static let minimumRowsFetched = Threshold("R03", "minimumRows", 50, .count, "minimum rows before unused ones count")
    /// The minimum number of a result's objects before a batch request is advised.
    static let minimumWritten = Threshold(
        "R10", "writtenRows", 100, .count,
        "minimum objects of a fetch that are deleted, or set to the same values, without being read")
    /// The maximum share of rows that are used.
    static let touchedShare = Threshold("R03", "touchedShare", 0.5, .share, "maximum share of the rows that are used")
    /// The minimum rows of a result of which a few first ones are used, if there are fewer results.
    private static let manyRows: UInt64 = 1000
    /// The maximum number of first rows that count as a preview.
    ///
    /// A list that scrolls shows more of them later.
    static let preview: UInt64 = 5

    /// Returns `nil` if the program used the rows themselves, or if the trace does not show the purpose.
    init?(of fetch: FetchProfile) {
        guard fetch.key.shape.resultType == "objects", let (size, use) = fetch.mainUse else { return nil }
        let needs = use.needs.filter { $0.key != .nothing }
        let total = needs.values.reduce(0) { $0 &+ $1.executions }
        guard total > 0, Self.isMost(total, of: total &+ use.openExecutions) else { return nil }
        batchSize = size
        if let (kind, tally) = Self.asked(needs, total) ?? Self.taken(needs, total) {
            (self.kind, self.tally) = (kind, tally)
        } else if size == 0, let (kind, tally) = Self.first(needs, total, use) {
            (self.kind, self.tally) = (kind, tally)
        } else {
            return nil
        }
        // An aggregate is one row, so a limit would have no effect: the store cannot aggregate only the first rows.
        if case .fold = kind, fetch.key.shape.isLimited { return nil }
    }

    private static func isMost(_ part: UInt64, of whole: UInt64) -> Bool {
        part > 0 && Double(part) >= share.value * Double(whole)
    }

    /// The tally of results whose rows were not used at all.
    private static func asked(_ needs: [ResultNeed: ResultTally], _ total: UInt64) -> (Kind, ResultTally)? {
        var tally = needs[.count] ?? ResultTally()
        let kind: Kind = tally.executions > 0 ? .count : .existence
        if let existence = needs[.existence] { tally.merge(existence) }
        return isMost(tally.executions, of: total) && isLong(tally) ? (kind, tally) : nil
    }

    /// The tally of results whose rows were all used for one purpose: an aggregate, a deletion, an update or their
    /// identities.
    private static func taken(_ needs: [ResultNeed: ResultTally], _ total: UInt64) -> (Kind, ResultTally)? {
        for (need, tally) in needs where isMost(tally.executions, of: total) {
            switch need {
            case .fold(let property) where isLong(tally): return (.fold(property: property), tally)
            case .deletion where isWritten(tally): return (.deletion, tally)
            case .update(let properties) where isWritten(tally): return (.update(properties: properties), tally)
            case .identities
            where tally.executions >= minimumExecutions.count && tally.rows >= minimumRowsFetched.count
                && tally.bytes > 0:
                return (.identities, tally)
            default: return nil
            }
        }
        return nil
    }

    private static func isWritten(_ tally: ResultTally) -> Bool {
        tally.rows >= minimumWritten.count &* tally.executions
    }

    /// The tally of results whose first rows alone were used.
    ///
    /// In a result that is no longer than these, all rows are first rows.
    private static func first(
        _ needs: [ResultNeed: ResultTally], _ total: UInt64, _ use: ResultUse
    ) -> (Kind, ResultTally)? {
        guard var tally = needs[.first] else { return nil }
        let most = tally.mostTouched
        guard
            tally.executions >= minimumExecutions.count
                || most <= preview && tally.rows >= manyRows &* tally.executions
        else { return nil }
        let others: [ResultNeed] = [.all, .identities, .count, .existence]
        for other in others {
            if let short = needs[other], short.mostTouched <= most { tally.merge(short) }
        }
        for (need, short) in needs {
            if case .fold = need, short.mostTouched <= most { tally.merge(short) }
        }
        guard isMost(tally.executions, of: total), tally.rows >= minimumRowsFetched.count,
            Double(tally.touchedRows) <= touchedShare.value * Double(tally.rows), most <= preview || !isScrolled(use),
            // A separate count costs a trip.
            tally.counted == 0 || isLong(tally)
        else { return nil }
        return (.first(rows: most, isCounted: tally.counted > 0), tally)
    }

    private static func isLong(_ tally: ResultTally) -> Bool {
        tally.rows >= minimumRows.count &* tally.executions || tally.bytes >= minimumBytes.count &* tally.executions
    }

    /// Whether the program uses the results a screenful at a time, and may use more rows later.
    private static func isScrolled(_ use: ResultUse) -> Bool {
        guard case .screens(_, let windows, let byPauses) = UsePattern(use) else { return false }
        // Without scopes, scrolling shows as more bursts than results.
        return !byPauses || windows > use.executions
    }
}
