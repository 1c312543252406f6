internal import FaultlineDigest
public import Foundation

extension ManagedObjectModel {
    /// The hash of each entity's version, 32 bytes, by the entity's name.
    ///
    /// A store keeps the hashes of the model that wrote it, and fits every model with equal ones. They cover names, parents, the
    /// abstract flag, optional flags, types, external storage, derivations, destinations, counts, order, inverses, uniqueness
    /// constraints and hash modifiers. They do not cover transient properties, default values, delete rules, validation, indexes,
    /// class names and user info.
    ///
    /// The hashes are Faultline's own. Stores of Apple's framework have different ones.
    ///
    /// - Complexity: O(n) in the number of properties; the hashes are computed on each access.
    public var entityVersionHashesByName: [String: Data] {
        var hashes: [String: Data] = [:]
        func hash(_ entity: EntityDescription) -> Data {
            if let known = hashes[entity.name] { return known }
            let parent = entity.parent.flatMap { self.entity(named: $0) }.map { hash($0) }
            let own = VersionHash.of(entity, parent: parent)
            hashes[entity.name] = own
            return own
        }
        for entity in entities { _ = hash(entity) }
        return hashes
    }

    /// The checksum of all entities' version hashes, in base64: `"u970QgYhRHEJGIt0zQr1UhuZL2ZJ1KxBS+B7rkAx0ik="`.
    ///
    /// Stages of a migration name versions by it. It is computed from the hashes as Core Data does.
    public var versionChecksum: String { Self.checksum(of: entityVersionHashesByName) }

    /// Returns the checksum of version hashes: SHA-256 over the hashes, in the order of the entities' names by code unit.
    ///
    /// It is the value under `NSStoreModelVersionChecksumKey`, so stores that lack this key get it from their hashes.
    package static func checksum(of hashes: [String: Data]) -> String {
        let ordered = hashes.sorted { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) }
        return Data(SHA256.hash(ordered.flatMap(\.value))).base64EncodedString()
    }

    /// Whether a store with some metadata contains the entities of this model, or of one of its configurations, in the same
    /// version.
    ///
    ///     let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
    ///     if !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) { … }
    ///
    /// The metadata of a store that Apple's framework wrote has hashes that only Apple can compute. Such a store is never found
    /// compatible here; opening it compares its tables instead.
    ///
    /// - Parameter configuration: The name of a configuration; `nil` for the whole model.
    /// - Returns: Whether it does; `false` if the model has no such configuration.
    public func isConfiguration(
        withName configuration: String?, compatibleWithStoreMetadata metadata: [String: any Sendable]
    ) -> Bool {
        guard metadata[VersionKeys.layout] != nil, let stored = metadata[VersionKeys.hashes] as? [String: Data] else {
            return false
        }
        var own = entityVersionHashesByName
        if let configuration {
            guard let names = family(ofConfiguration: configuration) else { return false }
            own = own.filter { names.contains($0.key) }
        }
        return own == stored
    }

    /// The entities of a configuration and all that inherit from them, or `nil` if there is no such configuration.
    package func family(ofConfiguration name: String) -> Set<String>? {
        guard let members = entities(forConfiguration: name) else { return nil }
        let names = Set(members.map(\.name))
        return Set(entities.filter { lineage(of: $0).contains { names.contains($0.name) } }.map(\.name))
    }
}

/// The keys under which a store's metadata has its version.
package enum VersionKeys {
    package static let hashes = "NSStoreModelVersionHashes"
    package static let hashesVersion = "NSStoreModelVersionHashesVersion"
    package static let identifiers = "NSStoreModelVersionIdentifiers"
    package static let checksum = "NSStoreModelVersionChecksumKey"
    /// The version of the hashes' format that all known stores of Core Data have.
    package static let currentHashesVersion = 3
    /// The digest of the layout, which only stores of Faultline have.
    package static let layout = "FaultlineModelHash"
    /// Whether Core Data created a store that Faultline has migrated.
    package static let isForeign = "FaultlineIsForeign"
    /// The checksum of the version whose stage of a migration has work left to do.
    package static let pendingStage = "FaultlinePendingStage"
    /// The checksums of the versions that the store had before, which only stores that Faultline migrated have.
    package static let earlier = "FaultlineEarlierVersions"
    /// The digest of the model's indexes that the store has, which only stores of Faultline have.
    package static let indexes = "FaultlineIndexes"
    /// The tables and columns that migrations left behind.
    package static let deferred = "FaultlineDeferredDrops"
    /// Whether Faultline has created the tables of the store's persistent history.
    package static let history = "FaultlineHasHistory"
    /// Core Data's digest of the hashes, which Faultline does not write.
    package static let hashesDigest = "NSStoreModelVersionHashesDigest"
}
