import FaultlineModel

/// Access to an object's values without side effects, for accessors that are written by hand.
///
///     var title: String? {
///         get {
///             willAccessValue(forKey: "title")
///             return primitiveValue(forKey: "title") as? String
///         }
///         set {
///             willChangeValue(forKey: "title")
///             setPrimitiveValue(newValue, forKey: "title")
///             didChangeValue(forKey: "title")
///         }
///     }
extension ManagedObject {
    /// Returns the value of an attribute, or the object of a to-one relationship, without firing this object's fault.
    ///
    /// For a fault, returns only a value that was set. Call ``willAccessValue(forKey:)`` first. Traps if the entity has
    /// no such property or the property is a to-many relationship.
    public final func primitiveValue(forKey name: String) -> Any? {
        let property = primitiveProperty(name)
        guard flags.contains(.isFault) || property.isTransient else {
            return value(forKey: name)
        }
        switch property.isTransient ? transients[property.index] : pending?[property.index] {
        case .value(let value): return transformedValue(value, property)
        case .object(let object): return object
        case .null, .unchanged, nil: return nil
        }
    }

    /// Sets an attribute or a to-one relationship without registering a change.
    ///
    /// The object does not count as changed, no inverse is set, and nothing can be undone. The value is saved together
    /// with the object's other changes, if it has any. Traps as ``primitiveValue(forKey:)`` does, and if the value does
    /// not fit the property.
    public final func setPrimitiveValue(_ value: Any?, forKey name: String) {
        let property = primitiveProperty(name)
        guard !flags.contains(.isDetached) else { return }
        if property.isRelationship {
            let object = Self.object(value, for: property, of: self)
            setUnfired(property, object.map { .object($0) } ?? .null)
            return
        }
        let fitting = fitting(Self.scalar(value, for: property, of: self), property)
        setUnfired(property, fitting.map { .value($0) } ?? .null)
    }

    private final func setUnfired(_ property: PropertySchema, _ value: PendingValue) {
        if property.isTransient {
            transients[property.index] = value
        } else {
            setPendingUnfired(property.index, value)
        }
    }

    /// Fires the object's fault, and the relationship's fault if the property is a to-many relationship.
    ///
    /// Traps if the entity has no such property.
    public final func willAccessValue(forKey name: String?) {
        guard let name else {
            if flags.contains(.isFault), !flags.contains(.isDetached) { _ = managedObjectContext.fire(self) }
            return
        }
        let index = propertyIndex(name)
        if runtime.schema.properties[index].isToMany { _ = members(index) } else { _ = prepareToRead(index) }
    }

    /// Announces that a property is about to be set with ``setPrimitiveValue(_:forKey:)``.
    ///
    /// Fires the object's fault; undo can restore the current value. Traps if the entity has no such property.
    public final func willChangeValue(forKey name: String) {
        let property = primitiveProperty(name)
        if flags.contains(.isFault), !flags.contains(.isDetached) { _ = managedObjectContext.fire(self) }
        managedObjectContext.register { .value(self, property.index, currentValue(property)) }
    }

    /// Registers that a property was set with ``setPrimitiveValue(_:forKey:)``, which makes the next save write it.
    public final func didChangeValue(forKey name: String) {
        guard !runtime.schema.properties[propertyIndex(name)].isTransient else { return }
        managedObjectContext.observeUpdate(self)
    }

    private final func primitiveProperty(_ name: String) -> PropertySchema {
        let property = runtime.schema.properties[propertyIndex(name)]
        requireCorrectUse(
            !property.isToMany,
            "'\(entityName).\(name)' is a to-many relationship and has no primitive value; read it by its name, and add or remove members."
        )
        return property
    }
}

/// The fault state of objects and relationships.
extension ManagedObject {
    /// 0 if the object's values have been accessed, 1 if it is a fault.
    public final var faultingState: Int { isFault ? 1 : 0 }

    /// Whether a relationship's objects have not been loaded.
    ///
    /// For a to-one relationship with an object: whether that object is a fault. Fires no fault. Traps if the entity
    /// has no such relationship.
    public final func hasFault(forRelationshipNamed name: String) -> Bool {
        let property = relationship(name)
        if property.isToMany { return !toManyState(property.index).isKnown }
        switch property.isTransient ? transients[property.index] : pending?[property.index] {
        case .object(let object): return object.isFault
        case .null: return false
        case .unchanged, .value, nil: break
        }
        if flags.contains(.isFault) { return true }
        guard let (row, offset) = location(property.index) else { return false }
        let destination = runtime.store.entities[storedDestination(property, row)]
        let known = managedObjectContext.identities.object(map: destination.map, key: row.integer(at: offset))
        return known?.isFault ?? true
    }

    /// Returns the IDs of a relationship's objects, in the relationship's order.
    ///
    /// Creates no objects. The IDs of a to-many relationship that has not been read are read from the store, and the
    /// relationship stays a fault. Traps if the entity has no such relationship.
    public final func objectIDs(forRelationshipNamed name: String) -> [ManagedObjectID] {
        let property = relationship(name)
        return property.isToMany ? memberIDs(property.index) : toOne(property.index).map { [$0.objectID] } ?? []
    }

    /// The identities of the members of a to-many relationship, in its order.
    final func memberIDs(_ index: Int) -> [ManagedObjectID] {
        let state = toManyState(index)
        if let known = state.identities { return known }
        if state.isLoaded || flags.contains(.isDetached) { return state.members.map(\.objectID) }
        let changed = Set((state.removed + state.added).map(\.objectID))
        let context = managedObjectContext
        let stored = context.memberIDs(of: self, relationship: index).filter {
            !changed.contains($0) && context.registeredObject(for: $0)?.isDeleted != true
        }
        return stored + state.added.map(\.objectID)
    }

    private final func relationship(_ name: String) -> PropertySchema {
        let property = runtime.schema.properties[propertyIndex(name)]
        requireCorrectUse(
            property.isRelationship,
            "'\(entityName).\(name)' is an attribute, not a relationship; name a relationship.")
        return property
    }
}
