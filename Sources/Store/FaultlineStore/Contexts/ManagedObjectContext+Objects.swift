import FaultlineModel
import FaultlineTrace
import Foundation
import Synchronization

private let lastTemporaryKey = Atomic<Int64>(0)

extension ManagedObjectContext {
    /// The object with an ID, as a fault if the context does not have it yet.
    ///
    /// Nothing is read. Using the object, or ``existingObject(with:)``, shows whether it exists. Traps if the object
    /// belongs to a store of another coordinator.
    public func object(with id: ManagedObjectID) -> ManagedObject {
        checkQueue()
        guard let entity = runtime(of: id) else {
            incorrectUse(
                "\(id.entityName) \(id) belongs to a store that the context's coordinator does not have; add the store first."
            )
        }
        // The entity of a registered object may be more specific than that of a URL.
        return identities.object(map: entity.map, key: id.key) ?? object(entity, key: id.key)
    }

    /// The object with an ID, if the context already has it.
    public func registeredObject(for id: ManagedObjectID) -> ManagedObject? {
        checkQueue()
        return runtime(of: id).flatMap { identities.object(map: $0.map, key: currentKey($0.map, id.key)) }
    }

    /// The object with an ID, read from the store if necessary.
    ///
    /// - Throws: ``StoreError`` if there is no such object or it cannot be read.
    public func existingObject(with id: ManagedObjectID) throws -> ManagedObject {
        guard runtime(of: id) != nil else {
            throw StoreError(
                .objectGone,
                "\(id.entityName) \(id) belongs to a store that the context's coordinator does not have; add the store first.",
                objectID: id)
        }
        let object = object(with: id)
        try object.fulfill()
        return object
    }

    /// Creates an object of the named entity.
    ///
    /// Traps if there is no such entity, or if it is abstract.
    public func insertNewObject(forEntityName name: String) -> ManagedObject {
        checkQueue()
        let entity = entity(named: name)
        let object = entity.objectClass.init(seed(entity))
        insert(object)
        return object
    }

    /// Marks an object for deletion by the next save, and applies the delete rules of its relationships.
    ///
    /// - Complexity: Fires the faults of its relationships, except those with the rule no action and no join table.
    public func delete(_ object: ManagedObject) { delete(object, ofChild: false) }

    /// Marks an object for deletion by the next save.
    ///
    /// - Parameter ofChild: Whether a child deleted it. The child called `prepareForDeletion()` and applied the delete
    ///   rules to what it knew. Here they apply to the destinations in memory, and nothing is read.
    func delete(_ object: ManagedObject, ofChild: Bool) {
        checkQueue(of: object)
        guard object.flags.isDisjoint(with: [.isDeleted, .isBeingDeleted, .isDetached]) else { return }
        deletionDepth += 1
        if object.flags.contains(.isFault), !ofChild || hasUndoManager { _ = fire(object) }
        deletionDepth -= 1
        // Undo and redo restore the effects of `prepareForDeletion()` by themselves.
        if !ofChild, undoManager?.isUndoing != true, undoManager?.isRedoing != true {
            object.flags.insert(.isBeingDeleted)
            object.prepareForDeletion()
            object.flags.remove(.isBeingDeleted)
        }
        register { .deletion(object, object.currentValues()) }
        object.flags.insert(.isDeleted)
        object.observeChange()
        if isCallingWillSave { changedInWillSave?.append(object) }
        logChange { $0.delete(object) }
        deleted.append(object)
        deletionDepth += 1
        for property in object.runtime.schema.properties where property.isRelationship {
            release(object, property, ofChild: ofChild)
        }
        deletionDepth -= 1
    }

    private func release(_ object: ManagedObject, _ property: PropertySchema, ofChild: Bool) {
        let isJoined = property.kind == .manyToMany
        if property.deleteRule == .noAction, !isJoined { return }
        let others = ofChild ? object.knownDestinations(property) : object.destinations(property)
        switch property.deleteRule {
        case .cascade:
            for other in others { delete(other, ofChild: ofChild) }
            if isJoined { others.forEach { object.removeMember($0, property.index) } }
        // The save checks this rule, because the destinations may be deleted by then as well.
        case .deny: break
        case .nullify, .noAction:
            guard let index = property.inverse else {
                if isJoined { others.forEach { object.removeMember($0, property.index) } }
                return
            }
            for other in others {
                if property.isToMany, other.runtime.schema.properties[index].isToMany {
                    object.removeMember(other, property.index)
                } else if property.isToMany {
                    if !other.isDeleted { other.change(index, .null) }
                    object.changeMember(other, property.index, isAddition: false)
                } else {
                    let inverse = other.runtime.schema.properties[index]
                    if inverse.isToMany {
                        other.changeMember(object, index, isAddition: false)
                        observeUpdate(other)
                    } else if !other.isDeleted {
                        other.change(index, .null)
                    }
                }
            }
        }
    }

    /// Turns an object back into a fault, so it is read again.
    ///
    /// An object that is marked for deletion stays marked.
    ///
    /// - Parameters:
    ///   - object: An object of this context.
    ///   - mergeChanges: Whether unsaved changes are kept and applied on top of the values that are read. Otherwise
    ///     they are discarded, also at the other ends of changed relationships.
    public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
        recordRefresh { event in
            event.keepsChanges = mergeChanges
            event.entity = object.runtime.traceID(recorder)
            event.changed = object.hasChanges ? 1 : 0
            event.objects = 1
        } of: {
            makeFault(object, mergeChanges: mergeChanges)
        }
    }

    private func makeFault(_ object: ManagedObject, mergeChanges: Bool) {
        checkQueue(of: object)
        guard !object.flags.contains(.isInserted), !object.flags.contains(.isDetached) else { return }
        logChange { $0.refresh(object) }
        object.runtime.store.finishReading()
        let wasFault = object.isFault
        if !wasFault { object.willTurnIntoFault() }
        if !mergeChanges, !object.flags.contains(.isDeleted) { revertChanges(of: object) }
        for state in object.toMany.values { state.unload() }
        object.toMany = object.toMany.filter { $0.value.hasChanges || $0.value.isTransient }
        object.forgetRow()
        object.flags.remove(.isGone)
        object.flags.insert(.isFault)
        if !wasFault { object.didTurnIntoFault() }
        if object.hasChanges { object.awake(fromSnapshotEvents: .refresh) }
    }

    /// Turns all objects back into faults; see ``refresh(_:mergeChanges:)``.
    ///
    /// Unsaved changes are kept.
    public func refreshAllObjects() {
        checkQueue()
        let objects = identities.objects()
        recordRefresh { event in
            event.keepsChanges = true
            event.changed = UInt32(clamping: objects.count(where: \.hasChanges))
            event.objects = UInt32(clamping: objects.count)
        } of: {
            for object in objects { makeFault(object, mergeChanges: true) }
        }
    }

    /// Discards all unsaved changes.
    ///
    /// The ``undoManager`` discards all its actions.
    public func rollback() {
        checkQueue()
        undoManager?.removeAllActions()
        finishReading()
        logChange { log in
            for object in inserted where object.isInserted { log.delete(object) }
            for object in updated + deleted where !object.flags.contains(.isInserted) { log.refresh(object) }
        }
        for object in inserted {
            object.flags.insert(.isDetached)
            object.flags.remove([.isInserted, .isDeleted])
            identities.remove(object)
            release(object)
        }
        for object in updated where !object.flags.contains(.isDetached) {
            object.pending = nil
            object.flags.remove([.hasPending, .isUpdated])
            object.toMany = object.toMany.filter { !$0.value.hasChanges }
        }
        for object in deleted {
            object.flags.remove(.isDeleted)
            object.toMany = [:]
        }
        let restored = updated + deleted.filter { !$0.flags.contains(.isDetached) }
        (inserted, updated, deleted) = ([], [], [])
        for object in Set(restored) { object.awake(fromSnapshotEvents: .rollback) }
    }

    /// Discards all objects and unsaved changes.
    ///
    /// Objects that are still retained then read as their defaults.
    public func reset() {
        rollback()
        logChange { $0.reset() }
        advanceSnapshot()
        readError = nil
        permanentKeys = [:]
        for object in identities.objects() { detach(object) }
    }

    /// Discards an object, which then reads as its defaults.
    func detach(_ object: ManagedObject) {
        let wasFault = object.isFault
        if !wasFault { object.willTurnIntoFault() }
        object.flags = .isDetached
        object.forgetRow()
        object.pending = nil
        (object.toMany, object.transients) = ([:], [:])
        object.trail = ObjectTrail()
        identities.remove(object)
        release(object)
        if !wasFault { object.didTurnIntoFault() }
    }

    // MARK: - Making objects

    func seed(forClass type: ManagedObject.Type) -> ManagedObject.Seed {
        checkQueue()
        updateStoresIfChanged()
        // Objects of one class are often created one after another, and the name of a class is a new string each time.
        if lastCreated?.type != type { lastCreated = LastCreated(type: type, entity: entityToMake(type)) }
        return seed(lastCreated.unsafelyUnwrapped.entity)
    }

    @inline(never)
    private func entityToMake(_ type: ManagedObject.Type) -> EntityRuntime {
        let entity = entity(named: type.entityName)
        requireCorrectUse(
            entity.objectClass.isInherited(by: type),
            "Objects of '\(entity.schema.name)' are of class \(entity.objectClass), which \(type) does not inherit from; pass the class to the container."
        )
        return entity
    }

    @inline(__always)
    private func seed(_ entity: EntityRuntime) -> ManagedObject.Seed {
        requireCorrectUse(!entity.schema.isAbstract, "Entity '\(entity.schema.name)' is abstract and has no objects.")
        return ManagedObject.Seed(context: self, runtime: entity, key: Self.newTemporaryKey(), isInserted: true)
    }

    static func newTemporaryKey() -> Int64 { -lastTemporaryKey.add(1, ordering: .relaxed).newValue }

    func insert(_ object: ManagedObject) {
        identities.insert(object)
        retain(object)
        inserted.append(object)
        if areChangesAwaited { notifyOfInsertion(object) }
        object.awakeFromInsert()
    }

    @inline(never)
    func notifyOfInsertion(_ object: ManagedObject) {
        logChange { $0.insert(object) }
        if isCallingWillSave { changedInWillSave?.append(object) }
        register { .insertion(object) }
    }

    /// The registered object for a key, or a new fault.
    func object(_ entity: EntityRuntime, key: Int64) -> ManagedObject {
        guard let known = identities.object(map: entity.map, key: key) else {
            if key < 0, let key = permanentKeys[ObjectKey(map: entity.map, key: key)] {
                return object(entity, key: key)
            }
            return makeFault(entity, key: key)
        }
        let isRightClass = !known.flags.contains(.hasOtherClass)
        if known.runtime === entity, isRightClass { return known }
        // An object of a subentity is also an object of the entity.
        if isRightClass, entity.schema.family.contains(known.runtime.schema.index) { return known }
        return replace(known, entity)
    }

    /// The object for a row that was just read.
    ///
    /// An object that already has its values keeps them.
    ///
    /// - Parameters:
    ///   - sibling: An entity of the row's store.
    ///   - partial: The columns that the row has; `nil` if it has all.
    @inline(__always)
    func object(
        _ row: RowPointer, besides sibling: EntityRuntime, _ partial: PartialSelection? = nil
    ) -> ManagedObject {
        // Most rows are of the requested entity, which the caller retains.
        guard Int(row.header.pointee.entity) != sibling.position else { return object(row, of: sibling, partial) }
        return objectOfSibling(row, sibling, partial)
    }

    @inline(never)
    private func objectOfSibling(
        _ row: RowPointer, _ sibling: EntityRuntime, _ partial: PartialSelection?
    ) -> ManagedObject {
        object(row, of: sibling.store.entities[Int(row.header.pointee.entity)], partial)
    }

    @inline(__always)
    private func object(_ row: RowPointer, of entity: EntityRuntime, _ partial: PartialSelection?) -> ManagedObject {
        var object = object(entity, key: row.key)
        if object.runtime !== entity { object = replace(object, entity) }
        guard object.flags.contains(.isFault) else { return object }
        if let partial {
            object.partial = PartialRow(row: row, block: row.block, selection: partial)
        } else {
            object.row = row
            object.block = row.block
        }
        return object
    }

    private func makeFault(_ entity: EntityRuntime, key: Int64) -> ManagedObject {
        let object = entity.objectClass.init(
            ManagedObject.Seed(context: self, runtime: entity, key: key, isInserted: false))
        identities.insert(object)
        retain(object)
        return object
    }

    /// Replaces an object that was created with another entity of its tree by one of its row's entity and class.
    ///
    /// The new object has the unsaved changes. The old one becomes a fault that reads the same row.
    @inline(never)
    private func replace(_ known: ManagedObject, _ entity: EntityRuntime) -> ManagedObject {
        let object = makeFault(entity, key: known.key)
        if known.runtime.schema.family.contains(entity.schema.index) {
            object.flags.formUnion(known.flags.intersection([.hasPending, .isUpdated, .isDeleted]))
            object.pending = known.pending?.grown(to: entity.schema.properties.count)
            object.toMany = known.toMany
            object.transients = known.transients
        }
        if known.hasChanges {
            for position in updated.indices where updated[position] === known { updated[position] = object }
            for position in deleted.indices where deleted[position] === known { deleted[position] = object }
        }
        known.flags = known.flags.intersection(.hasOtherClass).union(.isFault)
        (known.row, known.block, known.pending) = (nil, nil, nil)
        (known.toMany, known.transients) = ([:], [:])
        return object
    }

    func observeUpdate(_ object: ManagedObject) {
        if object.flags.contains(.isQueueChecked) { checkQueue(of: object) }
        object.observeChange()
        if isCallingWillSave { changedInWillSave?.append(object) }
        logChange { $0.update(object) }
        guard object.flags.isDisjoint(with: [.isInserted, .isUpdated, .isDetached]) else { return }
        object.flags.insert(.isUpdated)
        updated.append(object)
    }
}

extension ManagedObject {
    /// The destinations of a relationship.
    fileprivate final func destinations(_ property: PropertySchema) -> ContiguousArray<ManagedObject> {
        property.isToMany ? members(property.index) : ContiguousArray([toOne(property.index)].compactMap { $0 })
    }

    /// The destinations that are in memory; fires no fault.
    fileprivate final func knownDestinations(_ property: PropertySchema) -> ContiguousArray<ManagedObject> {
        guard property.isToMany else { return flags.contains(.isFault) ? [] : destinations(property) }
        guard let state = toMany[property.index] else { return [] }
        return state.isLoaded ? state.members : state.added
    }
}
