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
            return try StoreOpening(description, model: model, recorder: recorder, log: log)
        } catch {
            guard error.code == .incompatibleModel, description.shouldMigrateStoreAutomatically,
                description.shouldInferMappingModelAutomatically, !description.isReadOnly
            else { throw error }
            let sources = description.sourceModels + model.siblings
            guard
                try StoreMigration.run(description, to: model, sources: sources, recorder: recorder, log: log)
            else { throw error }
            return try StoreOpening(description, model: model, recorder: recorder, log: log)
        }
    }
}
