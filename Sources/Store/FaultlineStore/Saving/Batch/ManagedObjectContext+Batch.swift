import CSQLite
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

extension ManagedObjectContext {
    /// Deletes objects in the stores that contain them: all of them or none.
    ///
    /// - Throws: ``StoreError`` if the request names an unknown entity or property, if a delete rule denies the
    ///   deletion, or if the store cannot be written.
    @discardableResult
    public func execute(
        _ request: BatchDeleteRequest, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) throws -> BatchResult {
        guard request.terms != nil || !request.objectIDs.isEmpty else { return BatchResult(count: 0, objectIDs: []) }
        let schema = try batchEntity(request.entityName, "Deleting")
        let targets: [SQLStore]
        if let terms = request.terms {
            targets = try batchTargets(terms, schema, "Deleting")
        } else {
            targets = stores.filter { store in request.objectIDs.contains { $0.store === store.identity } }
        }
        return try run(in: targets, request.resultType, (fileID, line, function)) { (batch) throws(StoreError) in
            let entity = batch.store.entities[schema.index]
            let keys: [BatchExecution.Key]
            if let terms = request.terms {
                keys = try batch.keys(terms, entity, doing: "Deleting")
            } else {
                keys = request.objectIDs.filter { $0.store === batch.store.identity && $0.key > 0 }.map {
                    BatchExecution.Key(entity: $0.entity.index, key: $0.key)
                }
            }
            return try batch.delete(keys, entity)
        }
    }

    /// Updates attributes in the store: for all selected objects or for none.
    ///
    /// - Throws: ``StoreError`` if the request names an unknown entity or property, if a value does not have its
    ///   attribute's type, or if the store cannot be written.
    @discardableResult
    public func execute(
        _ request: BatchUpdateRequest, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) throws -> BatchResult {
        let schema = try batchEntity(request.terms.entityName, "Updating")
        let targets = try batchTargets(request.terms, schema, "Updating")
        return try run(in: targets, request.resultType, (fileID, line, function)) { (batch) throws(StoreError) in
            let entity = batch.store.entities[schema.index]
            return try batch.update(try batch.keys(request.terms, entity, doing: "Updating"), entity, request)
        }
    }

    /// Inserts objects into the first writable store that has the entity: all of them or none.
    ///
    /// The ``mergePolicy`` decides about objects whose unique values are already in the store.
    ///
    /// - Throws: ``StoreError`` if a dictionary names an unknown property, has a value of another type or refers to an
    ///   object that does not exist; if a unique value exists and the policy is ``MergePolicy/error``; or if the store
    ///   cannot be written.
    @discardableResult
    public func execute(
        _ request: BatchInsertRequest, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) throws -> BatchResult {
        let schema = try batchEntity(request.entityName, "Inserting")
        guard !schema.isAbstract else {
            throw StoreError(
                .invalidRequest,
                "Inserting \(request.entityName): the entity is abstract and has no objects; name one that inherits from it."
            )
        }
        let affected = stores.filter { request.affectedStores?.contains($0.identity) != false }
        let known = affected.filter { $0.has(schema, includesSubentities: false) }
        guard let target = known.first(where: { !$0.description.isReadOnly }) ?? known.first else {
            throw StoreError(
                .invalidRequest,
                "Inserting \(request.entityName): none of the \(request.affectedStores == nil ? "coordinator's" : "affected") stores has the entity; name one whose configuration has it."
            )
        }
        let policy = mergePolicy
        return try run(in: [target], request.resultType, (fileID, line, function)) { (batch) throws(StoreError) in
            try batch.insert(batch.store.entities[schema.index], policy, request.next)
        }
    }

    private func batchEntity(_ name: String, _ doing: String) throws(StoreError) -> EntitySchema {
        try throwReadError()
        updateStoresIfChanged()
        guard let schema = model?.entity(named: name) else {
            throw StoreError(
                .unknownEntity,
                model == nil
                    ? "\(doing) \(name): the coordinator has no store; add one first."
                    : "\(doing) \(name): the model has no such entity; correct the name, or add it to the model.")
        }
        return schema
    }

    private func batchTargets(
        _ terms: FetchTerms, _ schema: EntitySchema, _ doing: String
    ) throws(StoreError) -> [SQLStore] {
        let targets = try targets(terms, schema, doing)
        guard targets.count == 1 || terms.limit == 0 && terms.offset == 0 else {
            throw StoreError(
                .invalidRequest,
                "\(doing) \(terms.entityName): fetchLimit and fetchOffset cannot be applied across several stores; set affectedStores to one store, or remove them."
            )
        }
        return targets
    }

    /// Runs a batch request in one transaction per store, recorded as a single save event.
    func run(
        in targets: [SQLStore], _ type: BatchResultType, _ site: CallerSite,
        _ body: @escaping (inout BatchExecution) throws(StoreError) -> BatchResult
    ) throws(StoreError) -> BatchResult {
        for store in targets { try store.checkWritable(doing: "Running a batch request") }
        logRequest("batch request", site, to: targets)
        let span = recorder.begin().map { SaveSpan($0, recorder, origin(at: site)) }
        let author = historyAuthor
        var transaction = JointTransaction(targets.map { BatchExecution($0, type, span?.part, author, body) })
        var failure: StoreError?
        do throws(StoreError) {
            try transaction.run(for: span.origin())
        } catch {
            failure = error
        }
        for case let event? in transaction.parts.map(\.event) { span?.event.add(event) }
        span?.event.isBatchRequest = true
        span?.end(failure)
        if let failure { throw failure }
        return BatchResult(
            count: transaction.parts.reduce(0) { $0 + $1.result.count },
            objectIDs: transaction.parts.flatMap(\.result.objectIDs))
    }
}
