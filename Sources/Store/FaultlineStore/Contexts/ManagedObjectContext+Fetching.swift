public import FaultlineModel
import FaultlineTrace

extension ManagedObjectContext {
    /// Fetches objects.
    ///
    /// Every call queries the store. The context's unsaved changes take part, unless the request excludes them; see
    /// ``FetchRequest/includesPendingChanges``.
    ///
    /// - Returns: A collection that creates its objects on access.
    /// - Throws: ``StoreError`` if the request is invalid or the store cannot be read. Also throws the error of an
    ///   earlier read that could not throw, if no fetch or save has thrown it yet.
    public func fetch<Object: ManagedObject>(
        _ request: FetchRequest<Object>, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) throws -> FetchResults<Object> {
        let execution = try objectExecution(request, (fileID, line, function))
        return FetchResults(FetchedObjects(self, execution, try execution.run()))
    }

    /// Prepares a fetch of objects.
    func objectExecution<Object: ManagedObject>(
        _ request: FetchRequest<Object>, _ site: (fileID: StaticString, line: UInt, function: StaticString)
    ) throws -> FetchExecution {
        let request =
            persistentStoreCoordinator.advice?.taken(by: request, model, fileID: site.fileID, line: site.line)
            ?? request
        let execution = try execution(request.terms, .objects, site)
        guard execution.entity.objectClass is Object.Type else {
            throw StoreError(
                .invalidRequest,
                "Fetching \(request.entityName): its objects are of class \(execution.entity.objectClass), not \(Object.self); pass the class to the container."
            )
        }
        return execution
    }

    /// Counts the objects that a request selects, without loading any.
    ///
    /// - Throws: The errors of ``fetch(_:fileID:line:function:)``.
    public func count<Object: ManagedObject>(
        for request: FetchRequest<Object>, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) throws -> Int {
        try execution(request.terms, .count, (fileID, line, function)).run().count
    }

    /// Fetches the IDs of objects, without creating any objects.
    ///
    /// - Parameters:
    ///   - request: Selects the objects.
    ///   - warmsRowCache: Whether to read the objects' rows into the row cache as well, so using the objects costs no
    ///     trip. Core Data does so by default; here the default is to read keys only.
    /// - Throws: The errors of ``fetch(_:fileID:line:function:)``.
    public func fetchObjectIDs<Object: ManagedObject>(
        _ request: FetchRequest<Object>, warmsRowCache: Bool = false, fileID: StaticString = #fileID,
        line: UInt = #line, function: StaticString = #function
    ) throws -> [ManagedObjectID] {
        let execution = try execution(request.terms, .objectIDs, (fileID, line, function))
        execution.warmsRowCache = warmsRowCache
        return try execution.run().objectIDs(execution.entity)
    }

    /// Fetches values that the store computes over the objects that a request selects, without loading any.
    ///
    ///     var request = FetchRequest<Track>(predicate: PropertyPath("genre.name") == "Jazz")
    ///     request.resultType = .dictionary
    ///     request.propertiesToFetch = [ExpressionDescription("length", .function(.sum, "milliseconds"))]
    ///     let length = try context.fetchDictionaries(request)[0]["length"]
    ///
    /// Unsaved changes are ignored.
    ///
    /// - Returns: Dictionaries of values by expression name; a missing value has no entry.
    /// - Throws: The errors of ``fetch(_:fileID:line:function:)``; also if the request is not for dictionaries, or a function does
    ///   not apply to its attribute. Selecting no object is not an error.
    public func fetchDictionaries<Object: ManagedObject>(
        _ request: FetchRequest<Object>, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) throws -> [[String: AttributeValue]] {
        try execution(request.terms, .dictionaries, (fileID, line, function)).run().dictionaries
    }

    private func execution(
        _ terms: FetchTerms, _ type: TraceEvent.Fetch.ResultType,
        _ site: (fileID: StaticString, line: UInt, function: StaticString)
    ) throws(StoreError) -> FetchExecution {
        checkQueue()
        try throwReadError()
        updateStoresIfChanged()
        guard let model else {
            throw StoreError(
                .invalidRequest, "Fetching \(terms.entityName): the coordinator has no store; add one first.")
        }
        guard let schema = model.entity(named: terms.entityName) else {
            throw StoreError(
                .unknownEntity,
                "Fetching \(terms.entityName): the model has no such entity; correct the name, or add it to the model.")
        }
        try Self.check(terms, isFor: type)
        let targets = try targets(terms, schema, "Fetching")
        let entity = targets[0].entities[schema.index]
        try Prefetch.check(terms.prefetch, entity, targets[0].schema)
        let execution = FetchExecution(
            store: targets[0], context: self, terms: terms, entity: entity, resultType: type, site: site)
        if targets.count > 1 { execution.otherStores = Array(targets.dropFirst()) }
        return execution
    }

    /// The stores that a request applies to; at least one.
    ///
    /// - Throws: ``StoreError`` if there is none.
    func targets(_ terms: FetchTerms, _ schema: EntitySchema, _ doing: String) throws(StoreError) -> [SQLStore] {
        if stores.count == 1, terms.affectedStores == nil, stores[0].configured == nil { return stores }
        let known = stores.filter { $0.has(schema, includesSubentities: terms.includesSubentities) }
        guard !known.isEmpty else {
            throw StoreError(
                .invalidRequest,
                "\(doing) \(terms.entityName): none of the coordinator's stores has the entity; add one whose configuration has it."
            )
        }
        guard let affected = terms.affectedStores else { return known }
        let targets = known.filter { affected.contains($0.identity) }
        guard !targets.isEmpty else {
            throw StoreError(
                .invalidRequest,
                "\(doing) \(terms.entityName): none of the affected stores has the entity; name a store of the coordinator whose configuration has it."
            )
        }
        return targets
    }

    /// Checks that a request's result type matches the call; counts and IDs accept any.
    private static func check(_ terms: FetchTerms, isFor type: TraceEvent.Fetch.ResultType) throws(StoreError) {
        let problem: String
        switch (type, terms.resultType) {
        case (.objects, .dictionary):
            problem =
                "the request is for dictionaries, and fetch returns objects; call fetchDictionaries, or set resultType to managedObject."
        case (.dictionaries, .managedObject):
            problem =
                "the request is for objects, and fetchDictionaries returns dictionaries; call fetch, or set resultType to dictionary."
        default: return
        }
        throw StoreError(.invalidRequest, "Fetching \(terms.entityName): \(problem)")
    }
}
