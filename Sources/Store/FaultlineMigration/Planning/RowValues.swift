import FaultlineModel
import FaultlineStore
import Foundation

/// The values of all columns that a pair's newer entity has, from a row of the older one.
struct RowValues {
    /// By column of the newer table; columns of other entities are missing.
    private(set) var values: [String: ColumnValue] = [:]
    /// The references that are dropped from required relationships, as queries for the rows that would lack an object.
    private(set) var lostReferences: [(property: String, condition: String)] = []
    /// The references that must be distinct, because their objects get a to-one relationship back.
    private(set) var sharedReferences: [SharedReference] = []
    /// The columns for entities that must be complete before they are read: the column, its key, and the table it refers to.
    private(set) var entityColumns: [EntityColumn] = []

    /// An older to-one relationship whose inverse holds one object in the newer version.
    struct SharedReference {
        /// The newer relationship from the other end.
        let property: String
        let table: String
        let key: String
        let numbers: [Int64]
    }

    struct EntityColumn: Hashable {
        let table: String
        let column: String
        let key: String
        let destination: String
    }

    /// - Parameter path: The store's file, for messages.
    /// - Throws: `StoreError` if a relationship loses its inverse and its objects cannot be kept.
    init(_ pair: EntityPair, _ pairs: EntityPairs, _ edges: inout KeyTables, path: String) throws(StoreError) {
        for property in pair.new.properties where !property.isTransient {
            switch property.kind {
            case .attribute:
                let initial = pair.constants[property.name] ?? property.defaultValue
                values[property.column] = Self.attribute(property, pair.source(of: property), initial)
            case .toOne:
                addKey(property, pair, pairs, &edges)
            case .toMany, .manyToMany:
                continue
            }
        }
        try addOwnerKeys(pair, pairs, path)
    }

    // MARK: - Attributes

    /// - Parameter initial: The value of an attribute that continues no older one, or whose older value is missing.
    private static func attribute(
        _ property: PropertySchema, _ old: PropertySchema?, _ initial: AttributeValue?
    ) -> ColumnValue {
        let isEncoded = property.isExternal
        let literal: String? =
            property.isDerived
            ? nil
            : initial.map { value in
                guard isEncoded, case .binary(let data) = value else { return SQLValue(value).literal }
                return SQLValue.blob(ExternalData.inlineColumn(data)).literal
            }
        guard let old, !old.isTransient else { return literal.map { ColumnValue(sql: $0) } ?? .null }
        var value = ColumnValue.column(old.column)
        if old.isExternal != property.isExternal {
            value.sql = "\(isEncoded ? MigrationFunctions.encode : MigrationFunctions.decode)(\(old.column))"
        }
        if let literal, !property.isOptional, old.isOptional {
            value.replacesOnlyNull = value.isUnchanged
            value.sql = "COALESCE(\(value.sql), \(literal))"
        }
        return value
    }

    // MARK: - Relationships

    private mutating func addKey(
        _ property: PropertySchema, _ pair: EntityPair, _ pairs: EntityPairs, _ edges: inout KeyTables
    ) {
        let destination = pairs.new.entities[property.destination]
        let inverse = pairs.new.inverse(of: property)
        let oldInverse = inverse.flatMap { pairs.source(of: $0, ownedBy: destination) }
        // The older to-one relationship in the same row: the one that is continued, or the inverse of one that is.
        var key = pair.source(of: property)
        if key == nil, let oldInverse, oldInverse.kind == .toMany, let other = pairs.old.inverse(of: oldInverse) {
            key = pair.old.property(other.name).flatMap {
                $0.relationshipNumber == other.relationshipNumber ? $0 : nil
            }
        }
        var order: ColumnValue?
        if let key, key.kind == .toOne {
            order = add(property, continuing: key, destination, pair, pairs)
        } else if let oldInverse, oldInverse.joinTable?.isOfMembers == true, property.entityColumn == nil,
            pairs.refers(oldInverse, to: pair.old)
        {
            // The older version has the keys in the same rows, although it had no relationship for them.
            (values[property.column], order) = Self.ownerKey(oldInverse, of: destination, pairs)
        } else if let oldInverse, oldInverse.kind == .toOne, pairs.refers(oldInverse, to: pair.old) {
            // The older version has the keys in the rows of the destination.
            let owners = pairs.owners(of: oldInverse)
            if pairs.old.inverse(of: oldInverse)?.kind != .toOne {
                sharedReferences.append(
                    SharedReference(
                        property: "\(pair.new.name).\(property.name)", table: owners[0].table,
                        key: oldInverse.column, numbers: pairs.end(owners, in: destination).kept.map(\.number)))
            }
            let table = edges.table(of: oldInverse, ownedBy: owners, in: destination, pairs)
            let row = "\(pair.old.table).Z_PK"
            let found = "FROM temp.\(table) WHERE k = \(row)"
            values[property.column] = ColumnValue(sql: "(SELECT v \(found))")
            if let column = property.entityColumn { values[column] = ColumnValue(sql: "(SELECT e \(found))") }
        } else {
            values[property.column] = .null
            if let column = property.entityColumn { values[column] = .null }
        }
        if let inverse, inverse.isOrdered, inverse.kind == .toMany, let column = inverse.orderColumn {
            values[column] = order ?? .null
        }
    }

    /// Sets the keys of the owners in to-many relationships to the newer entity that have no inverse.
    private mutating func addOwnerKeys(
        _ pair: EntityPair, _ pairs: EntityPairs, _ path: String
    ) throws(StoreError) {
        for owner in pairs.new.entities {
            for property in owner.properties {
                guard let join = property.joinTable, join.isOfMembers,
                    pairs.new.entities[property.destination].family.contains(pair.new.index)
                else { continue }
                var (key, order): (ColumnValue?, ColumnValue?)
                if let old = pairs.source(of: property, ownedBy: owner) {
                    (key, order) = Self.ownerKey(old, of: owner, pairs)
                    // A store without a column for the older relationship has no members, either.
                    let isUnlocated = old.kind == .toMany && old.inverse == nil
                    guard key != nil || isUnlocated else {
                        throw StoreError(
                            .missingMappingModel,
                            "Migrating '\(path)' is refused because '\(owner.name).\(property.name)' loses its inverse, so an object can be a member of one owner only, which the older objects need not be; keep the inverse, or write a mapping model."
                        )
                    }
                    if !pairs.refers(old, to: pair.old) { (key, order) = (nil, nil) }
                }
                values[join.sourceColumn] = key ?? .null
                if let column = property.orderColumn { values[column] = order ?? .null }
            }
        }
    }

    /// The key of the owner that an older to-many relationship has in the rows of its members, with the column for their order;
    /// `nil` if it has none there.
    private static func ownerKey(
        _ old: PropertySchema, of owner: EntitySchema, _ pairs: EntityPairs
    ) -> (ColumnValue?, ColumnValue?) {
        let column = old.joinTable.map { $0.isOfMembers ? $0.sourceColumn : nil } ?? pairs.old.inverse(of: old)?.column
        guard old.isToMany, let column else { return (nil, nil) }
        let offset = pairs.offset(from: pairs.owners(of: old).first?.table ?? "", to: owner.table)
        return (
            ColumnValue(column: column, sql: offset == 0 ? column : "\(column) + \(offset)"),
            old.orderColumn.map { .column($0) }
        )
    }

    /// Sets the key and the column for its entity.
    ///
    /// - Returns: The value of the column that orders the members of the other end, if the older version has one.
    private mutating func add(
        _ property: PropertySchema, continuing key: PropertySchema, _ destination: EntitySchema, _ pair: EntityPair,
        _ pairs: EntityPairs
    ) -> ColumnValue? {
        let oldDestination = pairs.old.entities[key.destination]
        let end = pairs.end(pairs.family(of: oldDestination), in: destination)
        let offset = pairs.offset(from: oldDestination.table, to: destination.table)
        let moved = offset == 0 ? key.column : "\(key.column) + \(offset)"
        var value = ColumnValue(column: key.column, sql: moved)
        if let column = key.entityColumn, end.isPartial || property.entityColumn != nil {
            entityColumns.append(
                EntityColumn(
                    table: pair.old.table, column: column, key: key.column, destination: oldDestination.table))
        }
        let oldInverse = pairs.old.inverse(of: key)
        var order = (oldInverse?.kind == .toMany ? oldInverse?.orderColumn : nil).map { ColumnValue.column($0) }
        if end.isPartial, let column = key.entityColumn {
            let numbers = end.kept.map { String($0.number) }.joined(separator: ", ")
            value.sql = "CASE WHEN \(column) IN (\(numbers)) THEN \(moved) END"
            order = order.map {
                ColumnValue(column: $0.sql, sql: "CASE WHEN \(column) IN (\(numbers)) THEN \($0.sql) END")
            }
            if !property.isOptional {
                // Another program may have left the entity out; that is completed only after the checks.
                let known =
                    "IFNULL(\(column), (SELECT d.Z_ENT FROM \(oldDestination.table) d WHERE d.Z_PK = \(pair.old.table).\(key.column)))"
                lostReferences.append(
                    (property.name, "\(key.column) IS NOT NULL AND IFNULL(\(known), 0) NOT IN (\(numbers))"))
            }
        }
        values[property.column] = value
        if let column = property.entityColumn { values[column] = Self.entityNumber(key, end) }
        return order
    }

    /// The number of the entity of the object that a key refers to.
    private static func entityNumber(_ key: PropertySchema, _ end: EntityPairs.End) -> ColumnValue {
        guard let column = key.entityColumn else {
            // The older destination has no subentities, so all its objects became objects of one entity.
            let number = end.kept.first.map { String($0.new.number) } ?? "NULL"
            return ColumnValue(sql: "CASE WHEN \(key.column) IS NOT NULL THEN \(number) END")
        }
        if !end.isPartial, end.kept.allSatisfy({ $0.number == $0.new.number }) { return .column(column) }
        let cases = end.kept.map { "WHEN \($0.number) THEN \($0.new.number)" }.joined(separator: " ")
        return ColumnValue(column: column, sql: cases.isEmpty ? "NULL" : "CASE \(column) \(cases) END")
    }
}

/// Temporary tables with the keys of to-one relationships, for rows at their other end.
///
/// They are filled before any table changes.
struct KeyTables {
    private(set) var statements: [String] = []
    private var names: [String: String] = [:]

    /// Returns the table from which the object at the other end of a key is read: `k`, the key; `v`, the row with it; `e`, that
    /// row's newer entity.
    mutating func table(
        of key: PropertySchema, ownedBy owners: [EntitySchema], in destination: EntitySchema, _ pairs: EntityPairs
    ) -> String {
        let source = owners[0].table
        let id = "\(source).\(key.column) \(destination.index)"
        if let known = names[id] { return known }
        let name = "Z_FAULTLINE_KEYS\(names.count + 1)"
        names[id] = name
        let end = pairs.end(owners, in: destination)
        let offset = pairs.offset(from: source, to: destination.table)
        let cases = end.kept.map { "WHEN \($0.number) THEN \($0.new.number)" }.joined(separator: " ")
        let numbers = end.kept.map { String($0.number) }.joined(separator: ", ")
        statements += [
            "CREATE TEMP TABLE \(name) (k INTEGER PRIMARY KEY, v INTEGER, e INTEGER)",
            "INSERT INTO temp.\(name) SELECT \(key.column), MIN(Z_PK)\(offset == 0 ? "" : " + \(offset)"), CASE Z_ENT \(cases) END FROM main.\(source) WHERE \(key.column) IS NOT NULL AND Z_ENT IN (\(numbers)) GROUP BY \(key.column)",
        ]
        return name
    }

    /// The statements that remove the tables.
    var removal: [String] { names.values.sorted().map { "DROP TABLE temp.\($0)" } }
}

/// The SQL expression that gives a column its value, from the row that the older version has.
struct ColumnValue: Hashable {
    /// The older column on which the value is based, if there is one.
    var column: String?
    var sql: String
    /// Whether the expression differs from the column's own value only where that is NULL.
    var replacesOnlyNull = false

    static let null = ColumnValue(sql: "NULL")

    static func column(_ name: String) -> ColumnValue { ColumnValue(column: name, sql: name) }

    /// Whether the value is that of the older column, unchanged.
    var isUnchanged: Bool { column == sql }
}

extension SQLValue {
    /// The value as a literal in SQL.
    var literal: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): String(value)
        // SQLite reads a number's shortest text as the same number. It has no literal for infinity.
        case .real(let value): value.isInfinite ? (value < 0 ? "-9e999" : "9e999") : String(value)
        case .text(let value): Self.literal(value)
        case .blob(let value): "x'" + value.map { String(format: "%02x", $0) }.joined() + "'"
        }
    }

    /// SQLite ends the text of a statement at a zero byte, so a text that contains one is written as bytes.
    private static func literal(_ text: String) -> String {
        if text.utf8.contains(0) { return "CAST(\(SQLValue.blob(Data(text.utf8)).literal) AS TEXT)" }
        return "'" + text.replacing("'", with: "''") + "'"
    }
}
