internal import FaultlineTrace

/// Finds indexes for joined tables that a fetch scans.
extension MissingIndexRule {
    /// The index of a joined table that saves a fetch from scanning that table or its own, or `nil` if there is none.
    static func joinedIndex(for fetch: FetchProfile, _ profile: Profile) -> IndexProposal? {
        let (scanned, found) = (fetch.counts.scannedRows, fetch.counts.foundRows)
        guard scanned >= FetchIndexing.minimumRows.value, found <= fetch.indexableShare * scanned else { return nil }
        let (joined, scansOwn) = scannedTables(fetch)
        var elements: [String: [(path: String, element: IndexProposal.Element, isRange: Bool)]] = [:]
        for term in fetch.key.shape.terms ?? [] {
            guard let end = end(of: term, from: fetch.key.shape.entity, profile) else { continue }
            // If the fetch scans its own table, SQLite can begin with the joined table instead, unless that has many
            // rows for each row of its own.
            let isScanned = end.table.map { joined.contains($0) } ?? (joined.count == 1)
            guard isScanned || scansOwn && end.isToOne else { continue }
            elements[end.entity, default: []].append(
                (end.path, IndexProposal.Element(property: end.property), term.isJoinedRange))
        }
        let candidates = elements.ordered(on: \.key).compactMap { entity, found -> IndexProposal? in
            guard let path = found.first?.path else { return nil }
            let terms = found.filter { $0.path == path }
            let equal = terms.filter { !$0.isRange }.map(\.element.property).uniqued.sorted().prefix(
                FetchIndexing.maximumColumns.number)
            var index = IndexProposal(
                entity: entity, elements: equal.map { IndexProposal.Element(property: $0) }, equalities: equal.count)
            if let range = terms.first(where: { $0.isRange && !equal.contains($0.element.property) }),
                equal.count < FetchIndexing.maximumColumns.number
            {
                index.elements.append(range.element)
            }
            let tables = profile.entity(entity).map { [$0.table] } ?? joined
            return exists(index, in: tables, profile) ? nil : index
        }
        return candidates.first
    }

    /// The joined tables that a fetch's plans scan, and whether the plans scan the fetched table.
    private static func scannedTables(_ fetch: FetchProfile) -> (joined: Set<String>, scansOwn: Bool) {
        var joined: Set<String> = []
        var scansOwn = false
        for (sql, plans) in fetch.statements.texts {
            for line in plans.knownPlans.keys.flatMap({ $0.split(separator: "\n") }) where line.hasPrefix("SCAN t") {
                let alias = line.dropFirst("SCAN ".count).prefix { $0 != " " }
                if alias == "t0" {
                    scansOwn = true
                } else if let table = StatementEntry(sql: sql).table(of: alias) {
                    joined.insert(table.uppercased())
                }
            }
        }
        return (joined, scansOwn)
    }

    /// The property of another entity that a term compares, if an index can serve it, and that entity's table.
    ///
    /// The table is `nil` if the trace has only the entity's name.
    private static func end(
        of term: ShapeEntry.Term, from start: String, _ profile: Profile
    ) -> (entity: String, property: String, path: String, table: String?, isToOne: Bool)? {
        guard term.isJoinedEquality || term.isJoinedRange else { return nil }
        let names = term.keyPath.split(separator: ".").map(String.init)
        guard names.count > 1, let property = names.last else { return nil }
        let paths = KeyPaths(profile: profile)
        let path = names.dropLast().joined(separator: ".")
        let edges = paths.edges(of: path, from: start)
        guard edges.count == names.count - 1, let edge = edges.last, let name = paths.destination(of: edge) else {
            return nil
        }
        let entity = profile.entity(name)
        // Every store has indexes for to-one relationships.
        guard entity.map({ $0.column(property)?.type ?? "toOne" != "toOne" }) ?? (term.operand == "value") else {
            return nil
        }
        let isToOne = edges.allSatisfy { profile.entity($0.entity)?.property($0.name)?.type == "toOne" }
        return (name, property, path, entity?.table, isToOne)
    }

    /// Whether a table has an index that begins with the same column.
    private static func exists(_ index: IndexProposal, in tables: Set<String>, _ profile: Profile) -> Bool {
        guard let first = index.elements.first else { return true }
        return profile.tableIndexes.contains { tables.contains($0.table) && $0.indexes.begins(with: first.column) }
    }
}

extension ShapeEntry.Term {
    /// The comparison without its `ANY` or `SOME`.
    private var plain: ShapeEntry.Term {
        guard operation.hasPrefix("ANY ") || operation.hasPrefix("SOME ") else { return self }
        var term = self
        term.operation = String(operation.drop { $0 != " " }.dropFirst())
        return term
    }

    fileprivate var isJoinedEquality: Bool { plain.isEquality }
    fileprivate var isJoinedRange: Bool { plain.isRange }
}
