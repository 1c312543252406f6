import FaultlineRecorder

extension ManagedObjectContext {
    /// Gives new objects the permanent IDs that they keep when they are saved.
    ///
    /// In a child, this includes objects that an ancestor inserted. The objects stay unsaved, and the key of an object
    /// that is never saved stays unused. Objects that have a permanent ID keep it.
    ///
    /// - Throws: ``StoreError`` if a store cannot be written; no ID has changed then.
    public func obtainPermanentIDs(
        for objects: [ManagedObject], fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) throws {
        checkQueue()
        let inherited = objects.filter {
            $0.objectID.isTemporaryID && !$0.flags.contains(.isInserted) && $0.managedObjectContext === self
        }
        if let parent, !inherited.isEmpty {
            try obtainPermanentIDs(ofInherited: inherited, in: parent, (fileID, line, function))
        }
        let wanted = objects.filter { $0.isInserted && $0.objectID.isTemporaryID && $0.managedObjectContext === self }
        guard !wanted.isEmpty else { return }
        updateStoresIfChanged()
        for store in stores where wanted.contains(where: { $0.runtime.store === store }) {
            try store.checkWritable(doing: "Obtaining permanent IDs")
        }
        // Its statements are recorded as separate events.
        let span = recorder.isEnabled ? SaveSpan(nil, recorder, origin(at: (fileID, line, function))) : nil
        do throws(StoreError) {
            for store in stores {
                let own = wanted.filter { $0.runtime.store === store }
                guard !own.isEmpty else { continue }
                var execution = SaveExecution(store, ChangeSet(inserted: own), span)
                try store.writer.locked(for: execution.origin) { () throws(StoreError) in try execution.obtainKeys() }
            }
        } catch {
            for object in wanted { object.pending?.newKey = 0 }
            throw error
        }
        updateKeys(of: wanted)
    }
}
