import FaultlineModel
import FaultlineRecorder
import Foundation

extension StoreOpening {
    /// Opens a store, after migrating it if it is of an older version and its description allows that.
    ///
    /// - Throws: ``StoreError`` if the store cannot be opened or migrated.
    static func migratingIfNeeded(
        _ description: PersistentStoreDescription, model: ManagedObjectModel, recorder: Recorder, log: SQLDebugLog
    ) throws(StoreError) -> StoreOpening {
        do throws(StoreError) {
            let opening = try StoreOpening(description, model: model, recorder: recorder, log: log)
            guard let manager = description.stagedMigrationManager, !description.isReadOnly,
                opening.metadata.values[VersionKeys.pendingStage] != nil
            else { return opening }
            opening.session.connection.close()
            // The last migration was interrupted after a step.
            _ = try StagedMigration(manager, description, model, recorder, log).run()
            return try StoreOpening(description, model: model, recorder: recorder, log: log)
        } catch {
            guard error.code == .incompatibleModel, description.shouldMigrateStoreAutomatically,
                !description.isReadOnly,
                try AutomaticMigration(description, model, recorder, log).run()
            else { throw error }
            return try StoreOpening(description, model: model, recorder: recorder, log: log)
        }
    }
}

/// Migrates a store when it is opened: with a mapping model that fits or, failing that, with an inferred one.
struct AutomaticMigration {
    private let description: PersistentStoreDescription
    private let model: ManagedObjectModel
    private let recorder: Recorder
    private let log: SQLDebugLog
    private let backup: URL?

    /// - Parameter backup: Where to put a copy of a store that is replaced; `nil` for none.
    init(
        _ description: PersistentStoreDescription, _ model: ManagedObjectModel, _ recorder: Recorder,
        _ log: SQLDebugLog, backup: URL? = nil
    ) {
        self.backup = backup
        (self.description, self.model, self.recorder, self.log) = (description, model, recorder, log)
    }

    /// - Returns: Whether there was a way to migrate the store; if not, it was left alone.
    func run() throws(StoreError) -> Bool {
        let sources = description.sourceModels + model.siblings
        if let manager = description.stagedMigrationManager {
            guard description.mappingModels.isEmpty, description.shouldInferMappingModelAutomatically else {
                throw StoreError(
                    .invalidRequest,
                    "Migrating '\(description.path)' in stages is refused, because stages are inferred; set shouldInferMappingModelAutomatically, and leave mappingModels empty."
                )
            }
            return try StagedMigration(manager, description, model, recorder, log).run()
        }
        if !description.mappingModels.isEmpty, let old = try version(among: sources) {
            let fitting = description.mappingModels.filter { $0.fits(old, model) }
            guard fitting.count <= 1 else {
                throw StoreError(
                    .missingMappingModel,
                    "Migrating '\(description.path)' is refused because \(fitting.count) of its mappingModels fit the two versions; leave one of them out."
                )
            }
            if let mapping = fitting.first {
                try replace(old, mapping)
                return true
            }
        }
        guard description.shouldInferMappingModelAutomatically else { return false }
        return try StoreMigration.run(description, to: model, sources: sources, recorder: recorder, log: log)
    }

    private func version(among sources: [ManagedObjectModel]) throws(StoreError) -> ManagedObjectModel? {
        guard description.type == .sqlite, !description.isInMemory, description.configuration == nil else {
            throw StoreError(
                .invalidRequest,
                "Migrating '\(description.path)' with a mapping model is refused, because only stores of the type SQLite that have all entities can be; leave mappingModels empty."
            )
        }
        let session = try Self.reading(description, recorder, log)
        defer { session.connection.close() }
        let setup = StoreSetup(session, path: description.path, doing: "Migrating the store")
        return try SourceSearch(setup, description).version(among: sources)?.model
    }

    private static func reading(
        _ description: PersistentStoreDescription, _ recorder: Recorder, _ log: SQLDebugLog
    ) throws(StoreError) -> SQLSession {
        var description = description
        description.isReadOnly = true
        return try StoreOpening.connect(description, recorder: recorder, log: log)
    }

    private func replace(_ old: ManagedObjectModel, _ mapping: MappingModel) throws(StoreError) {
        let manager = MigrationManager(sourceModel: old, destinationModel: model, recorder: recorder, sqlDebug: log)
        manager.policies = description.migrationPolicies
        do {
            try StoreReplacement(description, manager, mapping).run(backup: backup)
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(
                .entityMigrationPolicy, "Migrating '\(description.path)' was undone because of an error: \(error)",
                cause: error)
        }
    }
}

extension MappingModel {
    /// Whether all entities that the mapping model names exist, in the version that it was made for.
    ///
    /// At least one entity must be mapped from the older to the newer model.
    func fits(_ old: ManagedObjectModel, _ new: ManagedObjectModel) -> Bool {
        let hashes = (old.entityVersionHashesByName, new.entityVersionHashesByName)
        func fits(_ name: String?, _ hash: Data?, _ known: [String: Data]) -> Bool {
            guard let name else { return true }
            guard let found = known[name] else { return false }
            return hash == nil || hash == found
        }
        return !entityMappings.isEmpty
            && entityMappings.allSatisfy {
                fits($0.sourceEntityName, $0.sourceEntityVersionHash, hashes.0)
                    && fits($0.destinationEntityName, $0.destinationEntityVersionHash, hashes.1)
            }
    }
}
