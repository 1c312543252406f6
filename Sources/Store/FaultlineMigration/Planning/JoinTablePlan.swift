import FaultlineModel
import FaultlineStore

/// The plan that fills the join table of a many-to-many relationship.
///
/// The rows are read before any other table changes.
struct JoinTablePlan {
    /// The table of the newer version.
    let table: String
    /// The older join tables that are changed or copied.
    let sources: Set<String>
    /// Whether the only older join table becomes this table without being copied.
    let isInPlace: Bool
    /// The new names of the older table's columns, if it is kept in place.
    let renamed: [String: String]
    let statements: [String]

    /// A set of pairs of keys in the older version.
    fileprivate struct Edges {
        var table: String
        /// The columns with the keys of both ends; `Z_PK` where a row is itself an end.
        var owner: String
        var member: String
        /// The columns that order the members of an owner, and the owners of a member.
        var memberOrder: String?
        var ownerOrder: String?
        /// The conditions for the pairs that are kept.
        var conditions: [String] = []
        var ownerOffset: Int64 = 0
        var memberOffset: Int64 = 0
        var isJoinTable: Bool
    }

    /// - Parameters:
    ///   - target: The table as a new store has it.
    ///   - property: A side of the relationship, whose objects belong to an entity that is not further up.
    ///   - shared: The older join tables from which other tables are filled, too.
    init(
        _ target: StoreStructure.Table, _ property: PropertySchema, of entity: EntitySchema, _ pairs: EntityPairs,
        _ structure: StoreStructure, shared: Set<String> = []
    ) {
        table = target.name
        let join = property.joinTable!
        let destination = pairs.new.entities[property.destination]
        let inverse = pairs.new.memberKey(of: property)
        var found: [Edges] = []
        let sides = [(property, entity, destination, true), (inverse, destination, entity, false)]
        // A relationship that is its own inverse has only one side.
        let isReflexive = property.relationshipNumber == inverse.relationshipNumber
        for (side, owner, member, isForward) in sides where isForward || !isReflexive {
            let family = Set(owner.family)
            for pair in pairs.pairs where family.contains(pair.new.index) {
                guard let old = pair.source(of: side) else { continue }
                var edges = Self.edges(of: old, pairs, owner, member)
                if !isForward {
                    edges = edges.map { edges in
                        var turned = edges
                        (turned.owner, turned.member) = (edges.member, edges.owner)
                        (turned.memberOrder, turned.ownerOrder) = (edges.ownerOrder, edges.memberOrder)
                        (turned.ownerOffset, turned.memberOffset) = (edges.memberOffset, edges.ownerOffset)
                        return turned
                    }
                }
                for edges in edges
                where !found.contains(where: {
                    $0.table == edges.table && $0.owner == edges.owner && $0.member == edges.member
                }) {
                    found.append(edges)
                }
            }
        }
        sources = Set(found.filter(\.isJoinTable).map(\.table))
        let columns = target.columns.map(\.name)
        var roles: [String: KeyPath<Edges, String?>] = [
            join.sourceColumn: \.ownerColumn, join.destinationColumn: \.memberColumn,
        ]
        if let order = inverse.orderColumn { roles[order] = \.ownerOrder }
        if let order = property.orderColumn { roles[order] = \.memberOrder }
        if found.count == 1, let only = found.first, !shared.contains(only.table),
            let change = Self.change(only, roles, target, structure)
        {
            isInPlace = true
            (statements, renamed) = change
            return
        }
        (isInPlace, renamed) = (false, [:])
        let name = Self.newName(of: target.name)
        statements =
            [target.sql.replacing("CREATE TABLE \(target.name) ", with: "CREATE TABLE \(name) ")]
            + found.map { edges in
                let values = columns.map { column -> String in
                    guard let role = roles[column], let source = edges[keyPath: role] else { return "NULL" }
                    let offset =
                        role == \.ownerColumn ? edges.ownerOffset : role == \.memberColumn ? edges.memberOffset : 0
                    return offset == 0 ? source : "\(source) + \(offset)"
                }
                let condition = edges.conditions.isEmpty ? "" : " WHERE " + edges.conditions.joined(separator: " AND ")
                return
                    "INSERT OR IGNORE INTO \(name) (\(columns.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) FROM \(edges.table)\(condition)"
            }
    }

    /// The name under which a join table is filled.
    static func newName(of table: String) -> String { "Z_FAULTLINE_NEW_\(table)" }

    /// The pairs that an older relationship has, from the side of its objects.
    private static func edges(
        of old: PropertySchema, _ pairs: EntityPairs, _ owner: EntitySchema, _ member: EntitySchema
    ) -> [Edges] {
        let destination = pairs.old.entities[old.destination]
        let owners = pairs.end(pairs.owners(of: old), in: owner)
        let members = pairs.end(pairs.family(of: destination), in: member)
        var edges: Edges
        switch old.kind {
        case .manyToMany:
            let join = old.joinTable!
            edges = Edges(
                table: join.table, owner: join.sourceColumn, member: join.destinationColumn,
                memberOrder: old.orderColumn, ownerOrder: pairs.old.inverse(of: old)?.orderColumn,
                isJoinTable: !join.isOfMembers)
        case .toMany:
            guard let key = pairs.old.inverse(of: old) else { return [] }
            edges = Edges(
                table: destination.table, owner: key.column, member: "Z_PK", memberOrder: old.orderColumn,
                isJoinTable: false)
        case .toOne:
            let inverse = pairs.old.inverse(of: old)
            edges = Edges(
                table: owners.table, owner: "Z_PK", member: old.column,
                ownerOrder: inverse?.kind == .toMany ? inverse?.orderColumn : nil, isJoinTable: false)
        case .attribute: return []
        }
        for (end, column) in [(owners, edges.owner), (members, edges.member)] {
            let numbers = end.kept.map { String($0.number) }.joined(separator: ", ")
            if column == "Z_PK" {
                if end.isPartial { edges.conditions.append("Z_ENT IN (\(numbers))") }
            } else {
                if !edges.isJoinTable { edges.conditions.append("\(column) IS NOT NULL") }
                if end.isPartial {
                    edges.conditions.append(
                        "\(column) IN (SELECT Z_PK FROM \(end.table) WHERE Z_ENT IN (\(numbers)))")
                }
            }
        }
        edges.ownerOffset = pairs.offset(from: owners.table, to: owner.table)
        edges.memberOffset = pairs.offset(from: members.table, to: member.table)
        return [edges]
    }

    /// The statements that change an older join table in place; `nil` if it must be copied.
    private static func change(
        _ edges: Edges, _ roles: [String: KeyPath<Edges, String?>], _ target: StoreStructure.Table,
        _ structure: StoreStructure
    ) -> ([String], [String: String])? {
        guard edges.isJoinTable, edges.ownerOffset == 0, edges.memberOffset == 0,
            let source = structure.tables[edges.table], source.columns.count == target.columns.count,
            source.name == target.name || structure.tables[target.name] == nil
        else { return nil }
        var renamed: [String: String] = [:]
        for (column, other) in zip(target.columns, source.columns) {
            // The order of the columns is that of the primary key.
            guard let role = roles[column.name], edges[keyPath: role] == other.name else { return nil }
            if column.name != other.name { renamed[other.name] = column.name }
        }
        guard Set(renamed.values).isDisjoint(with: source.columns.map(\.name)) else { return nil }
        var statements: [String] = []
        if !edges.conditions.isEmpty {
            statements.append(
                "DELETE FROM \(source.name) WHERE NOT (\(edges.conditions.joined(separator: " AND ")))")
        }
        statements += renamed.sorted { $0.key < $1.key }.map {
            "ALTER TABLE \(source.name) RENAME COLUMN \($0.key) TO \($0.value)"
        }
        if source.name != target.name { statements.append("ALTER TABLE \(source.name) RENAME TO \(target.name)") }
        return (statements, renamed)
    }
}

extension JoinTablePlan.Edges {
    // As optional, so that one type of key path reaches all columns.
    fileprivate var ownerColumn: String? { owner }
    fileprivate var memberColumn: String? { member }
}
