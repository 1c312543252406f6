package import FaultlineModel
package import FaultlineRecorder
package import FaultlineStore
package import Foundation

extension MigrationRoute {
    /// Migrates the store.
    ///
    /// A single step changes the store in place, if SQL can do it. Several steps change a copy, which then replaces the store's
    /// contents, so the store never has a version in between.
    ///
    /// - Parameters:
    ///   - backup: The file for a copy of the older store; `nil` for none.
    ///   - observer: The observer to call instead of the description's.
    /// - Throws: `StoreError` if the store cannot be migrated, or if it no longer has the version; it is then as it was.
    package func run(
        backup: URL? = nil, observer: (@Sendable (MigrationProgress) throws -> Void)? = nil
    ) throws(StoreError) {
        if writer == nil { setup.session.connection.close() }
        guard let first = steps.first else { return }
        var description = description
        if let observer { description.migrationObserver = observer }
        do {
            if steps.count == 1 { return try run(first, (1, 1), description, writer, backup: backup, stepOf: nil) }
            let replacement = StoreReplacement(
                description: description, sourceModel: first.old, recorder: recorder, log: log, writer: writer)
            let trace = MigrationTrace(recorder: recorder, log: log, way: .staged)
            try trace.whole(description.path) {
                try replacement.run(backup: backup) { copy in
                    var copied = description
                    copied.url = copy
                    do {
                        for (index, step) in steps.enumerated() {
                            try run(
                                step, (index + 1, steps.count), copied, nil, backup: nil, stepOf: description.path)
                        }
                    } catch let error as StoreError {
                        let message = error.message.replacing(copy.path, with: description.path)
                        throw StoreError(error.code, message, cause: error.cause)
                    }
                }
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(
                .entityMigrationPolicy, "Migrating '\(description.path)' was undone because of an error: \(error)",
                cause: error)
        }
    }

    private func run(
        _ step: Step, _ number: (number: Int, count: Int), _ description: PersistentStoreDescription,
        _ writer: SQLSession?, backup: URL?, stepOf migrated: String?
    ) throws {
        guard let mapping = step.mapping, step.reasonForLoading != nil else {
            return try StoreMigration.run(
                description, step, recorder: recorder, log: log, writer: writer, backup: backup, stepOf: migrated,
                number: number)
        }
        let manager = MigrationManager(
            sourceModel: step.old, destinationModel: step.new, recorder: recorder, sqlDebug: log)
        manager.policies = description.migrationPolicies
        manager.migrated = migrated
        manager.reporter = MigrationReporter(description, step: number)
        let replacement = StoreReplacement(
            description: description, sourceModel: step.old, recorder: recorder, log: log, writer: writer)
        try replacement.run(manager, mapping, backup: backup)
    }
}

extension PersistentStoreCoordinator {
    /// Migrates a store that is not open, in place or by replacing it, according to its description.
    ///
    /// - Parameter backup: The file for a copy of the older store; `nil` for none.
    /// - Returns: Whether the store's version was found.
    package static func migrateStore(
        _ description: PersistentStoreDescription, to model: ManagedObjectModel, recorder: Recorder = .shared,
        backup: URL? = nil
    ) throws -> Bool {
        try StoreOpening.migrate(description, to: model, nil, recorder, .shared, backup: backup)
    }
}

/// The object through which the store, a layer below, opens stores.
private let migrations = StoreMigrations { (description, model, recorder, log) throws(StoreError) in
    try StoreOpening.migratingIfNeeded(description, model: model, recorder: recorder, log: log)
}

/// The definition of the function that the store declares as weak.
@_cdecl("cstore_migrations")
func linkedMigrations() -> UnsafeRawPointer { UnsafeRawPointer(Unmanaged.passUnretained(migrations).toOpaque()) }

extension StoreOpening {
    /// Opens a store, after migrating it if it is of an older version and its description allows that.
    ///
    /// - Throws: `StoreError` if the store cannot be opened or migrated.
    static func migratingIfNeeded(
        _ description: PersistentStoreDescription, model: ManagedObjectModel, recorder: Recorder, log: SQLDebugLog
    ) throws(StoreError) -> StoreOpening {
        let opening: StoreOpening
        var session: SQLSession?
        do throws(StoreError) {
            opening = try StoreOpening(description, model: model, recorder: recorder, log: log) { session = $0 }
        } catch {
            guard error.code == .incompatibleModel, description.shouldMigrateStoreAutomatically,
                !description.isReadOnly
            else { throw error }
            let isMigrated: Bool
            do throws(StoreError) {
                isMigrated = try migrate(description, to: model, session, recorder, log)
            } catch let failure {
                // Another program may have migrated the store in the meantime.
                guard failure.code == .incompatibleModel, description.type == .sqlite,
                    case .success(nil) = Result(catching: {
                        try PersistentStoreCoordinator.mismatch(
                            of: model, configuration: description.configuration, withStoreAt: description.url)
                    })
                else { throw failure }
                isMigrated = true
            }
            guard isMigrated else { throw error }
            return try StoreOpening(description, model: model, recorder: recorder, log: log)
        }
        guard let manager = description.stagedMigrationManager, !description.isReadOnly,
            opening.metadata.values[VersionKeys.pendingStage] != nil
        else {
            IndexUpdate(opening, description, model, recorder, log).runIfNeeded()
            return opening
        }
        // The last migration was interrupted after a step.
        _ = try StagedMigration(manager, description, model, recorder, log).run(opening.session)
        return try StoreOpening(description, model: model, recorder: recorder, log: log)
    }

    /// Migrates a store in stages or by the steps of a route.
    ///
    /// - Parameter session: A connection to the store, which is closed; `nil` to open one.
    /// - Returns: Whether there was a way to migrate the store; if not, it was left alone.
    fileprivate static func migrate(
        _ description: PersistentStoreDescription, to model: ManagedObjectModel, _ session: SQLSession?,
        _ recorder: Recorder, _ log: SQLDebugLog, backup: URL? = nil
    ) throws(StoreError) -> Bool {
        if let manager = description.stagedMigrationManager {
            guard description.mappingModels.isEmpty, description.shouldInferMappingModelAutomatically else {
                throw StoreError(
                    .invalidRequest,
                    "Migrating '\(description.path)' in stages is refused, because stages are inferred; set shouldInferMappingModelAutomatically, and leave mappingModels empty."
                )
            }
            return try StagedMigration(manager, description, model, recorder, log).run(session)
        }
        // A store in memory is always new.
        guard description.isInFile else { return false }
        defer { session?.connection.close() }
        let route = try MigrationRoute(description, to: model, session, recorder, log)
        try route?.run(backup: backup)
        return route != nil
    }
}
