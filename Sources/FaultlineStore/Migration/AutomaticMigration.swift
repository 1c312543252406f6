import FaultlineModel
import FaultlineRecorder
import Foundation

/// Migrates a store when it is opened: by mapping models that fit and, where there is none, by inference.
struct AutomaticMigration {
    private let description: PersistentStoreDescription
    private let model: ManagedObjectModel
    private let recorder: Recorder
    private let log: SQLDebugLog
    private let backup: URL?

    /// - Parameter backup: Where to put a copy of the older store; `nil` for none.
    init(
        _ description: PersistentStoreDescription, _ model: ManagedObjectModel, _ recorder: Recorder,
        _ log: SQLDebugLog, backup: URL? = nil
    ) {
        self.backup = backup
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
        let sources = model.versions(after: description.sourceModels)
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
            return try infer(old)
        }
        let path = try MigrationPath(
            from: old, to: model, through: description.sourceModels, mappings: description.mappingModels,
            infers: description.shouldInferMappingModelAutomatically, path: description.path)
        if let path {
            return try ProgressiveMigration(
                description: description, recorder: recorder, log: log, backup: backup
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
        return try infer(old)
    }

    /// The store's version, and the checksums of those that it had before.
    private func version(
        among sources: some Sequence<ManagedObjectModel>
    ) throws(StoreError) -> (ManagedObjectModel, earlier: [String])? {
        // The migration itself searches again and records it.
        try SourceSearch.reading(description, .off(), log) { (search, setup) throws(StoreError) in
            guard let version = try search.version(among: sources) else { return nil }
            try version.checkMigration(to: model, description.path)
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

    private func infer(_ old: ManagedObjectModel) throws(StoreError) -> Bool {
        try StoreMigration.run(
            description, to: model, sources: [old], recorder: recorder, log: log, backup: backup)
    }
}
