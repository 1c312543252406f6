import FaultlineModel
import FaultlineRecorder
import Foundation

extension ManagedObjectContext {
    /// Says which store a new object is to be saved to.
    ///
    /// Without this it is the first store that can be written and whose configuration has the object's entity. Objects that
    /// are related are to be in one store; a save says if they are not.
    ///
    /// - Throws: ``StoreError`` if the object was saved already or has its permanent identity, or the store cannot have it:
    ///   because it was opened read-only, its configuration does not have the entity, or the coordinator does not have the
    ///   store. The object then stays where it is.
    public func assign(_ object: ManagedObject, to store: PersistentStore) throws {
        checkQueue(of: object)
        noticeStores()
        let refused =
            "Assigning \(object.entityName) \(object.objectID) to the store '\(store.url.path)' is refused because"
        guard let target = stores.first(where: { $0.identity === store }) else {
            throw StoreError(
                .invalidRequest, "\(refused) the coordinator does not have the store; add it first.",
                objectID: object.objectID)
        }
        let entity = target.entities[object.runtime.place]
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
        // A key that was reserved for a save that failed was the other store's.
        object.pending?.newKey = 0
        identities.insert(object)
    }

    // MARK: - Stores that come and go

    /// Takes note of stores that were added or removed.
    ///
    /// - Complexity: one load if there are none.
    @inline(__always)
    func noticeStores() {
        if persistentStoreCoordinator.generation != storesGeneration { updateStores() }
    }

    @inline(never)
    private func updateStores() {
        let state = persistentStoreCoordinator.state
        let removed = stores.filter { known in !state.stores.contains { $0 === known } }
        identities.grow(to: state.count * persistentStoreCoordinator.managedObjectModel.entities.count)
        (stores, storesGeneration) = (state.stores, state.generation)
        lastMade = nil
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

    // MARK: - Which store

    /// The store with an identity; `nil`: it is not among those of the coordinator.
    @inline(__always)
    func store(_ identity: PersistentStore) -> SQLStore? {
        // Most often there is but one.
        if let first = stores.first, first.identity === identity { return first }
        return stores.first { $0.identity === identity }
    }

    /// The entity of an identity, also of a store that was removed.
    @inline(__always)
    func runtime(of id: ManagedObjectID) -> EntityRuntime? {
        noticeStores()
        guard let store = store(id.store) else { return formerRuntime(of: id) }
        return store.entities[id.entity.index]
    }

    @inline(never)
    private func formerRuntime(of id: ManagedObjectID) -> EntityRuntime? {
        formerStores.first { $0.identity === id.store }?.entities[id.entity.index]
    }

    /// The named entity, in the store that new objects of it go to.
    func entity(named name: String) -> EntityRuntime {
        noticeStores()
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

    /// The model as a store lays it out; which one makes no difference but for the names of columns.
    var model: ModelSchema? { stores.first?.schema }

    /// What the context reads with: the store's connections or, while it is pinned, that of a snapshot.
    @inline(__always)
    func pool(of store: SQLStore) -> ConnectionPool {
        guard let pinned else { return store.pool }
        return pinned.pool(of: store)
    }

    /// Lets every read that begins from now on see what others have written.
    func finishReading() {
        for store in stores { store.finishReading() }
    }
}
