import FaultlineRecorder

/// The result of a fetch: a collection that creates objects, and with a batch size loads rows, on access.
///
/// It is deliberately not an array: converting it to one loads every batch. With a batch size, the first access to a
/// row loads its batch; the ``retainedBatches`` most recently used batches stay loaded.
///
/// Reading never throws: if a batch cannot be loaded, its objects are faults that read as their defaults, an event
/// records the failure, and the next fetch or save throws. ``load()`` throws immediately.
public struct FetchResults<Object: ManagedObject>: RandomAccessCollection {
    /// The number of batches that stay loaded: the current one and the three before it.
    public static var retainedBatches: Int { FetchedObjects.retainedBatches }

    @usableFromInline let objects: FetchedObjects

    init(_ objects: FetchedObjects) {
        self.objects = objects
    }

    /// The position of the first element: 0.
    public var startIndex: Int { 0 }

    /// The position after the last element.
    public var endIndex: Int { objects.count }

    /// The number of objects.
    ///
    /// - Complexity: O(1), no trip to the store.
    public var count: Int {
        objects.use?.askedForCount()
        return objects.count
    }

    /// Whether the result is empty.
    public var isEmpty: Bool {
        objects.use?.askedForEmptiness()
        return objects.count == 0
    }

    /// The object at a position.
    ///
    /// The first access to a batch loads it from the store.
    @inlinable
    public subscript(position: Int) -> Object {
        // The type was checked when the request was executed.
        unsafeDowncast(objects.object(at: position), to: Object.self)
    }

    /// The IDs of the objects, in order.
    ///
    /// Loads no rows.
    public var objectIDs: [ManagedObjectID] {
        objects.use?.askedForIdentities()
        return objects.objectIDs
    }

    /// Iterates over the objects from first to last.
    @inlinable
    public func makeIterator() -> Iterator {
        Iterator(objects: objects)
    }

    /// An iterator over the objects of a fetch.
    public struct Iterator: IteratorProtocol {
        @usableFromInline let objects: FetchedObjects
        @usableFromInline var position = 0

        @inlinable
        init(objects: FetchedObjects) {
            self.objects = objects
        }

        /// The next object, or `nil` after the last one.
        ///
        /// The first object of a batch loads the batch.
        @inlinable
        public mutating func next() -> Object? {
            guard position < objects.count else { return nil }
            defer { position += 1 }
            return unsafeDowncast(objects.object(at: position), to: Object.self)
        }
    }

    /// Loads all batches that are not loaded.
    ///
    /// - Throws: ``StoreError`` if a batch cannot be read.
    public func load() throws {
        try objects.loadAll()
    }
}

@available(
    *, unavailable, message: "results belong to their context; pass the objects' IDs, or the values that you need"
)
extension FetchResults: Sendable {}
