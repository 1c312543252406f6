import FaultlineModel
import Foundation

/// Changed properties and their committed values.
extension ManagedObject {
    /// Returns the stored properties whose value differs from when the object was last read or saved, by name, with
    /// their current values.
    ///
    /// Values are those of ``value(forKey:fileID:line:function:)``, except that a to-many relationship is a `Set` or,
    /// if it is ordered, an array of objects, and a missing value is `NSNull`. A new object is compared with the
    /// defaults of its attributes. Properties set to the value they already had, and transient attributes, are left
    /// out.
    ///
    /// Fires the fault of each changed to-many relationship, and no other.
    public final func changedValues() -> [String: Any] {
        var changed: [String: Any] = [:]
        for property in runtime.schema.properties where isChanged(property) {
            changed[property.name] = plainValue(property)
        }
        return changed
    }

    /// Whether a stored property has a different value than when the object was last read or saved.
    ///
    /// Unlike ``hasChanges``, false for an object whose properties were only set to the values they already had.
    public final var hasPersistentChangedValues: Bool {
        runtime.schema.properties.contains { isChanged($0) }
    }

    /// Returns the values that properties had when the object was last read or saved, by name.
    ///
    /// Values have the form that ``changedValues()`` describes. For a new object they are the defaults of its
    /// attributes. Fires the same faults as reading the properties would. Traps if the entity has no such property.
    ///
    /// - Parameter keys: Names of stored properties; `nil` for all except to-many relationships that have not been
    ///   read.
    public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
        if flags.contains(.isFault), !flags.contains(.isDetached) { _ = managedObjectContext.fire(self) }
        let properties =
            keys.map { $0.map { runtime.schema.properties[propertyIndex($0)] } }
            ?? runtime.schema.properties.filter { !$0.isToMany || toMany[$0.index]?.isKnown == true }
        var values: [String: Any] = [:]
        for property in properties where !property.isTransient { values[property.name] = committedValue(property) }
        return values
    }

    private final func isChanged(_ property: PropertySchema) -> Bool {
        if property.isToMany { return toMany[property.index]?.hasChanges == true }
        guard !property.isTransient, let pending else { return false }
        switch pending[property.index] {
        case .unchanged: return false
        case .null: return committedScalar(property) != nil || committedKey(property) != nil
        case .value(let value): return !isCommitted(value, property)
        case .object(let object):
            guard !object.isDeleted else { return committedKey(property) != nil }
            return committedKey(property).map {
                $0.key != object.key || $0.destination.root != object.runtime.schema.root
            }
                ?? true
        }
    }

    /// Whether a value is bitwise identical to the one in the store.
    private final func isCommitted(_ value: AttributeValue, _ property: PropertySchema) -> Bool {
        let committed = committedScalar(property).map { SQLValue($0) } ?? .null
        return committed.isIdentical(to: SQLValue(value))
    }

    private final func committedScalar(_ property: PropertySchema) -> AttributeValue? {
        guard !property.isRelationship else { return nil }
        return flags.contains(.isInserted) ? property.defaultValue : storedValue(property.index)
    }

    /// The object that a to-one relationship refers to in the store.
    private final func committedKey(_ property: PropertySchema) -> (destination: EntitySchema, key: Int64)? {
        guard property.kind == .toOne, let (row, offset) = location(property.index) else { return nil }
        let schema = runtime.model
        return (schema.entities[storedDestination(property, row)], row.integer(at: offset))
    }

    private final func committedValue(_ property: PropertySchema) -> Any {
        switch property.kind {
        case .attribute: return transformedValue(committedScalar(property), property) ?? NSNull()
        case .toOne:
            guard let (destination, key) = committedKey(property) else { return NSNull() }
            let context = managedObjectContext
            return context.object(runtime.store.entities[destination.index], key: key)
        case .toMany, .manyToMany:
            let members = members(property.index)
            let state = toManyState(property.index)
            let added = Set(state.added)
            return Self.plain(members.filter { !added.contains($0) } + state.removed, property)
        }
    }

    private final func plainValue(_ property: PropertySchema) -> Any {
        switch property.kind {
        case .attribute: transformedValue(readValue(property.index), property) ?? NSNull()
        case .toOne: toOne(property.index) ?? NSNull()
        case .toMany, .manyToMany: Self.plain(members(property.index), property)
        }
    }

    static func plain(_ members: ContiguousArray<ManagedObject>, _ property: PropertySchema) -> Any {
        property.isOrdered ? Array(members) : Set(members)
    }
}
