extension ManagedObjectContext {
    /// The maximum number of rounds of ``ManagedObject/willSave()`` in one save.
    private static let willSaveRounds = 1000

    /// Calls ``ManagedObject/willSave()`` on all objects to be saved, and again on those that change in the meantime.
    ///
    /// - Throws: ``StoreError`` if objects still change after the maximum number of rounds.
    func callWillSave() throws(StoreError) {
        var objects = changedObjects(thatOverride: .willSave)
        guard !objects.isEmpty else { return }
        isCallingWillSave = true
        defer { (isCallingWillSave, changedInWillSave) = (false, nil) }
        for _ in 0..<Self.willSaveRounds {
            changedInWillSave = []
            for object in objects where object.hasUnsavedState { object.willSave() }
            var seen: Set<ManagedObject> = []
            objects = (changedInWillSave ?? []).filter {
                $0.overrides(.willSave) && $0.hasUnsavedState && seen.insert($0).inserted
            }
            if objects.isEmpty { return }
        }
        throw StoreError(
            .validation,
            "Saving \(objects[0].entityName) \(objects[0].objectID): willSave still changes objects after \(Self.willSaveRounds) rounds; set a property there only if its value differs.",
            objectID: objects[0].objectID)
    }

    /// The objects that the next save inserts, updates or deletes and whose class overrides a method, each once.
    func changedObjects(thatOverride method: OverriddenMethods) -> ContiguousArray<ManagedObject> {
        var found: ContiguousArray<ManagedObject> = []
        inserted.forEachHeld { if $0.overrides(method) && $0.hasUnsavedState { found.append($0) } }
        for object in updated where object.overrides(method) && !object.isDeleted && object.hasUnsavedState {
            found.append(object)
        }
        for object in deleted where object.overrides(method) && object.hasUnsavedState { found.append(object) }
        return found
    }
}

extension ManagedObject {
    /// Whether a save concerns the object; it ignores objects that were inserted and deleted again.
    fileprivate final var hasUnsavedState: Bool {
        hasChanges && !flags.isSuperset(of: [.isInserted, .isDeleted])
    }
}
