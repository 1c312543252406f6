import FaultlineModel
import Foundation

/// The state of a child context's object in its ancestors.
enum InheritedValues {
    /// No ancestor has unsaved changes of the object, so the store's row is current.
    case unchanged
    /// An ancestor has deleted it, or neither an ancestor nor the store has it.
    case gone
    /// The nearest ancestor with unsaved changes has these values.
    case row(RowPointer, RowBlock)
}

extension ManagedObjectContext {
    /// The state of an object in the ancestors.
    @inline(never)
    func inheritedValues(of object: ManagedObject) -> InheritedValues {
        guard let parent else { return .unchanged }
        return inParent(parent) { parent.unsavedValues(of: object) }
    }

    /// The state of a child's object in this context, or else in an ancestor of it.
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

    /// The members that a relationship of a child's object has in this context, or else in an ancestor, in their order.
    ///
    /// - Returns: `nil` if neither has unsaved changes of the relationship.
    private func unsavedMembers(of childObject: ManagedObject, _ index: Int) -> [ManagedObjectID]? {
        if let object = identities.object(map: childObject.runtime.map, key: childObject.key),
            object.isInserted || object.toMany[index]?.hasChanges == true
        {
            // If the child rearranges the members, its save rearranges them here and must not read them from the store.
            if object.runtime.schema.properties[index].isOrdered { _ = object.members(index) }
            return object.memberIDs(index).filter { registeredObject(for: $0)?.isDeleted != true }
        }
        guard let parent else { return nil }
        return inParent(parent) { parent.unsavedMembers(of: childObject, index) }
    }

    /// The members of a relationship in their order, if an ancestor has unsaved changes of it; otherwise `nil`.
    func inheritedMembers(of object: ManagedObject, _ index: Int) -> [ManagedObjectID]? {
        guard let parent else { return nil }
        return inParent(parent) { parent.unsavedMembers(of: object, index) }
    }
}

extension RowPointer {
    /// The version of rows that are in no store.
    fileprivate static let inheritedVersion: Int64 = -1

    /// Whether the row was built from unsaved changes, for a child context.
    var isInherited: Bool { header.pointee.version == Self.inheritedVersion }
}

extension ManagedObject {
    /// A row with the object's values, unsaved changes included.
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

    /// Builds a row in the object's layout that is in no store.
    ///
    /// - Parameter value: Returns the value of a column, or `nil` to copy the value of the object's row.
    final func makeInheritedRow(_ value: (Int) -> SQLValue?) -> (row: RowPointer, block: RowBlock) {
        var builder = RowBuilder(root: runtime.root, cache: runtime.store.rows, blockSize: 256)
        builder.begin(runtime.layout, key: key, version: RowPointer.inheritedVersion, entity: runtime.position)
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
