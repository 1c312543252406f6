import FaultlineRecorder

extension ManagedObjectContext {
    /// Gives new objects the identities that they will have once they are saved.
    ///
    /// They stay unsaved; keys of objects that never are stay unused. Objects whose identity is permanent keep it.
    ///
    /// - Throws: ``StoreError`` if the store cannot be written; no identity has changed then.
    public func obtainPermanentIDs(
        for objects: [ManagedObject], fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) throws {
        checkQueue()
        let wanted = objects.filter { $0.isInserted && $0.objectID.isTemporaryID && $0.managedObjectContext === self }
        guard !wanted.isEmpty else { return }
        try store.checkWritable(doing: "Obtaining permanent IDs")
        let recorder = store.recorder
        let isRecording = recorder.isEnabled
        let origin =
            isRecording
            ? TraceOrigin(
                context: traceID, site: recorder.site(fileID: fileID, line: line, function: function)) : TraceOrigin()
        var execution = SaveExecution(store, ChangeSet(inserted: wanted), origin: origin, isRecording: isRecording)
        do throws(StoreError) {
            try store.locked(for: origin) { () throws(StoreError) in try execution.obtainKeys() }
        } catch {
            for object in wanted { object.pending?.newKey = 0 }
            throw error
        }
        for object in wanted { takeNewKey(object) }
    }

    /// Registers a new object under the key that was reserved for it.
    func takeNewKey(_ object: ManagedObject) {
        identities.remove(object)
        object.key = object.pending!.newKey
        identities.insert(object)
    }
}
