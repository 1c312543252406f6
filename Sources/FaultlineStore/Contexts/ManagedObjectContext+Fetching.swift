import FaultlineModel
import FaultlineTrace

extension ManagedObjectContext {
    /// Fetches objects.
    ///
    /// Every call asks the store, and the results show what it has: objects that were inserted and not saved are not
    /// among them, objects that were deleted are left out, and an object that was changed is found by what was saved.
    ///
    /// - Returns: a collection that makes its objects when they are asked for.
    /// - Throws: ``StoreError`` if the request asks for what there is not, or the store cannot be read; also what could
    ///   not be read since the last fetch or save where reading cannot throw.
    public func fetch<Object: ManagedObject>(
        _ request: FetchRequest<Object>, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) throws -> FetchResults<Object> {
        let execution = try execution(request.terms, .objects, (fileID, line, function))
        guard execution.entity.objectClass is Object.Type else {
            throw StoreError(
                .invalidRequest,
                "Fetching \(request.entityName): its objects are of class \(execution.entity.objectClass), not \(Object.self); name the class when the container is made."
            )
        }
        return FetchResults(FetchedObjects(self, execution, try execution.run()))
    }

    /// Counts the objects that a request selects, without loading any.
    ///
    /// - Throws: as ``fetch(_:fileID:line:function:)``.
    public func count<Object: ManagedObject>(
        for request: FetchRequest<Object>, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) throws -> Int {
        try execution(request.terms, .count, (fileID, line, function)).run().count
    }

    /// Fetches the identities of objects, without loading any.
    ///
    /// - Throws: as ``fetch(_:fileID:line:function:)``.
    public func fetchObjectIDs<Object: ManagedObject>(
        _ request: FetchRequest<Object>, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) throws -> [ManagedObjectID] {
        let execution = try execution(request.terms, .objectIDs, (fileID, line, function))
        return try execution.run().objectIDs(execution.entity, store)
    }

    private func execution(
        _ terms: FetchTerms, _ type: TraceEvent.Fetch.ResultType,
        _ site: (fileID: StaticString, line: UInt, function: StaticString)
    ) throws(StoreError) -> FetchExecution {
        try throwReadError()
        guard let schema = store.schema.entity(named: terms.entityName) else {
            throw StoreError(
                .unknownEntity,
                "Fetching \(terms.entityName): the model has no such entity; correct the name, or add it to the model.")
        }
        let entity = store.entities[schema.index]
        try Prefetch.check(terms.prefetch, entity, store.schema)
        return FetchExecution(
            store: store, context: self, terms: terms, entity: entity, resultType: type, site: site)
    }
}
