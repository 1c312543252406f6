import FaultlineModel
import Foundation

/// What a child's object has from its context's ancestors.
enum InheritedValues {
    /// The ancestors have no unsaved changes of it: it is as the store has it.
    case unchanged
    /// An ancestor is going to delete it, or nobody has it.
    case gone
    /// It is in an ancestor as this row says.
    case row(RowPointer, RowBlock)
}

extension ManagedObjectContext {
    /// What the ancestors have changed of an object.
    @inline(never)
    func inheritedValues(of object: ManagedObject) -> InheritedValues {
        guard let parent else { return .unchanged }
        return inParent(parent) { parent.unsavedValues(of: object) }
    }

    /// What this context, or else an ancestor of it, has changed of a child's object.
    private func unsavedValues(of childObject: ManagedObject) -> InheritedValues {
        let (entity, key) = (childObject.runtime, childObject.key)
        if let object = identities.object(map: entity.map, key: key) {
            if object.isDeleted { return .gone }
            if object.flags.contains(.isInserted) || object.pending != nil {
                if object.isFault { fire(object) }
                guard !object.isInaccessible else { return .gone }
                let made = object.rowWithChanges()
                return .row(made.row, made.block)
            }
        }
        guard let parent else { return key > 0 ? .unchanged : .gone }
        return inParent(parent) { parent.unsavedValues(of: childObject) }
    }

    /// The members of a relationship of a child's object in this context, or else in an ancestor of it, in their order.
    ///
    /// - Returns: `nil` if none of them has unsaved changes of the relationship.
    private func unsavedMembers(of childObject: ManagedObject, _ index: Int) -> [ManagedObjectID]? {
        if let object = identities.object(map: childObject.runtime.map, key: childObject.key),
            object.isInserted || object.toMany[index]?.hasChanges == true
        {
            // A child that puts members in order does so here as well, and its save reads nothing.
            if object.runtime.schema.properties[index].isOrdered { _ = object.members(index) }
            return object.memberIDs(index).filter { registeredObject(for: $0)?.isDeleted != true }
        }
        guard let parent else { return nil }
        return inParent(parent) { parent.unsavedMembers(of: childObject, index) }
    }

    /// The members of a relationship that the ancestors have changed, in their order; `nil`: they have not.
    func inheritedMembers(of object: ManagedObject, _ index: Int) -> [ManagedObjectID]? {
        guard let parent else { return nil }
        return inParent(parent) { parent.unsavedMembers(of: object, index) }
    }
}

extension RowPointer {
    /// The version of a row that is in no store.
    fileprivate static let inheritedVersion: Int64 = -1

    /// Whether the row was made of unsaved changes, for a child context.
    var isInherited: Bool { header.pointee.version == Self.inheritedVersion }
}

extension ManagedObject {
    /// The object's row with its unsaved changes, as a child's object has it.
    final func rowWithChanges() -> (row: RowPointer, block: RowBlock) {
        guard let pending else { return makeInheritedRow { _ in nil } }
        return makeInheritedRow { slot in
            let column = runtime.schema.columns[slot]
            switch pending[column.property] {
            case .unchanged: return nil
            case .null: return .null
            case .object(let other) where other.isDeleted: return .null
            case .object(let other):
                return .integer(column.isEntityColumn ? other.runtime.schema.number : other.key)
            case .value(let value):
                guard runtime.schema.properties[column.property].isExternal, case .binary(let data) = value else {
                    return SQLValue(value)
                }
                return .blob(ExternalData.inlineColumn(data))
            }
        }
    }

    /// A row in the object's layout that is in no store.
    ///
    /// - Parameter value: the value of a column; `nil`: that of the object's row.
    final func makeInheritedRow(_ value: (Int) -> SQLValue?) -> (row: RowPointer, block: RowBlock) {
        var builder = RowBuilder(root: runtime.root, cache: runtime.store.rows, blockSize: 256)
        builder.begin(runtime.layout, key: key, version: RowPointer.inheritedVersion, entity: runtime.place)
        for slot in runtime.schema.columns.indices {
            if let value = value(slot) {
                builder.set(runtime.layout, slot: slot, value)
            } else if let row, row.hasValue(slot: slot) {
                builder.copy(runtime.layout, slot: slot, from: row)
            }
        }
        let row = builder.finish()
        return (row, row.block)
    }
}
