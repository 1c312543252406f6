import CStore
package import FaultlineModel
package import FaultlineRecorder

/// Migrations, whose module is a layer above this one.
///
/// A program that uses the product FaultlineStore has both modules. The linker joins them, so that the program has nothing to
/// register: FaultlineMigration defines the function in C that ``open`` calls.
package final class StoreMigrations: Sendable {
    /// Opens a store, after migrating it if it is of an older version and its description allows that.
    package typealias Opening =
        @Sendable (PersistentStoreDescription, ManagedObjectModel, Recorder, SQLDebugLog) throws(StoreError) ->
        StoreOpening

    private let opening: Opening

    package init(opening: @escaping Opening) {
        self.opening = opening
    }

    /// Opens a store, migrated if the program has migrations.
    ///
    /// - Throws: ``StoreError`` if the store cannot be opened or migrated.
    static func open(
        _ description: PersistentStoreDescription, _ model: ManagedObjectModel, _ recorder: Recorder, _ log: SQLDebugLog
    ) throws(StoreError) -> StoreOpening {
        guard let migrations = cstore_linked_migrations() else {
            return try StoreOpening(description, model: model, recorder: recorder, log: log)
        }
        return try Unmanaged<StoreMigrations>.fromOpaque(migrations).takeUnretainedValue()
            .opening(description, model, recorder, log)
    }
}
