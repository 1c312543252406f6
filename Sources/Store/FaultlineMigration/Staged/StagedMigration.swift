import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation

/// Runs the stages of a plan from the version of a store to the newest one.
struct StagedMigration {
    private let manager: StagedMigrationManager
    private let description: PersistentStoreDescription
    private let model: ManagedObjectModel
    private let recorder: Recorder
    private let log: SQLDebugLog

    /// - Parameter description: Describes the store, with the manager.
    init(
        _ manager: StagedMigrationManager, _ description: PersistentStoreDescription, _ model: ManagedObjectModel,
        _ recorder: Recorder, _ log: SQLDebugLog
    ) {
        self.manager = manager
        var plain = description
        // Handlers open the store in the version that it has.
        plain.stagedMigrationManager = nil
        plain.shouldMigrateStoreAutomatically = false
        self.description = plain
        (self.model, self.recorder, self.log) = (model, recorder, log)
    }

    /// - Parameter session: A connection to the store, which is closed; `nil` to open one.
    /// - Returns: Whether the store's version was found; if not, nothing was changed.
    /// - Throws: `StoreError` if the plan cannot be run, if a step fails, or if a handler throws; the store then has the version of
    ///   the last step that was completed.
    func run(_ session: SQLSession?) throws(StoreError) -> Bool {
        let listed = description.sourceModels + [model]
        let plan = try StagePlan(manager.stages, known: model.versions(after: listed), path: description.path)
        guard let target = plan.position(of: model) else {
            throw StoreError(
                .unknownModelVersion,
                "Migrating '\(description.path)' is refused because the plan does not have the version that the store is opened with; add it as the last one."
            )
        }
        let (found, pending) = try state(model.versions(after: plan.versions.map(\.model) + listed), session)
        guard let found else { return false }
        guard let position = plan.position(of: found) else {
            throw StoreError(
                .unknownModelVersion,
                "Migrating '\(description.path)' is refused because the plan does not have the store's version, whose checksum is \(found.versionChecksum); add it."
            )
        }
        guard position <= target else {
            throw StoreError(
                .backwardMigration,
                "Migrating '\(description.path)' is refused because the store was written by a newer version than it is opened with, and the plan leads to newer versions only; open it with the newer version."
            )
        }
        try trace.whole(description.path) { () throws(StoreError) in
            // The step to the store's version was done, but not the work after it.
            if let pending, pending == plan.versions[position].checksum, let stage = plan.versions[position].stage {
                try finish(stage, plan.versions[position])
            }
            let steps = zip(
                plan.versions[position..<max(target, position)], plan.versions[position...].dropFirst())
            for (index, (old, new)) in steps.enumerated() {
                // The store's own copy of its version can have other renaming identifiers than the plan's model.
                let stored = index == 0 ? found : old.model
                try step(from: old, stored, to: new, (index + 1, target - position))
            }
        }
        return true
    }

    private var trace: MigrationTrace { MigrationTrace(recorder: recorder, log: log, way: .staged) }

    private func step(
        from old: StagePlan.Version, _ stored: ManagedObjectModel, to new: StagePlan.Version,
        _ number: (number: Int, count: Int)
    ) throws(StoreError) {
        if let stage = new.stage, let handler = stage.willMigrateHandler {
            try call(handler, stage, old.model, "before")
        }
        let isPending = new.stage?.didMigrateHandler != nil
        try StoreMigration.run(
            description, MigrationRoute.Step(from: stored, to: new.model), recorder: recorder, log: log,
            stepOf: description.path, number: number, pendingStage: isPending ? new.checksum : nil)
        if let stage = new.stage { try finish(stage, new) }
    }

    /// Does the work after a step, and notes that it is done.
    private func finish(_ stage: CustomMigrationStage, _ version: StagePlan.Version) throws(StoreError) {
        guard let handler = stage.didMigrateHandler else { return }
        try call(handler, stage, version.model, "after")
        let session = try StoreOpening.connect(description, recorder: recorder, log: log)
        defer { session.connection.close() }
        let setup = StoreSetup(session, path: description.path, doing: StoreMigration.doing)
        try setup.inTransaction("BEGIN IMMEDIATE", isLogged: true) { () throws(StoreError) in
            try setup.changeMetadata { $0[VersionKeys.pendingStage] = nil }
        }
    }

    private func call(
        _ handler: CustomMigrationStage.Handler, _ stage: CustomMigrationStage, _ model: ManagedObjectModel,
        _ place: String
    ) throws(StoreError) {
        let container = try PersistentContainer(
            name: stage.label ?? "Migration", managedObjectModel: model, storeDescription: description,
            recorder: recorder, sqlDebug: log)
        do {
            try trace.part(.handler, stage.label ?? "") { _ in
                try manager.with(container) { try handler(manager, stage) }
            }
        } catch {
            let name = stage.label.map { " '\($0)'" } ?? ""
            throw StoreError(
                .migration,
                "Migrating '\(description.path)' stopped because the handler \(place) the stage\(name) failed: \(error)",
                cause: error)
        }
    }

    /// The store's version, and the stage whose work is not done.
    private func state(
        _ models: some Sequence<ManagedObjectModel>, _ session: SQLSession?
    ) throws(StoreError) -> (ManagedObjectModel?, pending: String?) {
        guard description.type == .sqlite, !description.isInMemory else {
            throw StoreError(
                .invalidRequest,
                "Migrating '\(description.path)' in stages is refused, because only stores of the type SQLite support that; leave stagedMigrationManager empty."
            )
        }
        let setup = try SourceSearch.setup(description, session)
        defer { setup.session.connection.close() }
        // In one transaction, because another program may be migrating the store.
        return try setup.inTransaction { () throws(StoreError) in
            (
                try SourceSearch(setup, description).version(among: models)?.model,
                try setup.readMetadata().1.values[VersionKeys.pendingStage] as? String
            )
        }
    }
}

/// The versions of a staged migration in order, with the stages between them.
struct StagePlan {
    /// A version, and the custom stage that leads to it from the one before.
    struct Version {
        let model: ManagedObjectModel
        let checksum: String
        var stage: CustomMigrationStage?
    }

    private(set) var versions: [Version] = []

    /// Checks the stages.
    ///
    /// - Parameter known: The models that light-weight stages can name by their checksums.
    /// - Throws: `StoreError` if a version occurs twice or is not found.
    init(
        _ stages: [any MigrationStage], known: some Sequence<ManagedObjectModel>, path: String
    ) throws(StoreError) {
        var models: [String: ManagedObjectModel] = [:]
        let custom = stages.compactMap { $0 as? CustomMigrationStage }
        for reference in custom.flatMap({ [$0.currentModel, $0.nextModel] }) {
            guard reference.resolvedModel.versionChecksum == reference.versionChecksum else {
                throw StoreError(
                    .unknownModelVersion,
                    "Migrating '\(path)' is refused because a model of the plan has the checksum \(reference.resolvedModel.versionChecksum) instead of \(reference.versionChecksum); it was edited after it was released, so restore it."
                )
            }
            models[reference.versionChecksum] = reference.resolvedModel
        }
        var missing = Set(stages.compactMap { $0 as? LightweightMigrationStage }.flatMap(\.versionChecksums))
        missing.subtract(models.keys)
        // Models that are loaded lazily are loaded no further than needed.
        var rest = known.makeIterator()
        while !missing.isEmpty, let model = rest.next() {
            let checksum = model.versionChecksum
            if missing.remove(checksum) != nil { models[checksum] = model }
        }
        var seen: Set<String> = []
        for stage in stages {
            switch stage {
            case let stage as LightweightMigrationStage:
                for checksum in stage.versionChecksums {
                    guard let model = models[checksum] else {
                        throw StoreError(
                            .unknownModelVersion,
                            "Migrating '\(path)' is refused because the plan names a version with the checksum \(checksum), which no known model has; add the model to sourceModels."
                        )
                    }
                    guard seen.insert(checksum).inserted else { throw Self.duplicate(checksum, path) }
                    versions.append(Version(model: model, checksum: checksum))
                }
            case let stage as CustomMigrationStage:
                let (old, new) = (stage.currentModel, stage.nextModel)
                if versions.last?.checksum != old.versionChecksum {
                    guard seen.insert(old.versionChecksum).inserted else {
                        throw Self.duplicate(old.versionChecksum, path)
                    }
                    versions.append(Version(model: old.resolvedModel, checksum: old.versionChecksum))
                }
                guard seen.insert(new.versionChecksum).inserted else { throw Self.duplicate(new.versionChecksum, path) }
                versions.append(Version(model: new.resolvedModel, checksum: new.versionChecksum, stage: stage))
            default:
                throw StoreError(
                    .invalidRequest,
                    "Migrating '\(path)' is refused because the plan has a stage of the type \(type(of: stage)); use a LightweightMigrationStage or a CustomMigrationStage."
                )
            }
        }
    }

    private static func duplicate(_ checksum: String, _ path: String) -> StoreError {
        StoreError(
            .unknownModelVersion,
            "Migrating '\(path)' is refused because the version with the checksum \(checksum) occurs in two stages of the plan; name each version once."
        )
    }

    /// The position of a model, or `nil` if the plan does not have it.
    func position(of model: ManagedObjectModel) -> Int? {
        let checksum = model.versionChecksum
        return versions.firstIndex { $0.checksum == checksum }
    }
}
