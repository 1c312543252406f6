import CSQLite
import FaultlineModel
import FaultlineStore

extension StoreSetup {
    /// The version of a store that is locked now; `nil` if it is no longer the file at its path, or has another version than before.
    func unmigratedVersion(
        _ description: PersistentStoreDescription, _ model: ManagedObjectModel
    ) throws(StoreError) -> StoreVersion? {
        var hasMoved: Int32 = 0
        let handle = session.connection.handle
        if sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK, hasMoved != 0 {
            return nil
        }
        let found = try SourceSearch(self, description).version(among: [model])
        return found?.model.versionChecksum == model.versionChecksum ? found : nil
    }
}

/// Finds the model version that a store was written with.
///
/// A store has a copy of it: this library's or Core Data's. If it cannot be read, the tables decide, because only Apple can
/// compute the version hashes of a store of Core Data.
struct SourceSearch {
    private let setup: StoreSetup
    private let description: PersistentStoreDescription
    private let metadata: StoreMetadata

    init(_ setup: StoreSetup, _ description: PersistentStoreDescription) throws(StoreError) {
        (self.setup, self.description) = (setup, description)
        metadata = try setup.readMetadata().1
    }

    /// Opens a store for a search; it need not have been closed.
    ///
    /// - Parameter session: A connection to use instead; `nil` to open one.
    static func setup(
        _ description: PersistentStoreDescription, _ session: SQLSession?
    ) throws(StoreError) -> StoreSetup {
        guard let session else { return try StoreOpening.setup(description.type, forReading: description.url) }
        return StoreSetup(session, path: description.path, doing: StoreMigration.doing)
    }

    /// Returns the store's version, or `nil` if it is not found.
    ///
    /// - Parameter candidates: The program's versions, for a store that Core Data wrote or that has no copy of its model. A sequence
    ///   that loads them should load one at a time, because the search ends at the first match.
    func version(among candidates: some Sequence<ManagedObjectModel>) throws(StoreError) -> StoreVersion? {
        if let kept = try setup.keptModel(configuration: description.configuration) {
            if let version = try kept.isCoreDataCopy ? completed(kept, candidates) : match(kept) { return version }
        }
        // A version with a relationship for which the file has no column comes last.
        var doubtful: StoreVersion?
        for model in candidates {
            guard let version = try match(model) else { continue }
            if version.schema.unlocatedProperty == nil { return version }
            doubtful = doubtful ?? version
        }
        return doubtful
    }

    /// Completes Core Data's copy of a version: returns the program's version that fits, or else the copy with the flags that
    /// the values show.
    private func completed(
        _ kept: ManagedObjectModel, _ candidates: some Sequence<ManagedObjectModel>
    ) throws(StoreError) -> StoreVersion? {
        guard let copy = try match(kept) else { return nil }
        guard ExternalFlags.matter(to: kept) else { return copy }
        let flags = try ExternalFlags(setup, copy)
        var allowed: ManagedObjectModel?
        for model in candidates where model.isSameVersion(asCached: kept) {
            if flags.fit(model) { return try match(model) }
            if allowed == nil, flags.allow(model) { allowed = model }
        }
        if let allowed { return try match(allowed) }
        guard let model = flags.completing(kept), var version = try match(model) else { return nil }
        version.guessedExternal = flags.external
        return version
    }

    /// Returns the store's version if it is that of a model, or `nil`.
    func match(_ model: ManagedObjectModel) throws(StoreError) -> StoreVersion? {
        var configuration: StoreConfiguration?
        if let name = description.configuration {
            guard let found = try? StoreConfiguration(name, of: model, path: description.path) else { return nil }
            configuration = found
        }
        let match = StoreMatch(setup, model, configuration, path: description.path, metadata: metadata.values)
        guard try match.fits() else { return nil }
        return StoreVersion(model: model, schema: try match.schema(), configuration: configuration)
    }
}

extension ManagedObjectModel {
    /// The known versions, and then those beside the model, which are loaded only when a search reaches them.
    func versions(after known: [ManagedObjectModel]) -> some Sequence<ManagedObjectModel> {
        [AnySequence(known), AnySequence(siblings)].joined()
    }
}
