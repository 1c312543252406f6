internal import FaultlineTrace

/// The index that a fetch wants.
extension MissingIndexRule {
    /// The index that would keep a fetch from going through the table; `nil`: none, or it is not worth it.
    static func index(for fetch: FetchProfile, _ profile: Profile) -> IndexProposal? {
        // Where there is one that SQLite does not take, R22 says why.
        hasIndex(fetch, profile) ? nil : candidate(for: fetch, profile)
    }

    /// Whether a fetch goes through a table for a few rows which one of the table's indexes leads to.
    static func ignoresIndex(_ fetch: FetchProfile, _ profile: Profile) -> Bool {
        candidate(for: fetch, profile) != nil && hasIndex(fetch, profile)
    }

    /// Whether a table that a fetch goes through has an index that leads to the fetch's rows.
    private static func hasIndex(_ fetch: FetchProfile, _ profile: Profile) -> Bool {
        guard let wanted = search(for: fetch.key.shape, profile) else { return false }
        let columns = wanted.elements.map(\.column)
        let plans = fetch.statements.texts.values.flatMap(\.values)
        return plans.contains { runs in
            runs.indexes.contains { index in
                // Rows can be read from either end of what is in order.
                let index = index.uppercased().split(separator: ",").map { column in
                    column.hasSuffix(" DESC") ? String(column.dropLast(5)) : String(column)
                }
                return Set(index.prefix(wanted.equalities)) == Set(columns.prefix(wanted.equalities))
                    && Array(index.prefix(columns.count).dropFirst(wanted.equalities))
                        == Array(columns.dropFirst(wanted.equalities))
            }
        }
    }

    /// The index that would keep a fetch from going through the table, whether the table has it already or not.
    static func candidate(for fetch: FetchProfile, _ profile: Profile) -> IndexProposal? {
        let (scanned, found) = (fetch.counts.scannedRows, fetch.counts.foundRows)
        guard scanned > 0, found <= share(of: fetch) * scanned else { return nil }
        // One that is gone through again and again for few rows, or by its plan, if it is large.
        let isInVain = scanned >= stepsPerRow.value * found && Double(fetch.counts.fullScanSteps) >= minimumSteps.value
        let scans = scansOwnTable(fetch)
        guard isInVain && scans != false || scanned >= minimumRows.value && scans == true else { return nil }
        return index(for: fetch.key.shape, profile).flatMap { leadsToMost($0, fetch) ? nil : $0 }
    }

    /// Whether it is the fetched table that is gone through, and not one that is asked on the way; `nil`: no plan tells.
    private static func scansOwnTable(_ fetch: FetchProfile) -> Bool? {
        let plans = fetch.statements.texts.values.flatMap(\.knownPlans.keys)
        return plans.isEmpty ? nil : plans.contains { StatementTable.ownScan(in: $0) != nil }
    }

    /// Whether the index that finds a fetch's rows has them in its order too.
    static func ordersRows(of fetch: FetchProfile, _ profile: Profile) -> Bool {
        guard let index = candidate(for: fetch, profile) else { return false }
        let keys = fetch.key.shape.sort.map { $0.split(separator: " ").first.map(String.init) ?? "" }
        return index.elements.dropFirst(index.equalities).map(\.property) == keys
    }

    /// The index that leads to the rows of a shape: its equalities, then one range.
    private static func search(for shape: ShapeEntry, _ profile: Profile) -> IndexProposal? {
        guard let entity = profile.entity(shape.entity) else { return nil }
        let terms = (shape.terms ?? []).filter { entity.hasColumn($0.keyPath) }
        let compared = terms.filter(\.isEquality).map(\.keyPath).uniqued.sorted()
        let weak = weakProperties(compared, of: shape.entity, profile)
        let equal = compared.sorted { (weak[$0] ?? 0, $0) < (weak[$1] ?? 0, $1) }.prefix(maximumColumns.number).sorted()
        var elements = equal.map { IndexProposal.Element(property: $0) }
        if let range = terms.first(where: { $0.isRange && !equal.contains($0.keyPath) }),
            elements.count < maximumColumns.number
        {
            elements.append(IndexProposal.Element(property: range.keyPath))
        }
        return elements.isEmpty
            ? nil : IndexProposal(entity: shape.entity, elements: elements, equalities: equal.count)
    }

    /// Those among more properties than an index has of which a value leaves a large part of a table, with that part, as
    /// fetches show that compare nothing else.
    ///
    /// Where there is room for all of them they stay: another value may leave little, and in an index one more costs little.
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

    /// The index that serves a shape: its equalities, then its sort keys or one range.
    private static func index(for shape: ShapeEntry, _ profile: Profile) -> IndexProposal? {
        guard var index = search(for: shape, profile), let entity = profile.entity(shape.entity) else { return nil }
        let equalities = index.equalities
        // One that asks for a single value leaves the rows behind it in order.
        let hasList = (shape.terms ?? []).contains { $0.isEquality && $0.operation == "IN" }
        if index.elements.count == equalities, !hasList {
            index.elements += sortElements(shape, entity).prefix(maximumColumns.number - equalities)
        }
        // An index can be read from either end.
        if index.elements.count > equalities, !index.elements[equalities].isAscending {
            for place in equalities..<index.elements.count { index.elements[place].isAscending.toggle() }
        }
        return index
    }

    /// What rows are sorted by, if an index can have them in that order.
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
