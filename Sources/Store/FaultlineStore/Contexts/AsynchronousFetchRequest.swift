/// A fetch request that a main-queue context executes without blocking the main thread.
///
///     let request = AsynchronousFetchRequest(fetchRequest: FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
///     let items = try await context.execute(request)
///
/// A context with a queue of its own needs no such request:
/// ``ManagedObjectContext/perform(schedule:fileID:line:function:_:)`` does not block its caller.
public struct AsynchronousFetchRequest<Object: ManagedObject>: Sendable {
    /// The request that selects the objects.
    public var fetchRequest: FetchRequest<Object>

    /// Creates a request from one for objects.
    public init(fetchRequest: FetchRequest<Object>) {
        self.fetchRequest = fetchRequest
    }
}

extension ManagedObjectContext {
    /// Fetches objects into a main-queue context, and reads the store on another thread meanwhile.
    ///
    /// The result is that of ``fetch(_:fileID:line:function:)``: unsaved changes count as they are
    /// when the rows have been read. If they change while the store is read, it is read again. Batches and faults that
    /// are loaded later are loaded on the main thread, as after any fetch. A child context, and a coordinator with
    /// several stores for the entity, fetch on the main thread.
    ///
    /// Cancelling the task interrupts the statement.
    ///
    /// - Throws: The errors of a fetch; ``StoreError`` if the context is not on the main queue; `CancellationError` if
    ///   the task was cancelled before the store was read.
    @MainActor
    public func execute<Object: ManagedObject>(
        _ request: AsynchronousFetchRequest<Object>, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) async throws -> FetchResults<Object> {
        guard concurrencyType == .mainQueue else {
            throw StoreError(
                .invalidRequest,
                "Fetching \(request.fetchRequest.entityName): an asynchronous fetch request is for a context of the main queue; call fetch inside perform, which does not block its caller."
            )
        }
        let site = (fileID, line, function)
        let execution = try objectExecution(request.fetchRequest, site)
        guard parent == nil, execution.otherStores.isEmpty else {
            return FetchResults(FetchedObjects(self, execution, try execution.run()))
        }
        while true {
            let reading = try DetachedReading(execution)
            try await reading.run()
            if let found = reading.finish() { return FetchResults(FetchedObjects(self, execution, found)) }
        }
    }
}
