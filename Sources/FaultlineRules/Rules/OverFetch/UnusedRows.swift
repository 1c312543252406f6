internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// Rows of a fetch that need not be loaded, with the wording of R03's findings about them.
struct UnusedRows {
    enum Kind: Sendable, Hashable {
        /// Only the first rows are used.
        case first(UInt64)
        /// Some rows are used, anywhere in the result.
        case scattered
        /// Only identities are used.
        case identities
    }

    let kind: Kind
    let entity: String
    let tally: ResultTally
    /// The number of rows whose values need not be loaded.
    let rows: UInt64

    /// Returns `nil` if there are none, or another rule reports them.
    init?(of fetch: FetchProfile, _ profile: Profile, _ costs: CostModel) {
        entity = fetch.key.shape.entity
        if let demand = ResultDemand(of: fetch) {
            tally = demand.tally
            switch demand.kind {
            case .first(let first, isCounted: false):
                kind = .first(first)
                rows = tally.untouchedRows
            case .identities:
                kind = .identities
                rows = tally.rows
            case .count, .existence, .fold, .first, .deletion, .update: return nil
            }
        } else if let tally = Self.scattered(fetch), BatchDemand(of: fetch, profile, costs) == nil {
            kind = .scattered
            self.tally = tally
            rows = tally.untouchedRows
        } else {
            return nil
        }
    }

    /// The results with some used rows, which a screen did not show as a list.
    private static func scattered(_ fetch: FetchProfile) -> ResultTally? {
        guard fetch.key.shape.resultType == "objects", let (size, use) = fetch.mainUse, size == 0 else { return nil }
        if case .screens = UsePattern(use) { return nil }
        let needs = use.needs.filter { $0.key != .nothing }
        let total = needs.values.reduce(0) { $0 &+ $1.executions }
        guard let some = needs[.some], total >= ResultDemand.minimumExecutions.count,
            Double(some.executions) >= ResultDemand.share.value * Double(total &+ use.openExecutions),
            some.rows >= ResultDemand.minimumRowsFetched.count,
            Double(some.touchedRows) <= ResultDemand.touchedShare.value * Double(some.rows)
        else { return nil }
        return some
    }

    /// The bytes of the rows that need not be loaded.
    var bytes: Double { tally.rows == 0 ? 0 : Double(tally.bytes) * Double(rows) / Double(tally.rows) }

    /// The number of unneeded rows per used row.
    ///
    /// For identities, the mean number of rows of a result divided by 20.
    var figure: Double {
        kind == .identities
            ? Double(rows) / Double(20 * tally.executions) : Double(rows) / Double(max(1, tally.touchedRows))
    }

    /// A part of the finding's signature.
    var what: String {
        switch kind {
        case .first: "first"
        case .scattered: "rows"
        case .identities: "identities"
        }
    }

    /// `nil` if only the program knows which rows it uses.
    func remedy(for fetch: FetchProfile.Key) -> Remedy? {
        switch kind {
        case .first(let rows): .change(fetch, FetchChange(limit: UInt32(clamping: rows)))
        case .scattered: nil
        case .identities: .answer(fetch, .identities)
        }
    }

    var title: Wording {
        switch kind {
        case .first(let first):
            "Limit the fetch of \(entity: entity) to the \(rows: first) that \(first == 1 ? "is" : "are") used"
        case .scattered: "Fetch only the rows of \(entity: entity) that are used"
        case .identities: "Fetch object IDs of \(entity: entity), since nothing else is used"
        }
    }

    var fix: Wording {
        switch kind {
        case .first: "With a limit, SQLite stops at the last row that is used."
        case .scattered:
            "Select the used rows in the predicate. Or fetch object IDs, and load the objects that are used with one "
                + "fetch."
        case .identities: "SQLite can return object IDs without loading the rows, often from an index alone."
        }
    }

    var code: [String] {
        switch kind {
        case .first(let first): ["request.fetchLimit = \(first)"]
        case .scattered: []
        case .identities: ["let ids = try context.fetchObjectIDs(request)"]
        }
    }

    var explanation: [Wording] {
        let results: Wording = "\(count: tally.executions, "result") with \(rows: tally.rows) in all"
        switch kind {
        case .first(let first):
            return [
                "Of \(results), at most the first \(count: first, of: .rows) of each \(first == 1 ? "was" : "were") "
                    + "used, \(count: tally.touchedRows, of: .rows) in all."
            ]
        case .scattered:
            return [
                "Of \(results), \(count: tally.touchedRows, of: .rows) were used, scattered over the "
                    + "results."
            ]
        case .identities:
            return [
                "The program took the objects or their IDs from \(results), but neither read nor changed any "
                    + "value."
            ]
        }
    }
}
