import FaultlineModel
import FaultlineStore

/// The plan that fills a table of the newer version: by changing a table in place, or by copying rows into a new one.
struct TablePlan {
    /// The table of the newer version.
    let table: String
    /// The older tables that are changed or copied; none if the table is new.
    let sources: [String]
    /// Whether the only source becomes this table without being copied.
    let isInPlace: Bool
    /// The statements; copies read tables that were renamed with ``oldName(of:)``.
    let statements: [String]
    /// The new names of a source's columns that are kept in place.
    let renamed: [String: String]
    /// The source's columns whose values change in all rows.
    let assigned: Set<String>
    /// The columns that are left behind.
    let deferred: [DeferredDrop]

    /// The name that a table has while its rows are copied.
    static func oldName(of table: String) -> String { "Z_FAULTLINE_OLD_\(table)" }

    /// - Parameters:
    ///   - target: The table as a new store has it.
    ///   - structure: The store's tables.
    ///   - values: The values of each pair's columns, by the index of the older entity.
    ///   - defers: Whether removed columns are left behind.
    init(
        _ target: StoreStructure.Table, _ pairs: EntityPairs, _ structure: StoreStructure, _ values: [Int: RowValues],
        deferring defers: Bool
    ) {
        table = target.name
        sources = pairs.sources(of: target.name)
        if sources.count == 1, pairs.destinations(of: sources[0]).count == 1, let source = structure.tables[sources[0]],
            source.name == target.name || structure.tables[target.name] == nil,
            let change = TableChange(source, target, pairs, values, deferring: defers), change.passes <= 1
        {
            isInPlace = true
            statements = change.statements
            (renamed, assigned, deferred) = (change.renamed, change.assigned, change.deferred)
        } else {
            isInPlace = false
            (renamed, assigned, deferred) = ([:], [], [])
            let columns = target.columns.map(\.name)
            statements =
                [target.sql]
                + sources.map { source in
                    let members = pairs.pairs(from: source, to: target.name)
                    let offset = pairs.offset(from: source, to: target.name)
                    let selected = columns.map { Self.value($0, members, values, offset: offset) }
                    let numbers = members.map { String($0.old.number) }.joined(separator: ", ")
                    let condition = members[0].old.isInTree ? " WHERE Z_ENT IN (\(numbers))" : ""
                    return
                        "INSERT INTO \(target.name) (\(columns.joined(separator: ", "))) SELECT \(selected.joined(separator: ", ")) FROM \(Self.oldName(of: source)) AS \(source)\(condition)"
                }
        }
    }

    /// The expression for a column of a copied row.
    private static func value(
        _ column: String, _ members: [EntityPair], _ values: [Int: RowValues], offset: Int64
    ) -> String {
        switch column {
        case "Z_PK": return offset == 0 ? "Z_PK" : "Z_PK + \(offset)"
        case "Z_OPT": return "Z_OPT"
        case "Z_ENT": return choice(members.map { ($0.old.number, String($0.new.number)) })
        default:
            return choice(members.map { ($0.old.number, values[$0.old.index]?.values[column]?.sql ?? "NULL") })
        }
    }

    /// An expression that depends on a row's older entity only where it must.
    static func choice(_ cases: [(number: Int64, sql: String)]) -> String {
        if let first = cases.first?.sql, cases.allSatisfy({ $0.sql == first }) { return first }
        let parts = cases.filter { $0.sql != "NULL" }.map { "WHEN \($0.number) THEN \($0.sql)" }
        return "CASE Z_ENT \(parts.joined(separator: " ")) END"
    }
}

/// The statements that make one table out of another in place.
struct TableChange {
    private(set) var statements: [String] = []
    private(set) var renamed: [String: String] = [:]
    private(set) var assigned: Set<String> = []
    /// The columns that are left behind.
    private(set) var deferred: [DeferredDrop] = []
    /// The number of times that the statements process all rows.
    private(set) var passes = 0

    private static let own: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]

    /// Returns `nil` if the table cannot be changed in place.
    init?(
        _ source: StoreStructure.Table, _ target: StoreStructure.Table, _ pairs: EntityPairs,
        _ values: [Int: RowValues], deferring defers: Bool
    ) {
        let members = pairs.pairs(from: source.name, to: target.name)
        let types = Dictionary(source.columns.map { ($0.name, $0.type) }) { first, _ in first }
        guard Self.own.allSatisfy({ types[$0] != nil }), !source.hasUniqueClause else { return nil }
        var carried: [String: String] = [:]
        var added: [StoreStructure.Column] = []
        var assignments: [(column: String, sql: String, onlyNull: String?)] = []
        for column in target.columns where !Self.own.contains(column.name) {
            let contents = members.map { (pair: $0, value: values[$0.old.index]?.values[column.name] ?? .null) }
            let bases = Set(contents.compactMap(\.value.column))
            guard bases.count <= 1 else { return nil }
            guard let base = bases.first else {
                guard types[column.name] == nil else { return nil }
                added.append(column)
                let cases = contents.map { ($0.pair.old.number, $0.value.sql) }
                if cases.contains(where: { $0.1 != "NULL" }) {
                    assignments.append((column.name, TablePlan.choice(cases), nil))
                }
                continue
            }
            guard types[base] == column.type, carried.updateValue(column.name, forKey: base) == nil else { return nil }
            // An entity that had no such property has nothing in the column.
            let changed = contents.filter { content in
                content.value.column != nil
                    ? !content.value.isUnchanged
                    : content.value.sql != "NULL" || content.pair.old.columns.contains { $0.name == base }
            }
            guard !changed.isEmpty else { continue }
            let sql = TablePlan.choice(contents.map { ($0.pair.old.number, $0.value.sql) })
            assignments.append((base, sql, changed.allSatisfy(\.value.replacesOnlyNull) ? base : nil))
        }
        let dropped = source.columns.map(\.name).filter { carried[$0] == nil && !Self.own.contains($0) }
        renamed = carried.filter { $0.key != $0.value }
        guard Set(renamed.values).isDisjoint(with: types.keys), Set(added.map(\.name)).isDisjoint(with: types.keys)
        else { return nil }
        let numbers = members.map { ($0.old.number, String($0.new.number)) }
        if numbers.contains(where: { String($0.0) != $0.1 }) {
            assignments.append(("Z_ENT", TablePlan.choice(numbers), nil))
        }
        statements = added.map { "ALTER TABLE \(source.name) ADD COLUMN \($0.name) \($0.type)" }
        if let entity = members.first?.old, entity.isInTree {
            let kept = numbers.map { String($0.0) }.joined(separator: ", ")
            let family = pairs.old.entities.filter { $0.table == source.name && !$0.isAbstract }
            if family.count > members.count {
                statements.append("DELETE FROM \(source.name) WHERE Z_ENT NOT IN (\(kept))")
            }
        }
        if !assignments.isEmpty {
            let sets = assignments.map { "\($0.column) = \($0.sql)" }.joined(separator: ", ")
            let nulls = assignments.compactMap(\.onlyNull)
            let isPartial = nulls.count == assignments.count
            let condition = isPartial ? " WHERE \(nulls.map { "\($0) IS NULL" }.joined(separator: " OR "))" : ""
            statements.append("UPDATE \(source.name) SET \(sets)\(condition)")
            assigned = isPartial ? [] : Set(assignments.map(\.column))
        }
        statements += renamed.sorted { $0.key < $1.key }.map {
            "ALTER TABLE \(source.name) RENAME COLUMN \($0.key) TO \($0.value)"
        }
        if defers {
            deferred = dropped.map { DeferredDrop(column: $0, of: target.name) }
        } else {
            statements += dropped.map { "ALTER TABLE \(source.name) DROP COLUMN \($0)" }
        }
        if source.name != target.name { statements.append("ALTER TABLE \(source.name) RENAME TO \(target.name)") }
        passes = (assigned.isEmpty ? 0 : 1) + dropped.count - deferred.count
    }
}
