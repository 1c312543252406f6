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
        let opening: StoreOpening
        do throws(StoreError) {
            opening = try StoreOpening(description, model: model, recorder: recorder, log: log)
        } catch {
            guard error.code == .incompatibleModel, description.shouldMigrateStoreAutomatically,
                !description.isReadOnly,
                try AutomaticMigration(description, model, recorder, log).run()
            else { throw error }
            return try StoreOpening(description, model: model, recorder: recorder, log: log)
        }
        guard let manager = description.stagedMigrationManager, !description.isReadOnly,
            opening.metadata.values[VersionKeys.pendingStage] != nil
        else { return opening }
        opening.session.connection.close()
        // The last migration was interrupted after a step.
        _ = try StagedMigration(manager, description, model, recorder, log).run()
        return try StoreOpening(description, model: model, recorder: recorder, log: log)
    }
}

/// Migrates a store when it is opened: with a mapping model that fits or, failing that, with an inferred one.
struct AutomaticMigration {
    private let description: PersistentStoreDescription
    private let model: ManagedObjectModel
    private let recorder: Recorder
    private let log: SQLDebugLog
    private let backup: URL?
    private let observer: ((MigrationProgress) -> Void)?

    /// - Parameters:
    ///   - backup: Where to put a copy of the older store; `nil` for none.
    ///   - observer: Called after each statement of a migration in place.
    init(
        _ description: PersistentStoreDescription, _ model: ManagedObjectModel, _ recorder: Recorder,
        _ log: SQLDebugLog, backup: URL? = nil, observer: ((MigrationProgress) -> Void)? = nil
    ) {
        (self.backup, self.observer) = (backup, observer)
        (self.description, self.model, self.recorder, self.log) = (description, model, recorder, log)
    }

    /// - Returns: Whether there was a way to migrate the store; if not, it was left alone.
    func run() throws(StoreError) -> Bool {
        if let manager = description.stagedMigrationManager {
            guard description.mappingModels.isEmpty, description.shouldInferMappingModelAutomatically else {
                throw StoreError(
                    .invalidRequest,
                    "Migrating '\(description.path)' in stages is refused, because stages are inferred; set shouldInferMappingModelAutomatically, and leave mappingModels empty."
                )
            }
            return try StagedMigration(manager, description, model, recorder, log).run()
        }
        let sources = description.sourceModels + model.siblings
        if !description.mappingModels.isEmpty, let old = try version(among: sources) {
            let fitting = description.mappingModels.filter { $0.fits(old, model) }
            guard fitting.count <= 1 else {
                throw StoreError(
                    .missingMappingModel,
                    "Migrating '\(description.path)' is refused because \(fitting.count) of its mappingModels fit the two versions; leave one of them out."
                )
            }
            if let mapping = fitting.first {
                guard (try? MappedRules.rules(mapping, from: old, to: model)) != nil else {
                    try replace(old, mapping)
                    return true
                }
                return try change(sources, mapping)
            }
        }
        guard description.shouldInferMappingModelAutomatically else { return false }
        return try change(sources, nil)
    }

    private func change(_ sources: [ManagedObjectModel], _ mapping: MappingModel?) throws(StoreError) -> Bool {
        try StoreMigration.run(
            description, to: model, sources: sources, mapping: mapping, recorder: recorder, log: log, backup: backup,
            observer: observer)
    }

    private func version(among sources: [ManagedObjectModel]) throws(StoreError) -> ManagedObjectModel? {
        guard description.type == .sqlite, !description.isInMemory, description.configuration == nil else {
            throw StoreError(
                .invalidRequest,
                "Migrating '\(description.path)' with a mapping model is refused, because only stores of the type SQLite that have all entities can be; leave mappingModels empty."
            )
        }
        return try SourceSearch.reading(description, recorder, log) { (search, _) throws(StoreError) in
            try search.version(among: sources)?.model
        }
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
        !entityMappings.isEmpty && misfit(old, new) == nil
    }

    /// Why a mapping's entities are not those of two models, as a part of a sentence; `nil` if they are.
    func misfit(_ old: ManagedObjectModel, _ new: ManagedObjectModel) -> String? {
        let (older, newer) = (old.entityVersionHashesByName, new.entityVersionHashesByName)
        func misfit(_ mapping: EntityMapping, _ name: String?, _ hash: Data?, _ known: [String: Data], _ age: String)
            -> String?
        {
            guard let name else { return nil }
            guard let found = known[name] else {
                return "'\(mapping.name)' names the entity '\(name)', which the \(age) model does not have"
            }
            return hash == nil || hash == found
                ? nil : "'\(mapping.name)' was made for another version of the \(age) entity '\(name)'"
        }
        return entityMappings.lazy.compactMap {
            misfit($0, $0.sourceEntityName, $0.sourceEntityVersionHash, older, "older")
                ?? misfit($0, $0.destinationEntityName, $0.destinationEntityVersionHash, newer, "newer")
        }.first
    }
}
