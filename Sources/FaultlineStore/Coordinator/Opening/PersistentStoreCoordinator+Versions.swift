public import FaultlineModel
public import Foundation

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
