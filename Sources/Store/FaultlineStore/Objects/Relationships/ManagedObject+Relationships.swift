package import FaultlineModel

extension ManagedObject {
    /// The object of a to-one relationship.
    ///
    /// Reading it fires the fault of this object, but not of the destination.
    public final subscript<Destination: ManagedObject>(key: ToOneKey<Destination>) -> Destination? {
        get { toOne(key.index(in: self)).map { Self.cast($0, key.name) } }
        set { setToOne(key.index(in: self), newValue) }
    }

    /// The objects of a to-many relationship, for reading and changing.
    public final subscript<Destination: ManagedObject>(key: ToManyKey<Destination>) -> ToMany<Destination> {
        get { ToMany(self, key.index(in: self)) }
        set { if newValue.owner !== self { setToMany(key.index(in: self), newValue.map { $0 }) } }
    }

    /// The objects of an ordered to-many relationship, for reading and changing.
    public final subscript<Destination: ManagedObject>(
        key: OrderedToManyKey<Destination>
    ) -> OrderedToMany<Destination> {
        get { OrderedToMany(self, key.index(in: self)) }
        set { if newValue.owner !== self { setToMany(key.index(in: self), newValue.map { $0 }) } }
    }

    static func cast<Destination: ManagedObject>(_ object: ManagedObject, _ name: String) -> Destination {
        guard let cast = object as? Destination else {
            incorrectUse(
                "'\(name)' refers to a \(type(of: object)), not a \(Destination.self); list the class when you create the container."
            )
        }
        return cast
    }

    // MARK: - To-one

    package final func toOne(_ index: Int) -> ManagedObject? {
        if !flags.isDisjoint(with: .slow) {
            switch prepareToRead(index) {
            case .unchanged: break
            case .object(let object): return object.isDeleted ? nil : object
            case .null, .value: return nil
            }
        }
        guard let location = location(index) else { return transientObject(index) }
        let object = destination(runtime.schema.properties[index], location)
        // A destination that is to be deleted by the next save no longer counts.
        return object.flags.contains(.isDeleted) ? nil : object
    }

    /// The object of a transient to-one relationship.
    private final func transientObject(_ index: Int) -> ManagedObject? {
        guard hasToMany, case .object(let object)? = transients[index], !object.isDeleted else { return nil }
        return object
    }

    /// The object that a to-one relationship refers to in the store.
    final func destination(_ property: PropertySchema, _ location: (row: RowPointer, offset: Int)) -> ManagedObject {
        let destination = runtime.store.entities[storedDestination(property, location.row)]
        let object = managedObjectContext.object(destination, key: location.row.integer(at: location.offset))
        if !object.flags.contains(.isDeleted) { object.inherit(from: self, property.index) }
        return object
    }

    /// The index of the entity that a to-one relationship refers to in the store.
    final func storedDestination(_ property: PropertySchema, _ row: RowPointer) -> Int {
        guard property.entitySlot >= 0, row.hasValue(slot: property.entitySlot) else { return property.destination }
        let number = row.integer(at: RowLayout.offset(ofSlot: property.entitySlot))
        return runtime.model.position(ofNumber: number) ?? property.destination
    }

    /// The entity and the key of the object that a to-one relationship refers to in the store, without making the object.
    package final func storedReference(_ property: PropertySchema) -> (entity: Int, key: Int64)? {
        guard let location = location(property.index) else { return nil }
        return (storedDestination(property, location.row), location.row.integer(at: location.offset))
    }

    /// Sets one end of a relationship, and updates the other ends.
    package final func setToOne(_ index: Int, _ object: ManagedObject?) {
        let property = runtime.schema.properties[index]
        check(object, property)
        let old = toOne(index)
        guard old !== object else { return }
        guard let inverse = property.inverse else { return change(index, object.map { .object($0) } ?? .null) }
        // First, because `object` may be this object if the relationship is its own inverse.
        if let old { old.lose(self, inverse) }
        if let object, !object.runtime.schema.properties[inverse].isToMany,
            let displaced = object.toOne(inverse), displaced !== self
        {
            displaced.change(index, .null)
        }
        change(index, object.map { .object($0) } ?? .null)
        object?.gain(self, inverse)
    }

    final func check(_ object: ManagedObject?, _ property: PropertySchema) {
        guard let object else { return }
        requireCorrectUse(
            object.managedObjectContext === managedObjectContext,
            "'\(entityName).\(property.name)' was set to an object of another context; fetch it in this one.")
        requireCorrectUse(
            runtime.model.entities[property.destination].family.contains(
                object.runtime.schema.index),
            "'\(entityName).\(property.name)' cannot refer to an object of \(object.entityName).")
    }

    /// Adds an object to this end of a relationship, after the other end was set.
    private final func gain(_ object: ManagedObject, _ index: Int) {
        if runtime.schema.properties[index].isToMany {
            changeMember(object, index, isAddition: true)
            managedObjectContext.observeUpdate(self)
        } else {
            change(index, .object(object))
        }
    }

    /// Removes an object from this end of a relationship, after the other end was set.
    private final func lose(_ object: ManagedObject, _ index: Int) {
        if runtime.schema.properties[index].isToMany {
            changeMember(object, index, isAddition: false)
            managedObjectContext.observeUpdate(self)
        } else {
            change(index, .null)
        }
    }

    // MARK: - To-many

    final func toManyState(_ index: Int) -> ToManyState {
        if let state = toMany[index] { return state }
        let state = ToManyState(isTransient: runtime.schema.properties[index].isTransient)
        // A new object has only the members that were added.
        if flags.contains(.isInserted), !state.isTransient {
            state.load([])
            managedObjectContext.observeShown(state)
        }
        toMany[index] = state
        return state
    }

    /// Returns the members of a to-many relationship.
    ///
    /// Fires the relationship's fault.
    final func members(_ index: Int) -> ContiguousArray<ManagedObject> {
        if flags.contains(.isQueueChecked) { managedObjectContext.checkQueue(of: self) }
        if flags.contains(.isTracked) { observeReading(index) }
        let state = toManyState(index)
        if !state.isLoaded, !flags.contains(.isDetached) { managedObjectContext.fire(self, relationship: index, state) }
        return state.members
    }

    final func addMember(_ object: ManagedObject, _ index: Int) {
        let property = runtime.schema.properties[index]
        check(object, property)
        if let inverse = property.inverse, !object.runtime.schema.properties[inverse].isToMany {
            return object.setToOne(inverse, self)
        }
        guard !isKnown(object, index, asMember: true) else { return }
        changeMember(object, index, isAddition: true)
        managedObjectContext.observeUpdate(self)
        guard let inverse = property.inverse else { return }
        // If the relationship is its own inverse, this is the same relationship of the other object.
        object.changeMember(self, inverse, isAddition: true)
        managedObjectContext.observeUpdate(object)
    }

    final func removeMember(_ object: ManagedObject, _ index: Int) {
        let property = runtime.schema.properties[index]
        if let inverse = property.inverse, !object.runtime.schema.properties[inverse].isToMany {
            if object.toOne(inverse) === self { object.setToOne(inverse, nil) }
            return
        }
        guard !isKnown(object, index, asMember: false) else { return }
        changeMember(object, index, isAddition: false)
        managedObjectContext.observeUpdate(self)
        guard let inverse = property.inverse else { return }
        object.changeMember(self, inverse, isAddition: false)
        managedObjectContext.observeUpdate(object)
    }

    /// Whether adding or removing an object would change nothing; checked only if changes can be undone.
    ///
    /// Fires the fault: once the change is saved, the previous membership is unknown.
    private final func isKnown(_ object: ManagedObject, _ index: Int, asMember isMember: Bool) -> Bool {
        guard managedObjectContext.undoManager != nil else { return false }
        _ = members(index)
        return toManyState(index).contains(object) == isMember
    }

    final func setToMany(_ index: Int, _ objects: [ManagedObject]) {
        let wanted = Set(objects.map { ObjectIdentifier($0) })
        for object in members(index) where !wanted.contains(ObjectIdentifier(object)) { removeMember(object, index) }
        for object in objects where !toManyState(index).contains(object) { addMember(object, index) }
        guard runtime.schema.properties[index].isOrdered else { return }
        if !toManyState(index).members.elementsEqual(objects) { registerUndo(ofOrdering: index) }
        if toManyState(index).arrange(objects) { managedObjectContext.observeUpdate(self) }
    }

    final func moveMember(from location: Int, to target: Int, _ index: Int) {
        _ = members(index)
        guard location != target else { return }
        registerUndo(ofOrdering: index)
        toManyState(index).move(from: location, to: target)
        managedObjectContext.observeUpdate(self)
    }

    // MARK: - Origin

    /// Passes on the origin and the prefetched objects of the object from which this one was reached.
    final func inherit(from source: ManagedObject, _ index: Int) {
        if prefetched == nil { prefetched = source.prefetched }
        guard source.trail.origin != 0 else { return }
        let isToMany = source.runtime.schema.properties[index].isToMany
        let owner = Int16(source.runtime.schema.index)
        guard trail.origin == 0 else {
            // Later reads of this object are recorded for the relationship that reached it first.
            if !isToMany, trail.relationship != Int16(index) || trail.relationshipEntity != owner {
                observeUse(.other, at: index, of: source.runtime)
            }
            return
        }
        trail.origin = source.trail.origin
        trail.relationship = Int16(index)
        trail.relationshipEntity = owner
        if !isToMany { flags.insert(.isTracked) }
    }
}
