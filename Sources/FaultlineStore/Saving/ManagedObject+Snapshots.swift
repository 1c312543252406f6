import FaultlineModel

extension ManagedObject {
    /// The current values of attributes and to-one relationships, by name.
    func snapshot() -> [String: any Sendable] {
        var values: [String: any Sendable] = [:]
        for property in runtime.schema.properties where property.slot >= 0 {
            if property.isRelationship {
                values[property.name] = toOne(property.index)?.objectID
            } else {
                values[property.name] = readValue(property.index)?.plain
            }
        }
        return values
    }

    /// The values in the object's row, in the form of ``snapshot()``.
    func storedSnapshot() -> [String: any Sendable]? {
        guard row != nil else { return nil }
        let store = runtime.store
        var values: [String: any Sendable] = [:]
        for property in runtime.schema.properties where property.slot >= 0 {
            guard property.isRelationship else {
                values[property.name] = storedValue(property.index)?.plain
                continue
            }
            guard let (row, offset) = location(property.index) else { continue }
            var entity = property.destination
            if property.entitySlot >= 0, row.hasValue(slot: property.entitySlot) {
                let number = row.integer(at: RowLayout.offset(ofSlot: property.entitySlot))
                entity = store.schema.position(ofNumber: number) ?? entity
            }
            values[property.name] = ManagedObjectID(
                store: store.identity, entity: store.schema.entities[entity], key: row.integer(at: offset))
        }
        return values
    }

    /// Creates a temporary object to read another version of this object's row.
    final func reader(of row: RowPointer, _ block: RowBlock) -> ManagedObject {
        let entity = runtime.store.entities[Int(row.header.pointee.entity)]
        let object = ManagedObject(
            Seed(context: managedObjectContext, runtime: entity, key: row.key, isInserted: false))
        object.flags = []
        (object.row, object.block) = (row, block)
        return object
    }
}
