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
        /// The program reads some properties of every row, and others of few: it filters the rows, or sorts them and takes some.
        case chosen(by: [String])
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
        } else if let chosen = Self.chosen(fetch, profile) {
            kind = .chosen(by: chosen.properties)
            (tally, rows) = (chosen.tally, chosen.tally.rows - min(chosen.tally.rows, chosen.rows))
        } else {
            return nil
        }
    }

    /// The minimum rows of a result from which the program chooses, and the maximum share that it chooses.
    static let minimumChoice: UInt64 = 200
    static let chosenShare = 0.2
    /// The maximum share of rows that it chooses by several properties, such as the coordinates of a place.
    ///
    /// A map or a chart shows several values of every row, and more of some.
    static let chosenBySeveral = 0.05
    private static let mostProperties = 3

    /// The types of properties by which programs choose rows.
    ///
    /// A list shows the texts of all rows, and more of a few of them.
    private static let comparedTypes: Set<String> = [
        "Integer 16", "Integer 32", "Integer 64", "Double", "Float", "Decimal", "Boolean", "Date", "UUID", "toOne",
    ]

    /// The results from which the program chooses rows by a property, and the number of rows that it chose.
    ///
    /// A list that scrolls reads the property of its sections of every row, too.
    private static func chosen(_ fetch: FetchProfile, _ profile: Profile) -> (
        properties: [String], rows: UInt64, tally: ResultTally
    )? {
        let shape = fetch.key.shape
        guard shape.resultType == "objects", !shape.isLimited, let (size, use) = fetch.mainUse, size == 0 else {
            return nil
        }
        if case .screens(let shown, _, _) = UsePattern(use), shown < use.maximumRows / 2 { return nil }
        let needs = use.needs.filter { $0.key != .nothing }
        let total = needs.values.reduce(0) { $0 &+ $1.executions }
        guard let all = needs[.all], all.rows >= minimumChoice &* all.executions,
            Double(all.executions) >= ResultDemand.share.value * Double(total &+ use.openExecutions)
        else { return nil }
        let reads = (fetch.properties[shape.entity] ?? [:]).mapValues(\.rowsRead).filter { $0.value > 0 }
        let ofAll = reads.filter { Double($0.value) >= ResultDemand.share.value * Double(all.rows) }
        let share = ofAll.count == 1 ? chosenShare : chosenBySeveral
        let entity = profile.entity(shape.entity)
        guard 1...mostProperties ~= ofAll.count,
            let rows = reads.filter({ ofAll[$0.key] == nil }).values.max(), Double(rows) <= share * Double(all.rows),
            ofAll.keys.allSatisfy({ entity?.property($0).map { comparedTypes.contains($0.type) } == true })
        else { return nil }
        return (ofAll.keys.sorted(), rows, all)
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
        switch kind {
        case .identities: Double(rows) / Double(20 * tally.executions)
        case .chosen: Double(rows) / Double(max(1, tally.rows - rows))
        case .first, .scattered: Double(rows) / Double(max(1, tally.touchedRows))
        }
    }

    /// Whether the program chooses rows by a property.
    var isChosen: Bool { if case .chosen = kind { true } else { false } }

    /// A part of the finding's signature.
    var what: String {
        switch kind {
        case .first: "first"
        case .scattered: "rows"
        case .identities: "identities"
        case .chosen(let properties): "chosen|\(properties.joined(separator: ","))"
        }
    }

    /// `nil` if only the program knows which rows it uses.
    func remedy(for fetch: FetchProfile.Key) -> Remedy? {
        switch kind {
        case .first(let rows): .change(fetch, FetchChange(limit: UInt32(clamping: rows)))
        case .scattered, .chosen: nil
        case .identities: .answer(fetch, .identities)
        }
    }

    var title: Wording {
        switch kind {
        case .first(let first):
            "Limit the fetch of \(entity: entity) to the \(rows: first) that \(first == 1 ? "is" : "are") used"
        case .scattered: "Fetch only the rows of \(entity: entity) that are used"
        case .identities: "Fetch object IDs of \(entity: entity), since nothing else is used"
        case .chosen(let properties):
            "Choose the rows of \(entity: entity) by \(Self.names(properties)) in the request, not in the program"
        }
    }

    private static func names(_ properties: [String]) -> Wording {
        guard let last = properties.last, properties.count > 1 else { return .properties(properties) }
        return "\(Wording.properties(properties.dropLast())) and \(property: last)"
    }

    var fix: Wording {
        switch kind {
        case .first: "With a limit, SQLite stops at the last row that is used."
        case .scattered:
            "Select the used rows in the predicate. Or fetch object IDs, and load the objects that are used with one "
                + "fetch."
        case .chosen(let properties) where properties.count == 1:
            "If the program filters the rows, put the condition into the predicate. If it sorts them and takes the first, sort by "
                + "\(Self.names(properties)) in the request, and set a limit."
        case .chosen(let properties):
            "Put a range of \(Self.names(properties)) into the predicate, such as a box around a place, and choose among the "
                + "few rows that are left."
        case .identities: "SQLite can return object IDs without loading the rows, often from an index alone."
        }
    }

    var code: [String] {
        switch kind {
        case .first(let first): ["request.fetchLimit = \(first)"]
        case .scattered: []
        case .chosen(let properties) where properties.count > 1:
            ["request.predicate ="]
                + properties.enumerated().map { place, property in
                    "    \(place == 0 ? "" : "&& ")PropertyPath(\"\(property)\").between(…, and: …)"
                }
        case .chosen(let properties):
            [
                "request.predicate = PropertyPath(\"\(properties[0])\") > …  // or:",
                "request.sortDescriptors = [.descending(\"\(properties[0])\")]", "request.fetchLimit = …",
            ]
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
        case .chosen(let properties):
            return [
                "Of \(results), the program read \(Self.names(properties)) of every row, and other values of "
                    + "\(count: tally.rows - rows, of: .rows)."
            ]
        case .identities:
            return [
                "The program took the objects or their IDs from \(results), but neither read nor changed any "
                    + "value."
            ]
        }
    }
}
