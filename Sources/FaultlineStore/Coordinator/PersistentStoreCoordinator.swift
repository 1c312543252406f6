public import FaultlineModel
public import Foundation

/// Joins contexts with the store that they share.
public final class PersistentStoreCoordinator: Sendable {
    /// The model of the store.
    public let managedObjectModel: ManagedObjectModel
    let store: SQLStore

    init(_ store: SQLStore, model: ManagedObjectModel) {
        self.store = store
        managedObjectModel = model
    }

    /// The store's file.
    public var url: URL { store.description.url }

    /// What identifies the store: `Z_UUID`.
    public var storeUUID: String { store.identity.uuid }

    /// The identity that ``ManagedObjectID/uriRepresentation()`` made a URL of; `nil` if it belongs to another store or
    /// is no such URL.
    public func managedObjectID(forURIRepresentation url: URL) -> ManagedObjectID? {
        let parts = url.path.split(separator: "/")
        guard url.scheme == "x-coredata", url.host?.uppercased() == store.identity.uuid.uppercased(), parts.count == 2,
            let entity = store.schema.entity(named: String(parts[0])), parts[1].first == "p",
            let key = Int64(parts[1].dropFirst()), key > 0
        else { return nil }
        return ManagedObjectID(store: store.identity, entity: entity, key: key)
    }
}
