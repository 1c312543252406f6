import CSQLite
import FaultlineModel
import FaultlineTrace
import Foundation

extension BatchExecution {
    /// Inserts a row for each dictionary, or updates the row that already has its unique values if the policy says so.
    mutating func insert(
        _ entity: EntityRuntime, _ policy: MergePolicy, _ next: () -> [String: AttributeValue]?
    ) throws(StoreError) -> BatchResult {
        let schema = entity.schema
        try checkTables([schema.table])
        let root = store.schema.entities[schema.root]
        var last = try first("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(root.number)]) ?? 0
        var insertion = Insertion(schema, store.schema, policy)
        var (inserted, updated): ([Key], [Key]) = ([], [])
        var set: [Key: Set<Int>] = [:]
        while let dictionary = next() {
            let row = try values(of: dictionary, schema, &insertion)
            let new = Key(entity: schema.index, key: last + 1)
            switch try write(row, dictionary, new.key, insertion) {
            case .inserted:
                inserted.append(new)
                last += 1
            case .updated(let key):
                updated.append(key)
                if store.history != nil {
                    set[key, default: []].formUnion(insertion.setColumns(dictionary).map(\.property))
                }
            case .ignored: break
            }
        }
        try run("UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?", [.integer(last), .integer(root.number)])
        try checkDestinations(insertion, inserted + updated)
        // Several dictionaries can have the same unique values.
        var known = updated.isEmpty ? [] : Set(inserted)
        let changed = updated.filter { known.insert($0).inserted }
        span?.event.inserted = UInt32(clamping: inserted.count)
        span?.event.updated = UInt32(clamping: changed.count)
        observe(inserted, \.inserted)
        observe(changed, \.updated) { set[$0] ?? [] }
        return result(inserted + changed, count: inserted.count + changed.count)
    }

    /// The SQL and the constraints that all rows of a request share.
    private struct Insertion {
        let schema: EntitySchema
        let policy: MergePolicy
        /// The columns of each uniqueness constraint.
        let constraints: [[ColumnSchema]]
        /// The relationships that any dictionary sets, by index.
        var relationships: Set<Int> = []
        /// The text up to the values' end.
        let text: String
        /// The condition that an existing row has the entity, if its table has others.
        let isOfFamily: String
        let columns: [ColumnSchema]
        /// The text that keeps or clears an existing row's place in an ordered relationship, by property.
        let orders: [Int: String]

        init(_ schema: EntitySchema, _ model: ModelSchema, _ policy: MergePolicy) {
            self.schema = schema
            self.policy = policy
            columns = schema.columns
            constraints = schema.uniqueProperties(in: model).map { _, constraint in
                constraint.map { schema.columns[schema.properties[$0].slot] }
            }
            let names = ["Z_PK", "Z_ENT", "Z_OPT"] + schema.columns.map(\.name)
            let marks = Array(repeating: "?", count: names.count).joined(separator: ", ")
            text = "INSERT INTO \(schema.table)(\(names.joined(separator: ", "))) VALUES(\(marks))"
            let numbers = schema.family.map { String(model.entities[$0].number) }.joined(separator: ", ")
            isOfFamily = schema.isInTree ? " WHERE Z_ENT IN (\(numbers))" : ""
            var orders: [Int: String] = [:]
            for property in schema.properties where property.kind == .toOne && !property.isTransient {
                guard let inverse = model.inverse(of: property), inverse.kind == .toMany,
                    let order = inverse.orderColumn
                else { continue }
                orders[property.index] =
                    "\(order) = CASE WHEN \(property.column) IS excluded.\(property.column) THEN \(order) END"
            }
            self.orders = orders
        }

        /// The statement that writes a dictionary's row.
        ///
        /// Each constraint is named, so that a key that is already taken, as in a damaged store, never counts as one.
        func statement(for dictionary: [String: AttributeValue]) -> String {
            guard policy != .error, !constraints.isEmpty else { return text }
            let action =
                policy.prefersObject ? "DO UPDATE SET \(sets(dictionary).joined(separator: ", "))" : "DO NOTHING"
            let clauses = constraints.map { constraint in
                " ON CONFLICT(\(constraint.map(\.name).joined(separator: ", "))) \(action)"
                    + (policy.prefersObject ? isOfFamily : "")
            }
            return "\(text)\(clauses.joined()) RETURNING Z_ENT, Z_PK"
        }

        /// The columns of an existing row that the policy sets: of the given properties, or of all if it replaces the row.
        func setColumns(_ dictionary: [String: AttributeValue]) -> [ColumnSchema] {
            columns.filter { column in
                let property = schema.properties[column.property]
                return (policy == .overwrite || dictionary[property.name] != nil) && !property.isDerived
            }
        }

        /// The columns with large values among those.
        func setExternalColumns(_ dictionary: [String: AttributeValue]) -> [ColumnSchema] {
            guard policy.prefersObject, !constraints.isEmpty else { return [] }
            return setColumns(dictionary).filter { schema.properties[$0.property].isExternal }
        }

        /// The statement that reads columns of the row that has the values of a constraint.
        func select(_ what: String, _ constraint: [ColumnSchema], _ values: [SQLValue]) -> SelectStatement {
            let conditions = constraint.map { "t0.\($0.name) = ?" }.joined(separator: " AND ")
            return SelectStatement(
                sql: "SELECT \(what) FROM \(schema.table) t0 WHERE  \(conditions)",
                values: constraint.map { values[schema.properties[$0.property].slot] })
        }

        private func sets(_ dictionary: [String: AttributeValue]) -> [String] {
            var sets: [String] = []
            for column in setColumns(dictionary) {
                let property = schema.properties[column.property]
                sets.append("\(column.name) = excluded.\(column.name)")
                if !column.isEntityColumn, let order = orders[property.index] { sets.append(order) }
            }
            return sets + ["Z_OPT = Z_OPT + 1"]
        }
    }

    private enum Written {
        case inserted
        /// The row of an existing object was updated.
        case updated(Key)
        /// An existing object has the unique values, and stays as it is.
        case ignored
    }

    private mutating func write(
        _ values: [SQLValue], _ dictionary: [String: AttributeValue], _ key: Int64, _ insertion: Insertion
    ) throws(StoreError) -> Written {
        let schema = insertion.schema
        let all = [.integer(key), .integer(schema.number), .integer(1)] + values
        let sql = insertion.statement(for: dictionary)
        guard insertion.policy != .error, !insertion.constraints.isEmpty else {
            do throws(StoreError) {
                try run(sql, all)
            } catch  where error.sqliteCode == StoreError.uniqueViolation {
                throw try violation(values, insertion) ?? error
            }
            return .inserted
        }
        try replaceFiles(values, insertion, insertion.setExternalColumns(dictionary))
        var found: Key?
        try readBack(sql, all) { entity, key in found = Key(entity: entity ?? schema.index, key: key) }
        if let found { return found.key == key ? .inserted : .updated(found) }
        guard insertion.policy.prefersObject else {
            for case .blob(let data) in values { if let file = file(data) { files.replace(file) } }
            return .ignored
        }
        // The row is one of another entity of the tree, which may not have the properties.
        throw try violation(values, insertion)
            ?? StoreError(.constraint, "Inserting \(schema.name): a value that must be unique already exists.")
    }

    /// Registers the files of the large values that a row is about to lose.
    private mutating func replaceFiles(
        _ values: [SQLValue], _ insertion: Insertion, _ columns: [ColumnSchema]
    ) throws(StoreError) {
        guard !columns.isEmpty else { return }
        let external = store.external
        var old: [URL] = []
        for constraint in insertion.constraints {
            try read(insertion.select(columns.map { "t0.\($0.name)" }.joined(separator: ", "), constraint, values)) {
                row in
                for column in 0..<Int32(columns.count) {
                    let bytes = UnsafeRawBufferPointer(
                        start: sqlite3_column_blob(row, column), count: Int(sqlite3_column_bytes(row, column)))
                    if let file = external.file(bytes) { old.append(file) }
                }
            }
        }
        for file in old { files.replace(file) }
    }

    private func file(_ value: Data) -> URL? { value.withUnsafeBytes { store.external.file($0) } }

    /// Runs a statement that returns the entity and the key of the row that it wrote.
    private mutating func readBack(
        _ sql: String, _ values: [SQLValue], _ body: (Int?, Int64) -> Void
    ) throws(StoreError) {
        span?.writes(values)
        let schema = store.schema
        try read(SelectStatement(sql: sql, values: values)) { row in
            body(schema.position(ofNumber: sqlite3_column_int64(row, 0)), sqlite3_column_int64(row, 1))
        }
    }

    /// The error for unique values that an object in the store already has; `nil` if none has them.
    private mutating func violation(_ values: [SQLValue], _ insertion: Insertion) throws(StoreError) -> StoreError? {
        let schema = insertion.schema
        for constraint in insertion.constraints {
            var found: Key?
            let model = store.schema
            try read(insertion.select("t0.Z_ENT, t0.Z_PK", constraint, values)) { row in
                let position = model.position(ofNumber: sqlite3_column_int64(row, 0))
                found = Key(entity: position ?? schema.index, key: sqlite3_column_int64(row, 1))
            }
            guard let found else { continue }
            let names = constraint.map { schema.properties[$0.property].name }
            let id = ManagedObjectID(store: store.identity, entity: model.entities[found.entity], key: found.key)
            let isOther = !schema.family.contains(found.entity)
            var error = StoreError(
                .constraint,
                "Inserting \(schema.name): \(names.map { "'\($0)'" }.joined(separator: " and ")) must be unique, and \(id.entityName) \(id) has the same value\(names.count == 1 ? "" : "s"); "
                    + (isOther && insertion.policy.prefersObject
                        ? "no merge policy changes an object of another entity, so omit the dictionary."
                        : "omit the dictionary, or set the context's mergePolicy."),
                sqliteCode: StoreError.uniqueViolation, objectID: id)
            error.constraintConflicts = [
                ConstraintConflict(
                    constraint: names, constraintValues: [:], databaseObjectID: id, databaseSnapshot: nil,
                    conflictingObjectIDs: [], conflictingSnapshots: [])
            ]
            return error
        }
        return nil
    }

    // MARK: - Values

    /// The values of the entity's columns.
    private mutating func values(
        of dictionary: [String: AttributeValue], _ schema: EntitySchema, _ insertion: inout Insertion
    ) throws(StoreError) -> [SQLValue] {
        var destinations: [Int: ManagedObjectID] = [:]
        for name in dictionary.keys.sorted() {
            guard let property = schema.property(name) else {
                throw StoreError(
                    .invalidRequest, "Inserting \(schema.name): it has no property '\(name)'; correct the name.")
            }
            guard property.isRelationship else { continue }
            destinations[property.index] = try destination(dictionary[name]!, property, schema)
            insertion.relationships.insert(property.index)
        }
        var values: [SQLValue] = []
        values.reserveCapacity(schema.columns.count)
        for column in schema.columns {
            let property = schema.properties[column.property]
            guard property.isRelationship else {
                values.append(try value(property, dictionary, schema))
                continue
            }
            let id = destinations[property.index]
            values.append(id.map { .integer(column.isEntityColumn ? $0.entity.number : $0.key) } ?? .null)
        }
        return values
    }

    private mutating func value(
        _ property: PropertySchema, _ dictionary: [String: AttributeValue], _ schema: EntitySchema
    ) throws(StoreError) -> SQLValue {
        guard let type = property.attributeType else { return .null }
        guard let given = dictionary[property.name] else {
            guard let value = property.defaultValue else { return .null }
            return try stored(value, property)
        }
        let value = ManagedObject.convert(given, to: type)
        guard value.fits(type) else {
            throw StoreError(
                .invalidRequest,
                "Inserting \(schema.name): '\(property.name)' of type \(type.rawValue) cannot be set to \(given); pass a value of its type."
            )
        }
        return try stored(value, property)
    }

    /// The value of a column; a large one goes to a file.
    private mutating func stored(_ value: AttributeValue, _ property: PropertySchema) throws(StoreError) -> SQLValue {
        guard property.isExternal, case .binary(let data) = value else { return SQLValue(value) }
        return .blob(try files.column(data))
    }

    /// The object that a dictionary assigns to a relationship.
    private func destination(
        _ value: AttributeValue, _ property: PropertySchema, _ schema: EntitySchema
    ) throws(StoreError) -> ManagedObjectID {
        let doing = "Inserting \(schema.name): '\(property.name)'"
        let destination = store.schema.entities[property.destination]
        guard property.kind == .toOne, !property.isTransient else {
            throw StoreError(
                .invalidRequest,
                "\(doing) is a \(property.isTransient ? "transient" : "to-many") relationship, which a batch insert cannot set; \(property.isTransient ? "omit it" : "set the other side's to-one relationship"), or insert objects with a context."
            )
        }
        if let inverse = store.schema.inverse(of: property), inverse.kind == .toOne, !inverse.isTransient {
            throw StoreError(
                .invalidRequest,
                "\(doing) is one-to-one with '\(destination.name).\(inverse.name)', which would have to change too; insert objects with a context."
            )
        }
        guard case .uri(let url) = value, let id = store.objectID(url),
            destination.family.contains(id.entity.index)
        else {
            throw StoreError(
                .invalidRequest,
                "\(doing) is a relationship and cannot be set to \(value); pass .object(_:) with the ID of a saved \(destination.name) of the store."
            )
        }
        return id
    }

    /// Checks that the objects that relationships were set to exist.
    ///
    /// Costs one statement for each of the relationships.
    private mutating func checkDestinations(_ insertion: Insertion, _ keys: [Key]) throws(StoreError) {
        guard !keys.isEmpty else { return }
        for index in insertion.relationships.sorted() {
            let schema = insertion.schema
            let property = schema.properties[index]
            let destination = store.schema.entities[property.destination]
            var lost: Int64?
            try read(
                SelectStatement(
                    sql:
                        "SELECT t0.\(property.column) FROM \(schema.table) t0 LEFT OUTER JOIN \(destination.table) t1 ON t0.\(property.column) = t1.Z_PK WHERE (t0.Z_PK IN (SELECT * FROM _Z_intarray0) AND  t0.\(property.column) IS NOT NULL AND  t1.Z_PK IS NULL)  LIMIT 1",
                    arrays: [keys.map(\.key)])
            ) { lost = sqlite3_column_int64($0, 0) }
            guard let lost else { continue }
            let id = ManagedObjectID(store: store.identity, entity: destination, key: lost)
            throw StoreError(
                .objectGone,
                "Inserting \(schema.name): '\(property.name)' is set to \(destination.name) \(id), which is no longer in the store; pass the ID of an object that exists.",
                objectID: id)
        }
    }
}
