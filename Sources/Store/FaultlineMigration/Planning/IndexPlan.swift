import FaultlineStore

/// The indexes that a migration removes and creates.
///
/// An index whose columns stay as they are is kept, even if a new store would give it another name.
struct IndexPlan {
    /// The statements that run before the tables change.
    private(set) var removals: [String] = []
    /// The statements that run after the tables changed.
    private(set) var creations: [(table: String, sql: String)] = []

    /// The change of a table that is kept in place.
    struct KeptTable {
        let newName: String
        let renamed: [String: String]
        /// The columns whose values change in all rows, for which building an index again is faster than changing it.
        let assigned: Set<String>
        /// The columns that the table has afterward.
        let columns: Set<String>
    }

    /// - Parameters:
    ///   - structure: The tables with the indexes that the store has.
    ///   - kept: The tables that are kept in place, by their older names. The indexes of all others go with them.
    ///   - gone: The older tables that are removed or copied.
    ///   - target: The tables that the store has afterward.
    init(
        _ structure: StoreStructure, _ target: StoreStructure, kept: [String: KeptTable], gone: Set<String>
    ) {
        let old = structure.tables.values.sorted { $0.name < $1.name }.flatMap(\.indexes)
        let new = target.tables.values.sorted { $0.name < $1.name }.flatMap(\.indexes)
        var wanted = new
        var others: [(StoreStructure.Index, current: StoreStructure.Index)] = []
        for index in old {
            let plain = Self.columns(of: index, structure.tables[index.table]?.columns.map(\.name) ?? [])
            guard let table = kept[index.table] else {
                // SQLite removes it with its table, but until then its name is taken.
                guard gone.contains(index.table) else { continue }
                removals.append("DROP INDEX \(StoreSetup.quoted(index.name))")
                if Self.isOwn(index), let columns = target.tables[index.table]?.columns.map(\.name),
                    Set(columns).isSuperset(of: plain)
                {
                    creations.append((index.table, index.sql))
                }
                continue
            }
            let current = StoreStructure.Index(
                name: index.name, table: table.newName, isUnique: index.isUnique,
                columns: index.columns.map { column in
                    let name = String(column.prefix { $0 != " " })
                    return (table.renamed[name] ?? name) + column.dropFirst(name.count)
                }, isPartial: index.isPartial, sql: index.sql)
            if !index.hasExpression, table.assigned.isDisjoint(with: plain),
                let position = wanted.firstIndex(where: { $0.equals(current) })
            {
                wanted.remove(at: position)
                others.append((index, current))
            } else if !Self.isOwn(index) || !table.columns.isSuperset(of: plain.map { table.renamed[$0] ?? $0 }) {
                removals.append("DROP INDEX \(StoreSetup.quoted(index.name))")
            }
        }
        // A kept index may have the name that a new one needs.
        for (index, current) in others where wanted.contains(where: { $0.name == index.name }) {
            removals.append("DROP INDEX \(StoreSetup.quoted(index.name))")
            if let again = new.first(where: { $0.equals(current) }) { wanted.append(again) }
        }
        creations += wanted.map { ($0.table, $0.sql) }
    }

    /// The columns of an index; for one with an expression or a condition, those of its table that its statement mentions.
    private static func columns(of index: StoreStructure.Index, _ known: [String]) -> [String] {
        guard index.hasExpression || index.isPartial else {
            return index.columns.map { String($0.prefix { $0 != " " }) }
        }
        let words = Set(index.sql.uppercased().split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
        return known.filter { words.contains($0.uppercased()) }
    }

    /// Whether the program made an index itself; the names of all others begin with a table's.
    private static func isOwn(_ index: StoreStructure.Index) -> Bool { !index.name.hasPrefix("Z") }
}
