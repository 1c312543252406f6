import CSQLite
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

extension ManagedObjectContext {
    /// Deletes objects in the store, all of them or none.
    ///
    /// - Throws: ``StoreError`` if the request asks for what there is not, a delete rule denies the deletion, or the
    ///   store cannot be written.
    @discardableResult
    public func execute(
        _ request: BatchDeleteRequest, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) throws -> BatchResult {
        guard request.terms != nil || !request.objectIDs.isEmpty else { return BatchResult(count: 0, objectIDs: []) }
        let entity = try batchEntity(request.entityName, "Deleting")
        return try run((fileID, line, function)) { (batch) throws(StoreError) in
            let keys: [BatchExecution.Key]
            if let terms = request.terms {
                keys = try batch.keys(terms, entity)
            } else {
                keys = request.objectIDs.filter { $0.store === batch.store.identity && $0.key > 0 }.map {
                    BatchExecution.Key(entity: $0.entity.index, key: $0.key)
                }
            }
            return try batch.delete(keys, entity)
        }
    }

    /// Changes attributes in the store, of all selected objects or of none.
    ///
    /// - Throws: ``StoreError`` if the request asks for what there is not, a value is not of its attribute's type, or the
    ///   store cannot be written.
    @discardableResult
    public func execute(
        _ request: BatchUpdateRequest, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) throws -> BatchResult {
        let entity = try batchEntity(request.terms.entityName, "Updating")
        return try run((fileID, line, function)) { (batch) throws(StoreError) in
            try batch.update(try batch.keys(request.terms, entity), entity, request)
        }
    }

    /// Inserts objects into the store, all of them or none.
    ///
    /// - Throws: ``StoreError`` if a dictionary names an attribute that there is not, or has a value of another type, or
    ///   the store cannot be written.
    @discardableResult
    public func execute(
        _ request: BatchInsertRequest, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) throws -> BatchResult {
        let entity = try batchEntity(request.entityName, "Inserting")
        guard !entity.schema.isAbstract else {
            throw StoreError(
                .invalidRequest,
                "Inserting \(request.entityName): the entity is abstract and has no objects; name one that inherits from it."
            )
        }
        return try run((fileID, line, function)) { (batch) throws(StoreError) in
            try batch.insert(entity, request.next)
        }
    }

    private func batchEntity(_ name: String, _ doing: String) throws(StoreError) -> EntityRuntime {
        try throwReadError()
        guard let schema = store.schema.entity(named: name) else {
            throw StoreError(
                .unknownEntity,
                "\(doing) \(name): the model has no such entity; correct the name, or add it to the model.")
        }
        return store.entities[schema.index]
    }

    /// Carries a batch request out in a transaction of its own, as one save event.
    private func run(
        _ site: (fileID: StaticString, line: UInt, function: StaticString),
        _ body: (inout BatchExecution) throws(StoreError) -> BatchResult
    ) throws(StoreError) -> BatchResult {
        try store.checkWritable(doing: "Running a batch request")
        let recorder = store.recorder
        let open = recorder.begin()
        let origin =
            open == nil
            ? TraceOrigin()
            : TraceOrigin(
                context: traceID,
                site: recorder.site(fileID: site.fileID, line: site.line, function: site.function))
        var batch = BatchExecution(store, origin: origin, isRecording: open != nil)
        do throws(StoreError) {
            let result = try store.locked { () throws(StoreError) in try batch.run(body) }
            if let open { recorder.end(open, batch.finalEvent, context: origin.context, site: origin.site) }
            return result
        } catch {
            if let open {
                var event = batch.finalEvent
                event.error = UInt32(bitPattern: error.sqliteCode == 0 ? SQLITE_ABORT : error.sqliteCode)
                recorder.end(open, event, context: origin.context, site: origin.site)
            }
            throw error
        }
    }
}
