package import FaultlineModel
package import FaultlineRecorder
package import Foundation

/// A preview of a migration in place.
package struct MigrationPreview: Sendable {
    /// The objects of an entity.
    package struct Objects: Sendable {
        package let entity: String
        /// The entity that they would have; `nil` if they would be removed.
        package let newEntity: String?
        package let count: Int64
    }

    /// A statement of the plan.
    package struct Step: Sendable {
        package let stage: String
        package let table: String
        package let sql: String
    }

    /// The version that the store has.
    package let source: ManagedObjectModel
    /// The entities and properties that may have been renamed without an identifier.
    package let possibleRenamings: [PossibleRenaming]
    package var objects: [Objects] = []
    package var steps: [Step] = []
    /// Why the store's rows do not allow the migration, as sentences without a full stop.
    package var obstacles: [String] = []
    /// The size of the store's file.
    package var storeBytes: UInt64 = 0
    /// The rows that statements would go through.
    package var rows: UInt64 = 0
    /// The estimated time; `nil` if there are no rows.
    package var seconds: Double?

    init(source: ManagedObjectModel, possibleRenamings: [PossibleRenaming]) {
        (self.source, self.possibleRenamings) = (source, possibleRenamings)
    }

    /// Says what a migration would do, without changing anything.
    ///
    /// - Parameters:
    ///   - sources: Versions of the model to look for the store's own in, besides those beside the model.
    ///   - mapping: A mapping model whose objects need not be loaded; `nil` to infer what continues what.
    /// - Returns: `nil` if the store's version is not found.
    /// - Throws: ``StoreError`` if the store cannot be read, or if no mapping can be inferred.
    package static func of(
        storeAt url: URL, to model: ManagedObjectModel, sources: [ManagedObjectModel] = [], mapping: MappingModel? = nil
    ) throws(StoreError) -> MigrationPreview? {
        try StoreMigration.preview(
            PersistentStoreDescription(url: url), to: model, sources: model.versions(after: sources), mapping: mapping)
    }

    /// Why the objects of a mapping model must be loaded to migrate them, as a part of a sentence; `nil` if SQL can do it.
    package static func needForObjects(
        _ mapping: MappingModel, from old: ManagedObjectModel, to new: ManagedObjectModel
    ) -> String? {
        do throws(MappedRules.ObjectsNeeded) {
            _ = try MappedRules.rules(mapping, from: old, to: new)
            return nil
        } catch {
            return error.reason
        }
    }

    /// Finds the version that a store has, or `nil`.
    ///
    /// - Throws: ``StoreError`` if the store cannot be read.
    package static func version(
        ofStoreAt url: URL, for model: ManagedObjectModel, sources: [ManagedObjectModel]
    ) throws(StoreError) -> ManagedObjectModel? {
        let setup = try StoreOpening.setup(.sqlite, forReading: url)
        defer { setup.session.connection.close() }
        let version = try SourceSearch(setup, PersistentStoreDescription(url: url)).version(
            among: model.versions(after: sources))
        try version?.checkMigration(to: model, url.path)
        return version?.model
    }
}

extension PersistentStoreCoordinator {
    /// Migrates a store that is not open as its description says, in place or by replacing it.
    ///
    /// - Parameter backup: Where to put a copy of the older store; `nil` for none.
    /// - Returns: Whether the store's version was found.
    package static func migrateStore(
        _ description: PersistentStoreDescription, to model: ManagedObjectModel, recorder: Recorder = .shared,
        backup: URL? = nil
    ) throws -> Bool {
        try AutomaticMigration(description, model, recorder, .shared, backup: backup).run()
    }
}
