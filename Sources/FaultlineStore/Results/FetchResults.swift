import FaultlineRecorder

/// What a fetch found: a collection of objects that are made, and with a batch size loaded, when they are asked for.
///
/// It is no array on purpose: making an array of it loads every batch. With a batch size the batch of a row is loaded
/// when a row of it is first asked for, and the ``retainedBatches`` batches that were used last are kept.
///
/// Reading never throws: where a batch cannot be loaded, its objects are faults that read as their defaults, an event
/// records the failure, and the next fetch or save throws. ``load()`` throws at once.
public struct FetchResults<Object: ManagedObject>: RandomAccessCollection {
    /// How many batches are kept: the current one and three before it.
    public static var retainedBatches: Int { FetchedObjects.retainedBatches }

    @usableFromInline let objects: FetchedObjects

    init(_ objects: FetchedObjects) {
        self.objects = objects
    }

    public var startIndex: Int { 0 }

    public var endIndex: Int { objects.count }

    /// How many objects were found.
    ///
    /// - Complexity: O(1), no trip to the store.
    public var count: Int {
        objects.use?.askedForCount()
        return objects.count
    }

    /// Whether nothing was found.
    public var isEmpty: Bool {
        objects.use?.askedForEmptiness()
        return objects.count == 0
    }

    @inlinable
    public subscript(position: Int) -> Object {
        // Checked when the request was executed.
        unsafeDowncast(objects.object(at: position), to: Object.self)
    }

    /// The identities of the objects, in their order.
    ///
    /// Loads nothing.
    public var objectIDs: [ManagedObjectID] {
        objects.use?.askedForIdentities()
        return objects.objectIDs
    }

    /// Goes over the objects from first to last.
    @inlinable
    public func makeIterator() -> Iterator {
        Iterator(objects: objects)
    }

    /// Goes over the objects of a fetch.
    public struct Iterator: IteratorProtocol {
        @usableFromInline let objects: FetchedObjects
        @usableFromInline var position = 0

        @inlinable
        init(objects: FetchedObjects) {
            self.objects = objects
        }

        @inlinable
        public mutating func next() -> Object? {
            guard position < objects.count else { return nil }
            defer { position += 1 }
            return unsafeDowncast(objects.object(at: position), to: Object.self)
        }
    }

    /// Loads what is not loaded yet.
    ///
    /// - Throws: ``StoreError`` if something cannot be read.
    public func load() throws {
        try objects.loadAll()
    }
}

@available(
    *, unavailable, message: "results stay with their context; hand on the objects' IDs, or the values that you need"
)
extension FetchResults: Sendable {}
