import FaultlineModel

/// Applies a child's changes to its parent, where they are unsaved changes.
///
/// Used on the queues of both. It first finds the parent's objects, and changes nothing if one is missing. Then it sets
/// the properties that the child has changed, and no others.
struct ParentSave {
    let child: ManagedObjectContext
    let parent: ManagedObjectContext
    /// The child's changed objects.
    let inserted: [ManagedObject]
    let updated: [ManagedObject]
    let deleted: [ManagedObject]
    /// Changed objects that the parent no longer has, and that the merge policy brings back.
    let revived: Set<ManagedObject>
    /// The parent's objects by the child's objects.
    private var counterparts: [ObjectIdentifier: ManagedObject] = [:]

    init(
        _ changes: ChangeSet, from child: ManagedObjectContext, into parent: ManagedObjectContext,
        revived: Set<ManagedObject>
    ) {
        self.child = child
        self.parent = parent
        inserted = changes.inserted
        updated = child.updatedObjects
        deleted = changes.deleted
        self.revived = revived
    }

    /// Applies the changes.
    ///
    /// - Returns: The changed objects that the parent no longer has; if there are any, nothing was applied.
    /// - Throws: ``StoreError`` if a changed relationship leads to an object that the parent does not have. Nothing was
    ///   applied then.
    mutating func run() throws(StoreError) -> [ManagedObject] {
        // Earlier changes of the parent belong in another notification.
        parent.postChanges()
        let lost = findObjects()
        guard lost.isEmpty else { return lost }
        try findDestinations()
        for object in inserted { insert(object) }
        for object in updated where revived.contains(object) { revive(object) }
        for object in inserted + updated where object.hasToMany { passMembers(of: object) }
        // Before the values, so that added members keep the order in which the child added them.
        for object in inserted + updated where object.hasToMany { setMembers(of: object) }
        for object in inserted + updated { setValues(of: object) }
        for object in deleted {
            if let known = counterparts[ObjectIdentifier(object)] { parent.delete(known, ofChild: true) }
        }
        parent.postChanges(from: child)
        return []
    }

    // MARK: - Finding

    /// Finds the parent's objects for the changed and deleted ones.
    private mutating func findObjects() -> [ManagedObject] {
        var lost: [ManagedObject] = []
        for object in updated {
            guard let known = existing(object, isRead: object.writesRow) else {
                if !revived.contains(object) { lost.append(object) }
                continue
            }
            counterparts[ObjectIdentifier(object)] = known
        }
        for object in deleted {
            // An object that is gone already needs no deletion.
            if let known = existing(object, isRead: false) { counterparts[ObjectIdentifier(object)] = known }
        }
        return lost
    }

    /// The parent's object for one of the child's; `nil` if the parent has deleted it or does not have it.
    ///
    /// - Parameter isRead: Whether its fault must be fired.
    private func existing(_ object: ManagedObject, isRead: Bool) -> ManagedObject? {
        let known = parent.object(object.runtime, key: object.key)
        guard !known.isDeleted else { return nil }
        guard !known.isInserted, known.isFault || known.isInaccessible else { return known }
        // The child has read the row, so firing the fault need not read it again.
        if known.row == nil, let row = object.row, !row.isInherited { (known.row, known.block) = (row, object.block) }
        guard isRead || known.key < 0 else { return known }
        let readError = parent.readError
        known.flags.insert(.isFault)
        known.flags.remove(.isGone)
        parent.fire(known)
        parent.readError = readError
        return known.isInaccessible ? nil : known
    }

    /// Finds the parent's objects for the destinations of changed relationships.
    private mutating func findDestinations() throws(StoreError) {
        for object in inserted + updated {
            let written = writtenProperties(of: object)
            for property in object.runtime.schema.properties
            where property.kind == .toOne && written.contains(property.index) {
                if let other = destination(of: object, property) { try findDestination(other, of: object, property) }
            }
            for (index, state) in object.toMany where state.hasChanges {
                let isOrdered = object.runtime.schema.properties[index].isOrdered
                let members = isOrdered && state.isLoaded ? state.members : []
                for other in members + state.added + state.removed where !other.isDeleted {
                    try findDestination(other, of: object, object.runtime.schema.properties[index])
                }
            }
        }
    }

    /// The attributes and to-one relationships to set in the parent's object.
    private func writtenProperties(of object: ManagedObject) -> Set<Int> {
        guard object.isInserted || revived.contains(object) else { return object.changedProperties() }
        return Set(object.runtime.schema.properties.filter { $0.slot >= 0 && !$0.isDerived }.map(\.index))
    }

    private mutating func findDestination(
        _ other: ManagedObject, of object: ManagedObject, _ property: PropertySchema
    ) throws(StoreError) {
        guard counterpart(other) == nil, !other.isInserted, !revived.contains(other) else { return }
        if !other.flags.contains(.isDetached), let known = existing(other, isRead: false) {
            counterparts[ObjectIdentifier(other)] = known
        } else if other.flags.contains(.isDetached) || other.key < 0 {
            throw StoreError(
                .validation,
                "Saving \(object.entityName) \(object.objectID): '\(property.name)' refers to a \(other.entityName) that the parent context '\(parent.name)' does not have, because it was deleted, rolled back or reset; set it to an object that exists.",
                objectID: object.objectID)
        }
    }

    /// The destination of a to-one relationship.
    ///
    /// The trace does not count this as a use by the program.
    private func destination(of object: ManagedObject, _ property: PropertySchema) -> ManagedObject? {
        guard case .object(let other) = object.currentValue(property), !other.isDeleted else { return nil }
        return other
    }

    private func counterpart(_ object: ManagedObject) -> ManagedObject? { counterparts[ObjectIdentifier(object)] }

    // MARK: - Setting

    private mutating func insert(_ object: ManagedObject) {
        counterparts[ObjectIdentifier(object)] = parent.insert(type(of: object), object.runtime, key: object.key)
    }

    /// Reverts the parent's deletion of an object, or inserts the object again.
    private mutating func revive(_ object: ManagedObject) {
        let known = parent.identities.object(map: object.runtime.map, key: object.key)
        if let known, known.isDeleted, !known.flags.contains(.isInserted) {
            parent.revertDeletion(of: known)
            counterparts[ObjectIdentifier(object)] = known
        } else {
            insert(object)
        }
    }

    /// Sets the attributes and to-one relationships that the child has changed.
    private func setValues(of object: ManagedObject) {
        guard let known = counterpart(object) else { return }
        let written = writtenProperties(of: object)
        for property in object.runtime.schema.properties where written.contains(property.index) {
            if property.kind == .toOne {
                known.setToOne(property.index, destination(of: object, property).flatMap { counterpart($0) })
            } else {
                known.change(property.index, object.currentValue(property))
            }
        }
    }

    /// Passes the parent the members of the ordered relationships that the child has read and changed.
    ///
    /// The parent can then rearrange them without reading.
    private func passMembers(of object: ManagedObject) {
        guard let known = counterpart(object), !known.isInserted else { return }
        for (index, state) in object.toMany where object.runtime.schema.properties[index].isOrdered {
            guard state.isLoaded, state.isOrderChanged else { continue }
            let theirs = known.toManyState(index)
            guard !theirs.isKnown, !theirs.hasChanges else { continue }
            let added = Set(state.added)
            theirs.load((state.members.filter { !added.contains($0) } + state.removed).compactMap { counterpart($0) })
            parent.observeShown(theirs)
        }
    }

    /// Adds and removes the members that the child has added and removed.
    private func setMembers(of object: ManagedObject) {
        guard let known = counterpart(object) else { return }
        for (index, state) in object.toMany.sorted(by: { $0.key < $1.key }) where state.hasChanges {
            let property = object.runtime.schema.properties[index]
            for member in state.removed {
                guard let other = counterpart(member) else { continue }
                // A deleted member keeps its own end of the relationship.
                if property.kind == .toMany, member.isDeleted {
                    known.changeMember(other, index, isAddition: false)
                    parent.observeUpdate(known)
                } else {
                    known.removeMember(other, index)
                }
            }
            for member in state.added where !member.isDeleted {
                if let other = counterpart(member) { known.addMember(other, index) }
            }
            if property.isOrdered, state.isOrderChanged, state.isLoaded { arrange(known, index, as: state) }
        }
    }

    /// Puts members in the child's order, followed by those that the child does not know.
    private func arrange(_ known: ManagedObject, _ index: Int, as state: ToManyState) {
        let wanted = state.members.compactMap { counterpart($0) }
        let members = known.members(index)
        let (isMember, isWanted) = (Set(members), Set(wanted))
        let result = wanted.filter { isMember.contains($0) } + members.filter { !isWanted.contains($0) }
        guard !members.elementsEqual(result) else { return }
        known.registerUndo(ofOrdering: index)
        if known.toManyState(index).arrange(result) { parent.observeUpdate(known) }
    }
}

extension ManagedObjectContext {
    /// Inserts an object that a child has inserted, under the same key.
    ///
    /// The child has called its `awakeFromInsert()`.
    fileprivate func insert(_ type: ManagedObject.Type, _ entity: EntityRuntime, key: Int64) -> ManagedObject {
        let object: ManagedObject
        if let known = identities.object(map: entity.map, key: key) {
            // The program asked for it by its ID, or deleted it here.
            known.becomeInserted()
            deleted.removeAll { $0 === known }
            updated.removeAll { $0 === known }
            inserted.removeAll { $0 === known }
            object = known
        } else {
            object = type.init(ManagedObject.Seed(context: self, runtime: entity, key: key, isInserted: true))
            identities.insert(object)
            retain(object)
        }
        inserted.append(object)
        if areChangesAwaited { notifyOfInsertion(object) }
        return object
    }
}

extension ManagedObject {
    fileprivate final func becomeInserted() {
        forgetRow()
        toMany = [:]
        pending = runtime.newChanges()
        flags = flags.intersection([.hasOtherClass, .isQueueChecked]).union([.isInserted, .hasPending])
    }
}
