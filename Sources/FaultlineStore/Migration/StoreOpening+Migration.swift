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
    func fits(_ model: ManagedObjectModel) -> Bool {
        guard type == .sqlite, !isInMemory else { return false }
        do throws(StoreError) {
            return try PersistentStoreCoordinator.mismatch(
                of: model, configuration: configuration, withStoreAt: url) == nil
        } catch {
            return false
        }
    }
}
