internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The index with which a fetch would seek its rows instead of scanning the table.
struct FetchIndexing {
    let fetch: FetchProfile
    let profile: Profile

    /// The minimum rows of a table that is worth an index.
    static let minimumRows = Threshold(
        "R06", "minimumRows", 500.0, .count, "minimum rows of a table that justifies an index")
    /// The minimum steps of reported scans, in total and per row that was found.
    static let minimumSteps = Threshold("R06", "minimumSteps", 1000.0, .count, "minimum steps of scans in all")
    static let stepsPerRow = Threshold(
        "R06", "stepsPerRow", 10.0, .count, "minimum steps of a scan for each row found")
    /// The maximum share of a table that a fetch loads.
    ///
    /// Seeking more rows one by one takes as long as the scan.
    static let largestShare = Threshold(
        "R06", "largestShare", 0.1, .share, "maximum share of a table that a fetch loads with an index")
    /// The maximum share for requests that an index alone answers, such as a count.
    static let largestIndexShare = Threshold(
        "R06", "largestIndexShare", 0.3, .share,
        "maximum share of a table that a fetch counts, or fetches IDs of, with an index")
    /// The maximum number of columns of an index.
    static let maximumColumns = Threshold("R06", "maximumColumns", 3, .count, "maximum columns of an index")

    /// The index that is missing; `nil` if an index would not help, or if the table has it.
    ///
    /// R22 reports why SQLite does not use an index that the table has.
    var missing: IndexProposal? { hasIndex ? nil : candidate }

    /// Whether the fetch scans the table for a few rows although the table has an index on them.
    var ignoresIndex: Bool { candidate != nil && hasIndex }

    /// Whether the scanned table has an index that finds the fetch's rows.
    private var hasIndex: Bool {
        guard let wanted = search else { return false }
        let columns = wanted.elements.map(\.column)
        let plans = fetch.statements.texts.values.flatMap(\.values)
        return plans.contains { runs in
            runs.indexes.contains { index in
                // An index can be read from either end.
                let index = index.uppercased().split(separator: ",").map { column in
                    column.hasSuffix(" DESC") ? String(column.dropLast(5)) : String(column)
                }
                return Set(index.prefix(wanted.equalities)) == Set(columns.prefix(wanted.equalities))
                    && Array(index.prefix(columns.count).dropFirst(wanted.equalities))
                        == Array(columns.dropFirst(wanted.equalities))
            }
        }
    }

    /// The index that would save a fetch from scanning the table, whether or not the table already has it.
    private var candidate: IndexProposal? {
        let (scanned, found) = (fetch.counts.scannedRows, fetch.counts.foundRows)
        guard scanned > 0, found <= fetch.indexableShare * scanned else { return nil }
        // Repeated scans for few rows qualify, and so does the plan of a large table.
        let gainsNothing =
            scanned >= Self.stepsPerRow.value * found && Double(fetch.counts.fullScanSteps) >= Self.minimumSteps.value
        let scans = scansOwnTable
        guard gainsNothing && scans != false || scanned >= Self.minimumRows.value && scans == true else { return nil }
        return index.flatMap { fetch.gainsNothing(by: $0) ? nil : $0 }
    }

    /// Whether the fetched table itself is scanned, rather than a joined one.
    ///
    /// `nil` if no plan is known.
    private var scansOwnTable: Bool? {
        let plans = fetch.statements.texts.values.flatMap(\.knownPlans.keys)
        return plans.isEmpty ? nil : plans.contains { StatementTable.ownScan(in: $0) != nil }
    }

    /// Whether the index that finds a fetch's rows also has them in the fetch's order.
    var ordersRows: Bool {
        guard let index = candidate else { return false }
        let keys = fetch.key.shape.sort.map { $0.split(separator: " ").first.map(String.init) ?? "" }
        return index.elements.dropFirst(index.equalities).map(\.property) == keys
    }

    /// The index that finds the rows of a shape: its equalities, then one range.
    private var search: IndexProposal? {
        let shape = fetch.key.shape
        guard let entity = profile.entity(shape.entity) else { return nil }
        let terms = (shape.terms ?? []).filter { entity.hasColumn($0.keyPath) }
        let compared = terms.filter(\.isEquality).map(\.keyPath).uniqued.sorted()
        let weak = Self.weakProperties(compared, of: shape.entity, profile)
        let equal = compared.ordered { (weak[$0] ?? 0, $0) < (weak[$1] ?? 0, $1) }.prefix(Self.maximumColumns.number)
            .sorted()
        var elements = equal.map { IndexProposal.Element(property: $0) }
        if let range = terms.first(where: { $0.isRange && !equal.contains($0.keyPath) }),
            elements.count < Self.maximumColumns.number
        {
            elements.append(IndexProposal.Element(property: range.keyPath))
        }
        return elements.isEmpty
            ? nil : IndexProposal(entity: shape.entity, elements: elements, equalities: equal.count)
    }

    /// If there are more properties than an index may have, those whose values match a large share of the table, with
    /// that share.
    ///
    /// The shares come from fetches that compare nothing else. If there is room for all properties, none is weak:
    /// another value may be selective, and one more column costs little.
    static func weakProperties(_ names: [String], of entity: String, _ profile: Profile) -> [String: Double] {
        guard names.count > maximumColumns.number else { return [:] }
        var weak: [String: Double] = [:]
        for fetch in profile.fetches where fetch.key.shape.entity == entity && !fetch.key.shape.isLimited {
            let (scanned, found) = (fetch.counts.scannedRows, fetch.counts.foundRows)
            guard let terms = fetch.key.shape.terms, terms.count == 1, terms[0].isEquality,
                terms[0].operation == "==", names.contains(terms[0].keyPath), scanned > 0,
                found > largestIndexShare.value * scanned
            else { continue }
            weak[terms[0].keyPath] = max(weak[terms[0].keyPath] ?? 0, min(1, found / scanned))
        }
        return weak
    }

    /// The index that serves the fetch: its equalities, then its sort keys or one range.
    private var index: IndexProposal? {
        let shape = fetch.key.shape
        guard var index = search, let entity = profile.entity(shape.entity) else { return nil }
        let equalities = index.equalities
        // Only equality with a single value leaves the remaining columns in order.
        let hasList = (shape.terms ?? []).contains { $0.isEquality && $0.operation == "IN" }
        if index.elements.count == equalities, !hasList {
            index.elements += Self.sortElements(shape, entity).prefix(Self.maximumColumns.number - equalities)
        }
        // An index can be read from either end.
        if index.elements.count > equalities, !index.elements[equalities].isAscending {
            for position in equalities..<index.elements.count { index.elements[position].isAscending.toggle() }
        }
        return index
    }

    /// The sort keys, if an index can have the rows in that order.
    private static func sortElements(_ shape: ShapeEntry, _ entity: EntityEntry) -> [IndexProposal.Element] {
        var elements: [IndexProposal.Element] = []
        for key in shape.sort {
            let words = key.split(separator: " ").map(String.init)
            guard words.count == 2, entity.hasColumn(words[0]) else { return [] }
            elements.append(IndexProposal.Element(property: words[0], isAscending: words[1] != "descending"))
        }
        return elements
    }
}
