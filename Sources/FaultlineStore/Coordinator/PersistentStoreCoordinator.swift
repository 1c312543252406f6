public import FaultlineModel
public import Foundation

/// Joins contexts with the store that they share.
public final class PersistentStoreCoordinator: Sendable {
    /// The model of the store.
    public let managedObjectModel: ManagedObjectModel
    let store: SQLStore
    let mergingContexts = MergingContexts()

    init(_ store: SQLStore, model: ManagedObjectModel) {
        self.store = store
        managedObjectModel = model
    }

    /// The store's file.
    public var url: URL { store.description.url }

    /// The stores that are open.
    public var persistentStores: [PersistentStore] { [store.identity] }

    /// What identifies the store: `Z_UUID`.
    public var storeUUID: String { store.identity.identifier }

    /// The identity that ``ManagedObjectID/uriRepresentation()`` made a URL of; `nil` if it belongs to another store or
    /// is no such URL.
    public func managedObjectID(forURIRepresentation url: URL) -> ManagedObjectID? {
        let parts = url.path.split(separator: "/")
        guard url.scheme == "x-coredata", url.host?.uppercased() == store.identity.identifier.uppercased(),
            parts.count == 2,
            let entity = store.schema.entity(named: String(parts[0])), parts[1].first == "p",
            let key = Int64(parts[1].dropFirst()), key > 0
        else { return nil }
        return ManagedObjectID(store: store.identity, entity: entity, key: key)
    }
}

extension PersistentStoreCoordinator {
    /// Runs a statement on the store's connection.
    ///
    /// For tests and tools of this package.
    package func run(_ sql: String) throws {
        try store.locked { () throws(StoreError) in
            store.endRead()
            try store.session.run(sql, doing: "Running a statement")
        }
    }

    /// Lets go of all rows in memory that no object uses.
    ///
    /// For tests and tools of this package.
    package func removeUnusedRows() {
        try? store.locked { () throws(StoreError) in store.removeFaultBuilders() }
        store.rows.removeUnused()
    }

    /// Hands out SQLite's connection, under the lock.
    ///
    /// For tests and tools of this package.
    package func withConnection<R>(_ body: (OpaquePointer) -> R) throws -> R {
        try store.locked { () throws(StoreError) in body(store.connection.handle) }
    }
}
