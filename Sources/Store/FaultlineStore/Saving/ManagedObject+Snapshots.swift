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

extension ManagedObject {
    /// The columns whose set value differs from the row's, as slots.
    func changedSlots() -> [Int] {
        guard let pending else { return [] }
        return runtime.schema.columns.indices.filter { isChanged(slot: $0, pending) }
    }

    /// Whether a save may write the object's row or compare it with the store's: a value was set, or members were
    /// added.
    var writesRow: Bool { pending != nil || toMany.values.contains { $0.isOrderChanged } }

    /// Whether any column was set, even to the same value.
    var hasSetValues: Bool {
        guard let pending else { return false }
        return runtime.schema.columns.contains { column in
            if case .unchanged = pending[column.property] { false } else { true }
        }
    }

    /// Whether a column was set to a value that is not bitwise identical to the row's.
    ///
    /// Values that are equal in Swift can be stored differently.
    private func isChanged(slot: Int, _ pending: PendingChanges) -> Bool {
        let column = runtime.schema.columns[slot]
        switch pending[column.property] {
        case .unchanged: return false
        case .null: return row?.hasValue(slot: slot) == true
        case .value(let value): return !isStored(value, slot)
        case .object(let other) where other.isDeleted: return row?.hasValue(slot: slot) == true
        case .object(let other):
            guard let row, row.hasValue(slot: slot) else { return true }
            let wanted = column.isEntityColumn ? other.runtime.schema.number : other.finalKey
            return row.integer(at: RowLayout.offset(ofSlot: slot)) != wanted
        }
    }

    /// Whether the row already has a value.
    private func isStored(_ value: AttributeValue, _ slot: Int) -> Bool {
        let property = runtime.schema.properties[runtime.schema.columns[slot].property]
        let wanted = SQLValue(value)
        guard let row, row.hasValue(slot: slot) else { return wanted == .null }
        guard property.isExternal else {
            return storedValue(property.index).map { SQLValue($0).isIdentical(to: wanted) } ?? false
        }
        // If the file is missing, the save replaces it.
        let stored = try? runtime.store.external.value(row.bytes(at: runtime.offsets[property.index]))
        return stored.map { SQLValue.blob($0) == wanted } ?? false
    }

    /// The object's key after the save in progress.
    var finalKey: Int64 { key > 0 ? key : pending?.newKey ?? 0 }

    /// The properties whose set value differs from the row's.
    func changedProperties() -> Set<Int> {
        Set(changedSlots().map { runtime.schema.columns[$0].property })
    }

    /// Discards set values that equal the row's, which would otherwise count as changes of a newer row.
    func forgetUnchangedValues() {
        guard let pending, row != nil else { return }
        let changed = changedProperties()
        for property in runtime.schema.properties where property.slot >= 0 && !changed.contains(property.index) {
            pending[property.index] = .unchanged
        }
    }
}
