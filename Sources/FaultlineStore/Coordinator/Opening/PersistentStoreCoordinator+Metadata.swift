public import Foundation

extension PersistentStoreCoordinator {
    /// What a store keeps beside its objects; see ``PersistentStore/metadata``.
    public func metadata(for store: PersistentStore) -> [String: any Sendable] { store.metadata }

    /// Sets what a store keeps beside its objects.
    ///
    /// ``metadata(for:)`` has it at once; the file has it with the next save of a context, whatever that saves. The store's
    /// own values, whose keys begin with `NS`, stay as they are, whether they are among the new ones or not.
    ///
    /// - Parameter metadata: all of the program's values: `String`, numbers, `Bool`, `Date`, `Data`, and arrays and
    ///   dictionaries of these.
    /// - Throws: ``StoreError`` if a property list cannot keep a value, or the store was opened read-only.
    public func setMetadata(_ metadata: [String: any Sendable], for store: PersistentStore) throws(StoreError) {
        if store.isReadOnly { throw StoreError.readOnlyStore(store.url.path, doing: "Setting metadata") }
        var values: [String: any Sendable] = [:]
        for (key, value) in metadata {
            guard let kept = StoreMetadata.value(value) else {
                throw StoreError(
                    .invalidMetadata,
                    "Setting metadata in '\(store.url.path)': the value of '\(key)' is a \(type(of: value as Any)), which a property list cannot keep; pass a text, number, truth value, date or data, or an array or dictionary of these."
                )
            }
            values[key] = kept
        }
        let new = values
        store.withMetadata { $0.set(new) }
    }

    /// What a store that need not be open keeps beside its objects.
    ///
    /// Nothing is written and no model is needed: this tells whether a store fits a model, or which program made it.
    ///
    /// - Throws: ``StoreError`` if there is no such file, or it is no store of that type; always for a store in memory.
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
