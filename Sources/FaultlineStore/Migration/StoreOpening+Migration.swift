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
                try migrate(description, model, recorder, log)
            else { throw error }
            return try StoreOpening(description, model: model, recorder: recorder, log: log)
        }
        guard let manager = description.stagedMigrationManager, !description.isReadOnly,
            opening.metadata.values[VersionKeys.pendingStage] != nil
        else {
            IndexUpdate(opening, description, model, recorder, log).runIfNeeded()
            return opening
        }
        opening.session.connection.close()
        // The last migration was interrupted after a step.
        _ = try StagedMigration(manager, description, model, recorder, log).run()
        return try StoreOpening(description, model: model, recorder: recorder, log: log)
    }
}

extension StoreOpening {
    /// Migrates a store, also if another program does it at the same time.
    ///
    /// - Returns: Whether there was a way to migrate the store; if not, it was left alone.
    private static func migrate(
        _ description: PersistentStoreDescription, _ model: ManagedObjectModel, _ recorder: Recorder, _ log: SQLDebugLog
    ) throws(StoreError) -> Bool {
        do throws(StoreError) {
            return try AutomaticMigration(description, model, recorder, log).run() || description.fits(model)
        } catch {
            guard error.code == .incompatibleModel, description.fits(model) else { throw error }
            return true
        }
    }
}

extension PersistentStoreDescription {
    /// Whether a store in a file has the version of a model by now, because another program has migrated it.
    fileprivate func fits(_ model: ManagedObjectModel) -> Bool {
        guard type == .sqlite, !isInMemory else { return false }
        do throws(StoreError) {
            return try PersistentStoreCoordinator.mismatch(
                of: model, configuration: configuration, withStoreAt: url) == nil
        } catch {
            return false
        }
    }
}

/// Migrates a store when it is opened: by mapping models that fit and, where there is none, by inference.
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
        // A store in memory is always new.
        guard description.isInFile, let (old, earlier) = try version(among: sources) else { return false }
        if old.versionChecksum == model.versionChecksum, description.fits(model) { return true }
        try checkDirection(old, earlier)
        guard description.type == .sqlite, description.configuration == nil else {
            guard description.mappingModels.isEmpty else {
                throw StoreError(
                    .invalidRequest,
                    "Migrating '\(description.path)' with a mapping model is refused, because only stores of the type SQLite that have all entities can be; leave mappingModels empty."
                )
            }
            guard description.shouldInferMappingModelAutomatically else { return false }
            return try infer(sources)
        }
        let path = try MigrationPath(
            from: old, to: model, through: description.sourceModels, mappings: description.mappingModels,
            infers: description.shouldInferMappingModelAutomatically, path: description.path)
        if let path {
            return try ProgressiveMigration(
                description: description, recorder: recorder, log: log, backup: backup, observer: observer
            ).run(path)
        }
        guard description.shouldInferMappingModelAutomatically else { return false }
        if !description.mappingModels.isEmpty, (try? MigrationRules(inferredFrom: old, to: model)) != nil {
            throw StoreError(
                .missingMappingModel,
                "Migrating '\(description.path)' is refused because an inferred step would pass over one of its mappingModels, and no other steps lead to this version; make a mapping model from the store's version."
            )
        }
        // Says why nothing can be inferred.
        return try infer(sources)
    }

    /// The store's version, and the checksums of those that it had before.
    private func version(
        among sources: [ManagedObjectModel]
    ) throws(StoreError) -> (ManagedObjectModel, earlier: [String])? {
        // The migration itself searches again and records it.
        try SourceSearch.reading(description, .off(), log) { (search, setup) throws(StoreError) in
            guard let version = try search.version(among: sources) else { return nil }
            return (version.model, try setup.readMetadata().1.earlierVersions)
        }
    }

    /// Checks that the store does not go back to a version that is known to be older, unless a mapping model leads there.
    private func checkDirection(_ old: ManagedObjectModel, _ earlier: [String]) throws(StoreError) {
        let (from, to) = (old.versionChecksum, model.versionChecksum)
        let known = description.sourceModels.map(\.versionChecksum)
        let isListedBefore = known.firstIndex(of: to).flatMap { position in
            known.firstIndex(of: from).map { $0 > position }
        }
        guard !description.allowsEarlierVersions, earlier.contains(to) || isListedBefore == true,
            !description.mappingModels.contains(where: { $0.misfit(old, model) == nil })
        else { return }
        throw StoreError(
            .backwardMigration,
            "Opening '\(description.path)' is refused because it has a newer version of the model than the program, and values that the older one lacks would be lost; open it with the newer version, or set allowsEarlierVersions."
        )
    }

    private func infer(_ sources: [ManagedObjectModel]) throws(StoreError) -> Bool {
        try StoreMigration.run(
            description, to: model, sources: sources, recorder: recorder, log: log, backup: backup, observer: observer)
    }
}

extension MappingModel {
    /// Why a mapping's entities are not those of two models, as a part of a sentence; `nil` if they are.
    func misfit(_ old: ManagedObjectModel, _ new: ManagedObjectModel) -> String? {
        misfit(source: old.entityVersionHashesByName) ?? misfit(destination: new.entityVersionHashesByName)
    }

    /// Why a mapping's older entities are not those of a model with some version hashes; `nil` if they are.
    func misfit(source hashes: [String: Data]) -> String? {
        entityMappings.lazy.compactMap {
            misfit($0, $0.sourceEntityName, $0.sourceEntityVersionHash, hashes, "older")
        }.first
    }

    /// Why a mapping's newer entities are not those of a model with some version hashes; `nil` if they are.
    func misfit(destination hashes: [String: Data]) -> String? {
        entityMappings.lazy.compactMap {
            misfit($0, $0.destinationEntityName, $0.destinationEntityVersionHash, hashes, "newer")
        }.first
    }

    private func misfit(
        _ mapping: EntityMapping, _ name: String?, _ hash: Data?, _ known: [String: Data], _ age: String
    ) -> String? {
        guard let name else { return nil }
        guard let found = known[name] else {
            return "'\(mapping.name)' names the entity '\(name)', which the \(age) model does not have"
        }
        return hash == nil || hash == found
            ? nil : "'\(mapping.name)' was made for another version of the \(age) entity '\(name)'"
    }
}
