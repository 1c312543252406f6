import FaultlineModel

/// The state to restore when one change of an object, or of one end of a relationship, is undone.
enum UndoableChange {
    /// The previous value of a property, or the previous object of a to-one relationship.
    case value(ManagedObject, Int, PendingValue)
    case member(MemberChange)
    /// The members of an ordered relationship before they were reordered.
    case order(ManagedObject, Int, members: ContiguousArray<ManagedObject>, wasRearranged: Bool, epoch: Int)
    case insertion(ManagedObject)
    /// With the object's values: once the deletion is saved, undo must create a new row from them.
    case deletion(ManagedObject, ContiguousArray<PendingValue>)

    struct MemberChange {
        var owner: ManagedObject
        var index: Int
        var member: ManagedObject
        var isAddition: Bool
        /// The member's unsaved state before the change.
        var standing: ToManyState.Standing
        var position: Int?
        /// The context's save count at the time of the change; after a later save, the change is in the store.
        var epoch: Int
    }
}

extension ManagedObjectContext {
    /// Undoes the last group of changes; see ``UndoManager/undo()``.
    ///
    /// Does nothing without an ``undoManager``.
    public func undo() {
        undoManager?.undo()
    }

    /// Redoes the changes that were undone last; see ``UndoManager/redo()``.
    ///
    /// Does nothing without an ``undoManager``.
    public func redo() {
        undoManager?.redo()
    }

    /// Registers how to undo a change, if the context has an undo manager.
    @inline(__always)
    func register(_ change: () -> UndoableChange?) {
        if undoManager != nil { registerChange(change) }
    }

    @inline(never)
    private func registerChange(_ change: () -> UndoableChange?) {
        guard let undoManager, undoManager.isUndoRegistrationEnabled, let change = change() else { return }
        undoManager.registerUndo(withTarget: self) { $0.apply(change) }
    }

    /// Undoes a change, which registers how to redo it.
    private func apply(_ change: UndoableChange) {
        if undone.isEmpty { undoManager?.atEndOfGroup { [self] in settleUndone() } }
        switch change {
        case .value(let object, let index, let value):
            object.restore(index, value)
            undone[object, default: []].insert(.undoUpdate)
        case .member(let change):
            change.owner.restore(change)
            undone[change.owner, default: []].insert(.undoUpdate)
        case .order(let object, let index, let members, let wasRearranged, let epoch):
            object.restoreOrder(index, members, wasRearranged: wasRearranged || epoch != saveCount)
            undone[object, default: []].insert(.undoUpdate)
        case .insertion(let object):
            delete(object)
            undone[object, default: []].insert(.undoInsertion)
        case .deletion(let object, let values):
            restore(object, values)
            undone[object, default: []].insert(.undoDeletion)
        }
    }

    /// Restores a deleted object.
    private func restore(_ object: ManagedObject, _ values: ContiguousArray<PendingValue>) {
        if object.flags.contains(.isDetached) {
            // A save that had nothing to write leaves the object registered.
            identities.remove(object)
            object.becomeNew(Self.newTemporaryKey(), values)
            identities.insert(object)
            inserted.append(object)
        } else if object.flags.contains(.isDeleted) {
            object.flags.remove(.isDeleted)
            deleted.removeAll { $0 === object }
        }
        logChange { $0.insert(object) }
        changedInWillSave?.append(object)
        register { .insertion(object) }
    }

    /// Clears the changes of objects that match the store again, and notifies all affected objects.
    private func settleUndone() {
        let undone = undone
        self.undone = [:]
        guard !undone.isEmpty else { return }
        updated = updated.filter { object in
            guard undone[object] != nil, object.isUpdated, !object.isDeleted, !object.hasPersistentChangedValues else {
                return true
            }
            object.pending = nil
            object.flags.remove([.hasPending, .isUpdated])
            return false
        }
        for (object, events) in undone where !object.flags.contains(.isDetached) {
            object.awake(fromSnapshotEvents: events)
        }
    }
}

extension ManagedObject {
    /// The current value of a property, saved or not.
    final func currentValue(_ property: PropertySchema) -> PendingValue {
        if property.isTransient { return transients[property.index] ?? .null }
        if let value = pending?[property.index] {
            if case .unchanged = value {} else { return value }
        }
        guard property.isRelationship else { return storedValue(property.index).map { .value($0) } ?? .null }
        guard let (row, offset) = location(property.index) else { return .null }
        let context = managedObjectContext
        let destination = runtime.store.entities[storedDestination(property, row)]
        return .object(context.object(destination, key: row.integer(at: offset)))
    }

    /// Registers how to undo setting a property.
    final func registerUndo(ofSetting index: Int, to value: PendingValue) {
        managedObjectContext.register {
            let old = currentValue(runtime.schema.properties[index])
            return old.isSame(as: value) ? nil : .value(self, index, old)
        }
    }

    fileprivate final func restore(_ index: Int, _ value: PendingValue) {
        guard runtime.schema.properties[index].isTransient else { return change(index, value) }
        registerUndo(ofSetting: index, to: value)
        transients[index] = value
    }

    /// Adds or removes a member at this end of a to-many relationship, and registers the undo.
    final func changeMember(_ member: ManagedObject, _ index: Int, isAddition: Bool) {
        // Undo restores a member's position in an ordered relationship, which is only known with all members loaded.
        if managedObjectContext.undoManager != nil, runtime.schema.properties[index].isOrdered { _ = members(index) }
        let state = toManyState(index)
        managedObjectContext.register {
            let standing = state.standing(of: member)
            let isSo =
                state.isLoaded
                ? state.contains(member) == isAddition : standing == (isAddition ? .added : .removed)
            guard !isSo else { return nil }
            return .member(
                UndoableChange.MemberChange(
                    owner: self, index: index, member: member, isAddition: isAddition, standing: standing,
                    position: state.position(of: member), epoch: managedObjectContext.saveCount))
        }
        if isAddition { state.add(member) } else { state.remove(member) }
    }

    fileprivate final func restore(_ change: UndoableChange.MemberChange) {
        let context = managedObjectContext
        let state = toManyState(change.index)
        guard change.epoch == context.saveCount, !state.isTransient else {
            // A save has written the change since, or nothing is unsaved: undo it by the opposite change.
            changeMember(change.member, change.index, isAddition: !change.isAddition)
            let isOrdered = runtime.schema.properties[change.index].isOrdered
            if let position = change.position { state.put(change.member, at: position, isRearrangement: isOrdered) }
            return context.observeUpdate(self)
        }
        context.register {
            var redo = change
            redo.isAddition.toggle()
            redo.standing = state.standing(of: change.member)
            redo.position = state.position(of: change.member)
            return .member(redo)
        }
        state.restore(change.member, change.standing, at: change.position)
        context.observeUpdate(self)
    }

    /// Registers how to restore the current order of an ordered relationship's members.
    final func registerUndo(ofOrdering index: Int) {
        let state = toManyState(index)
        managedObjectContext.register {
            .order(
                self, index, members: state.members, wasRearranged: state.isRearranged,
                epoch: managedObjectContext.saveCount)
        }
    }

    fileprivate final func restoreOrder(
        _ index: Int, _ wanted: ContiguousArray<ManagedObject>, wasRearranged: Bool
    ) {
        _ = members(index)
        registerUndo(ofOrdering: index)
        toManyState(index).restoreOrder(wanted, wasRearranged: wasRearranged)
        managedObjectContext.observeUpdate(self)
    }

    /// Turns an object whose deletion was saved into a new one.
    fileprivate final func becomeNew(_ newKey: Int64, _ values: ContiguousArray<PendingValue>) {
        key = newKey
        flags = flags.intersection(.hasOtherClass).union([.isInserted, .hasPending])
        forgetRow()
        let pending = PendingChanges.unchanged(count: values.count)
        for property in runtime.schema.properties where !property.isToMany {
            let value = values[property.index]
            if property.isTransient {
                transients[property.index] = value
            } else {
                pending[property.index] = value
            }
        }
        self.pending = pending
        for state in toMany.values { state.becomeNew() }
    }

    /// The object's current values, by property.
    final func currentValues() -> ContiguousArray<PendingValue> {
        ContiguousArray(runtime.schema.properties.map { $0.isToMany ? .unchanged : currentValue($0) })
    }
}

extension PendingValue {
    func isSame(as other: PendingValue) -> Bool {
        switch (self, other) {
        case (.value(let left), .value(let right)): SQLValue(left).isIdentical(to: SQLValue(right))
        case (.object(let left), .object(let right)): left === right
        case (.null, .null), (.unchanged, .unchanged): true
        default: false
        }
    }
}
