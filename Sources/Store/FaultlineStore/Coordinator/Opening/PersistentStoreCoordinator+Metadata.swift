public import FaultlineModel
public import Foundation

extension PersistentStoreCoordinator {
    /// A store's metadata; see ``PersistentStore/metadata``.
    public func metadata(for store: PersistentStore) -> [String: any Sendable] { store.metadata }

    /// Sets the metadata of a store.
    ///
    /// ``metadata(for:)`` returns the new values immediately; the next save of any context writes them to the file. The
    /// store's own values, whose keys begin with `NS`, do not change.
    ///
    /// - Parameters:
    ///   - metadata: All values of the program: `String`, numbers, `Bool`, `Date`, `Data`, and arrays and dictionaries
    ///     of these.
    ///   - store: A store of this coordinator.
    /// - Throws: ``StoreError`` if a property list cannot represent a value, or if the store was opened read-only.
    public func setMetadata(_ metadata: [String: any Sendable], for store: PersistentStore) throws(StoreError) {
        if store.isReadOnly { throw StoreError.readOnlyStore(store.url.path, doing: "Setting metadata") }
        var values: [String: any Sendable] = [:]
        for (key, value) in metadata {
            guard let kept = StoreMetadata.value(value) else {
                throw StoreError(
                    .invalidMetadata,
                    "Setting metadata in '\(store.url.path)': the value of '\(key)' is a \(type(of: value as Any)), which a property list cannot hold; pass a string, number, Boolean, date or data, or an array or dictionary of these."
                )
            }
            values[key] = kept
        }
        let new = values
        store.withMetadata { $0.set(new) }
    }

    /// Reads the metadata of a store without opening it.
    ///
    /// Writes nothing and needs no model. Use it to find out whether a store fits a model, or which program created it.
    ///
    /// - Throws: ``StoreError`` if there is no such file, or if it is not a store of that type; always for a store in
    ///   memory.
    public static func metadataForPersistentStore(
        type: PersistentStore.StoreType, at url: URL
    ) throws(StoreError) -> [String: any Sendable] {
        let (uuid, metadata) = try StoreOpening.metadata(type, at: url)
        var values = metadata.values
        values[PersistentStore.typeKey] = type.rawValue
        values[PersistentStore.uuidKey] = uuid
        return values
    }
}

extension PersistentStoreCoordinator {
    /// Whether the store in a file was written with a version of a model, or with one whose stores are equal.
    ///
    /// Reads version hashes where Faultline wrote the store, and compares entities, tables and columns where Apple's framework
    /// did. Two versions that differ only in what a file does not show, such as optional flags, both fit a store of Apple's.
    /// Writes nothing.
    ///
    /// - Throws: ``StoreError`` if there is no such file, or if it is not a store; not if the version does not fit.
    public static func fits(_ model: ManagedObjectModel, storeAt url: URL) throws(StoreError) -> Bool {
        try mismatch(of: model, withStoreAt: url) == nil
    }

    /// Why a model, or one of its configurations, does not fit a store, as part of a sentence; `nil` if it fits.
    package static func mismatch(
        of model: ManagedObjectModel, configuration: String? = nil, withStoreAt url: URL
    ) throws(StoreError) -> String? {
        let setup = try StoreOpening.setup(.sqlite, forReading: url)
        var part: StoreConfiguration?
        if let configuration { part = try StoreConfiguration(configuration, of: model, path: url.path) }
        let metadata = try setup.readMetadata().1
        return try StoreMatch(setup, model, part, path: url.path, metadata: metadata.values).mismatch()
    }
}
