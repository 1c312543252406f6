import CSQLite
import FaultlineModel

/// Objects of a save that violate a uniqueness constraint.
struct ConstraintConflicts {
    struct Conflict {
        var entity: EntitySchema
        /// The properties of the constraint, as indexes.
        var constraint: [Int]
        var values: [SQLValue]
        /// The context's objects that have these values, in the order in which a save would write them.
        var objects: [ManagedObject]
        /// The stored object that has these values; `nil` if only objects of the context conflict.
        var stored: ManagedObjectID?
    }

    private(set) var conflicts: [Conflict] = []

    private struct Key: Hashable {
        var entity: Int
        var constraint: [Int]
        var values: [SQLValue]
    }

    /// Compares the values that a save sets with the store and with each other.
    ///
    /// Objects that the save deletes, or whose values it changes, do not conflict.
    ///
    /// - Complexity: One lookup in the store for each object whose unique values the save sets.
    init(_ changes: ChangeSet, in store: SQLStore) throws(StoreError) {
        let leaving = Set(changes.deleted.map(\.objectID))
        let moving = Dictionary(changes.updated.map { ($0.objectID, $0) }) { first, _ in first }
        var byKey: [Key: Int] = [:]
        for object in changes.updated + changes.revived + changes.inserted {
            let changed = object.isInserted ? nil : object.changedProperties()
            for (entity, constraint) in object.runtime.schema.uniqueProperties(in: store.schema) {
                let isSet = changed.map { !$0.isDisjoint(with: constraint) } ?? true
                guard isSet || changes.revived.contains(object) else { continue }
                let values = constraint.map { object.valueToSave($0) }
                guard !values.contains(.null) else { continue }
                let key = Key(entity: entity.index, constraint: constraint, values: values)
                if let position = byKey[key] {
                    conflicts[position].objects.append(object)
                } else {
                    byKey[key] = conflicts.count
                    conflicts.append(
                        Conflict(entity: entity, constraint: constraint, values: values, objects: [object]))
                }
            }
        }
        store.finishReading()
        for position in conflicts.indices {
            let conflict = conflicts[position]
            let own = Set(conflict.objects.map(\.objectID))
            let found = try store.writer.locked { () throws(StoreError) in try Self.stored(conflict, store) }
            conflicts[position].stored = found.first { id in
                guard !own.contains(id), !leaving.contains(id) else { return false }
                guard let object = moving[id] else { return true }
                return conflict.constraint.map { object.valueToSave($0) } == conflict.values
            }
        }
        conflicts.removeAll { $0.objects.count < 2 && $0.stored == nil }
    }

    private static func stored(_ conflict: Conflict, _ store: SQLStore) throws(StoreError) -> [ManagedObjectID] {
        let entity = conflict.entity
        let columns = conflict.constraint.map { entity.properties[$0].column }
        let conditions = columns.map { "t0.\($0) = ?" }.joined(separator: " AND ")
        let sql = "SELECT t0.Z_ENT, t0.Z_PK FROM \(entity.table) t0 WHERE  \(conditions)"
        let statement = try store.writer.bind(SelectStatement(sql: sql, values: conflict.values))
        store.log.statement(sql, conflict.values)
        var found: [ManagedObjectID] = []
        let origin = TraceOrigin(context: conflict.objects[0].managedObjectContext.traceID)
        try store.writer.session.readAsEvent(statement, doing: "Saving", origin: origin) { row in
            guard let position = store.schema.position(ofNumber: sqlite3_column_int64(row, 0)) else { return }
            found.append(
                ManagedObjectID(
                    store: store.identity, entity: store.schema.entities[position], key: sqlite3_column_int64(row, 1)))
        }
        return found
    }

    var isEmpty: Bool { conflicts.isEmpty }

    /// The error to throw under the policy ``MergePolicy/error``.
    func error(_ first: StoreError, _ context: ManagedObjectContext) -> StoreError {
        guard let conflict = conflicts.first, let object = conflict.objects.last else { return first }
        let names = conflict.constraint.map { "'\(conflict.entity.properties[$0].name)'" }.joined(separator: " and ")
        let other = conflict.stored ?? conflict.objects[0].objectID
        let values = conflict.constraint.count == 1 ? "the same value" : "the same values"
        var error = StoreError(
            .constraint,
            "Saving \(object.entityName) \(object.objectID): \(names) must be unique, and \(other.entityName) \(other) has \(values); change one of the two, or set a merge policy.",
            sqliteCode: first.sqliteCode, objectID: object.objectID)
        error.constraintConflicts = conflicts.map { $0.described(context) }
        return error
    }
}

extension ConstraintConflicts.Conflict {
    /// The conflict in its public form.
    fileprivate func described(_ context: ManagedObjectContext) -> ConstraintConflict {
        let names = constraint.map { entity.properties[$0].name }
        let snapshots = objects.map { $0.snapshot() }
        let database = stored.map { context.object(with: $0) }
        if let database { try? database.fulfill() }
        return ConstraintConflict(
            constraint: names, constraintValues: (snapshots.last ?? [:]).filter { names.contains($0.key) },
            databaseObjectID: stored, databaseSnapshot: database?.storedSnapshot(),
            conflictingObjectIDs: objects.map(\.objectID), conflictingSnapshots: snapshots)
    }
}

extension EntitySchema {
    /// The uniqueness constraints of the entity and its ancestors, each with the entity that declares it.
    func uniqueProperties(in model: ModelSchema) -> [(entity: EntitySchema, constraint: [Int])] {
        var found: [(EntitySchema, [Int])] = []
        var next: EntitySchema? = self
        while let entity = next {
            found += entity.uniquenessConstraints.map { (entity, $0) }
            next = entity.parent.map { model.entities[$0] }
        }
        return found
    }
}

extension ManagedObject {
    /// The value that the save would write to a property's column.
    fileprivate func valueToSave(_ index: Int) -> SQLValue {
        switch pending?[index] {
        case .null?: return .null
        case .value(let value)?: return SQLValue(value)
        case .object(let other)?: return other.isDeleted ? .null : .integer(other.finalKey)
        case .unchanged?, nil: break
        }
        guard runtime.schema.properties[index].isRelationship else {
            return storedValue(index).map { SQLValue($0) } ?? .null
        }
        return location(index).map { .integer($0.row.integer(at: $0.offset)) } ?? .null
    }
}
