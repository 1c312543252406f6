import FaultlineModel

/// Access to what an object holds without what goes with it, for accessors that are written by hand.
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
    /// The value of an attribute, or the object of a to-one relationship, as far as it is here; of a fault only what was
    /// set.
    ///
    /// Fires no fault of this object: call ``willAccessValue(forKey:)`` first. Traps if the entity has no such property
    /// or it is a to-many relationship.
    public final func primitiveValue(forKey name: String) -> Any? {
        let property = primitiveProperty(name)
        if property.isTransient { return transformedValue(transients[property.index], property) }
        guard flags.contains(.isFault) else {
            return value(forKey: name)
        }
        switch pending?[property.index] {
        case .value(let value): return transformedValue(value, property)
        case .object(let object): return object
        case .null, .unchanged, nil: return nil
        }
    }

    /// Sets an attribute or a to-one relationship without noting a change: the object does not count as changed, no
    /// inverse is set, and nothing can be undone.
    ///
    /// What was set is saved together with the object's other changes, if it has any. Traps as
    /// ``primitiveValue(forKey:)`` does, and if the value does not fit the property.
    public final func setPrimitiveValue(_ value: Any?, forKey name: String) {
        let property = primitiveProperty(name)
        guard !flags.contains(.isDetached) else { return }
        if property.isRelationship {
            let object = Self.object(value, for: property, of: self)
            setPendingUnfired(property.index, object.map { .object($0) } ?? .null)
            return
        }
        let fitting = fitting(Self.scalar(value, for: property, of: self), property)
        if property.isTransient {
            transients[property.index] = fitting
        } else {
            setPendingUnfired(property.index, fitting.map { .value($0) } ?? .null)
        }
    }

    /// Makes sure that a property's value is here: fires the object's fault, and the relationship's if it is a to-many.
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
    /// Fires the object's fault; the value that the property has can be had back by undoing. Traps if the entity has no
    /// such property.
    public final func willChangeValue(forKey name: String) {
        let property = primitiveProperty(name)
        if flags.contains(.isFault), !flags.contains(.isDetached) { _ = managedObjectContext.fire(self) }
        managedObjectContext.register { .value(self, property.index, currentValue(property)) }
    }

    /// Notes that a property was set with ``setPrimitiveValue(_:forKey:)``, so that it is saved.
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

/// What of an object is here.
extension ManagedObject {
    /// 0 if the object's values were asked for, another number if it is a fault.
    public final var faultingState: Int { isFault ? 1 : 0 }

    /// Whether a relationship's objects are not here yet.
    ///
    /// Of a to-one relationship that leads to an object: whether that is a fault. Fires no fault. Traps if the entity
    /// has no such relationship.
    public final func hasFault(forRelationshipNamed name: String) -> Bool {
        let property = relationship(name)
        if property.isToMany { return !toManyState(property.index).isKnown }
        switch pending?[property.index] {
        case .object(let object): return object.isFault
        case .null: return false
        case .unchanged, .value, nil: break
        }
        if flags.contains(.isFault) { return true }
        guard let (row, offset) = place(property.index) else { return false }
        let destination = runtime.store.entities[storedDestination(property, row)]
        let known = managedObjectContext.identities.object(map: destination.map, key: row.integer(at: offset))
        return known?.isFault ?? true
    }

    /// The identities of the objects at the other end of a relationship, in its order.
    ///
    /// Makes no objects. Those of a to-many relationship that was not read yet are read from the store, and the
    /// relationship stays a fault. Traps if the entity has no such relationship.
    public final func objectIDs(forRelationshipNamed name: String) -> [ManagedObjectID] {
        let property = relationship(name)
        guard property.isToMany else { return toOne(property.index).map { [$0.objectID] } ?? [] }
        let state = toManyState(property.index)
        if let known = state.identities { return known }
        if state.isLoaded || flags.contains(.isDetached) { return state.members.map(\.objectID) }
        let changed = Set((state.removed + state.added).map(\.objectID))
        let context = managedObjectContext
        let stored = context.memberIDs(of: self, relationship: property.index).filter {
            !changed.contains($0) && context.registeredObject(for: $0)?.isDeleted != true
        }
        return stored + state.added.map(\.objectID)
    }

    private final func relationship(_ name: String) -> PropertySchema {
        let property = runtime.schema.properties[propertyIndex(name)]
        requireCorrectUse(
            property.isRelationship,
            "'\(entityName).\(name)' is an attribute and leads to no objects; name a relationship.")
        return property
    }
}
