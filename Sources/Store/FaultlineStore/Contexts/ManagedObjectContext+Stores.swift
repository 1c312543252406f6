import FaultlineModel
import FaultlineRecorder
import Foundation

extension ManagedObjectContext {
    /// Chooses the store that a new object is saved to.
    ///
    /// The default is the first writable store whose configuration has the object's entity. Related objects must be in
    /// one store, otherwise a save throws.
    ///
    /// - Throws: ``StoreError`` if the object was already saved or has its permanent ID, or if the store cannot have
    ///   it: it was opened read-only, its configuration does not have the entity, or the coordinator does not have the
    ///   store. The object then keeps its store.
    public func assign(_ object: ManagedObject, to store: PersistentStore) throws {
        checkQueue(of: object)
        updateStoresIfChanged()
        let refused =
            "Assigning \(object.entityName) \(object.objectID) to the store '\(store.url.path)' is refused because"
        guard let target = stores.first(where: { $0.identity === store }) else {
            throw StoreError(
                .invalidRequest, "\(refused) the coordinator does not have the store; add it first.",
                objectID: object.objectID)
        }
        let entity = target.entities[object.runtime.position]
        if object.runtime === entity { return }
        guard object.isInserted, object.key < 0, object.managedObjectContext === self else {
            throw StoreError(
                .invalidRequest,
                "\(refused) it belongs to '\(object.runtime.store.path)' already; make a new object there and delete this one.",
                objectID: object.objectID)
        }
        guard target.has(entity.schema, includesSubentities: false) else {
            throw StoreError(
                .invalidRequest,
                "\(refused) its configuration '\(store.configurationName ?? "")' does not have the entity; add the entity to the configuration, or name another store.",
                objectID: object.objectID)
        }
        guard !store.isReadOnly else {
            throw StoreError(
                .readOnly, "\(refused) it was opened read-only; open it with isReadOnly unset, or name another store.",
                objectID: object.objectID)
        }
        identities.remove(object)
        object.runtime = entity
        // A key that a failed save reserved belongs to the other store.
        object.pending?.newKey = 0
        identities.insert(object)
    }

    // MARK: - Added and removed stores

    /// Updates the context's stores if any were added to or removed from the coordinator.
    ///
    /// - Complexity: One load if there are none.
    @inline(__always)
    func updateStoresIfChanged() {
        if persistentStoreCoordinator.generation != storesGeneration { updateStores() }
    }

    @inline(never)
    private func updateStores() {
        let state = persistentStoreCoordinator.state
        let removed = stores.filter { known in !state.stores.contains { $0 === known } }
        identities.grow(to: state.count * persistentStoreCoordinator.managedObjectModel.entities.count)
        (stores, storesGeneration) = (state.stores, state.generation)
        lastCreated = nil
        guard !removed.isEmpty else { return }
        formerStores += removed
        let lost = identities.objects().filter { object in removed.contains { $0 === object.runtime.store } }
        guard !lost.isEmpty else { return }
        undoManager?.removeAllActions()
        for object in lost {
            logChange { $0.delete(object) }
            detach(object)
        }
        let gone = Set(lost)
        inserted.removeAll { gone.contains($0) }
        updated.removeAll { gone.contains($0) }
        deleted.removeAll { gone.contains($0) }
    }

    // MARK: - Lookup

    /// The coordinator's store with an identity; `nil` if there is none.
    @inline(__always)
    func store(_ identity: PersistentStore) -> SQLStore? {
        // Most coordinators have a single store.
        if let first = stores.first, first.identity === identity { return first }
        return stores.first { $0.identity === identity }
    }

    /// The entity of an ID, even if its store was removed.
    @inline(__always)
    func runtime(of id: ManagedObjectID) -> EntityRuntime? {
        updateStoresIfChanged()
        guard let store = store(id.store) else { return formerRuntime(of: id) }
        return store.entities[id.entity.index]
    }

    @inline(never)
    private func formerRuntime(of id: ManagedObjectID) -> EntityRuntime? {
        formerStores.first { $0.identity === id.store }?.entities[id.entity.index]
    }

    /// The named entity, in the store for its new objects.
    func entity(named name: String) -> EntityRuntime {
        updateStoresIfChanged()
        guard let schema = model?.entity(named: name) else {
            incorrectUse(
                stores.isEmpty ? "The coordinator has no store; add one first." : "The model has no entity '\(name)'.")
        }
        guard
            let store = stores.first(where: {
                !$0.description.isReadOnly && $0.has(schema, includesSubentities: false)
            }) ?? stores.first(where: { $0.has(schema, includesSubentities: false) })
        else {
            incorrectUse("None of the coordinator's stores has the entity '\(name)'; add one that has it.")
        }
        return store.entities[schema.index]
    }

    /// The model in the layout of the first store; stores differ only in the names of columns.
    var model: ModelSchema? { stores.first?.schema }

    /// The connections that the context reads a store with: the store's or, while it is pinned, those of its snapshot.
    @inline(__always)
    func pool(of store: SQLStore) -> ConnectionPool {
        guard let pinned else { return store.pool }
        return pinned.pool(of: store)
    }

    /// Makes every read that begins later see what others have written.
    func finishReading() {
        for store in stores { store.finishReading() }
    }
}
