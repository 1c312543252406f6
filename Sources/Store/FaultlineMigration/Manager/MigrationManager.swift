public import FaultlineModel
public import FaultlineRecorder
public import FaultlineStore
import Synchronization

/// Migrates a store with a mapping model: creates each newer object from an older one, in a second store.
///
///     let manager = MigrationManager(sourceModel: old, destinationModel: new)
///     manager.policies = [CountryPolicy.self]
///     try manager.migrateStore(from: url, mapping: mapping, to: newURL)
///
/// Changes that need no mapping model are migrated in place when the store is opened, and much faster; see
/// `PersistentStoreDescription.shouldMigrateStoreAutomatically`.
///
/// Objects keep their primary keys wherever all objects of a table come from one older table, so stored object IDs stay valid.
/// Memory is bounded: objects are saved in batches, and associations are kept in a temporary file.
///
/// Use a manager on one thread; ``migrationProgress`` and ``cancelMigrationWithError(_:)`` can be used on any.
public final class MigrationManager {
    /// The version that wrote the store.
    public let sourceModel: ManagedObjectModel
    /// The version that the new store gets.
    public let destinationModel: ManagedObjectModel
    /// The mapping model of the current migration; `nil` outside of one.
    public internal(set) var mappingModel: MappingModel?
    /// The mapping whose objects are processed; `nil` outside of a migration.
    public internal(set) var currentEntityMapping: EntityMapping? {
        didSet { currentNumber = currentEntityMapping.flatMap { run?.number(of: $0.name) } }
    }
    /// The classes that the mappings can name as their policies.
    ///
    /// A mapping names a class by its name, with or without its module.
    public var policies: [EntityMigrationPolicy.Type] = []
    /// Values for the policies; the manager does not use them.
    public var userInfo: [String: Any] = [:]
    /// The number of objects that are processed and saved at a time.
    ///
    /// Default: 1,000.
    public var batchSize = 1000

    /// Progress and cancellation, which other threads use.
    let status = Status()
    var run: MigrationRun?
    private var currentNumber: Int?
    /// The file whose migration this one is a step of; `nil` if this is a whole migration.
    var migrated: String?
    /// Reports progress to the program that opens the store; `nil` if the program runs the manager itself.
    var reporter: MigrationReporter?
    let recorder: Recorder
    let log: SQLDebugLog

    final class Status: Sendable {
        private let current = Mutex<Float>(0)
        private let cancellation = Mutex<(any Error)?>(nil)

        var progress: Float {
            get { current.withLock { $0 } }
            set { current.withLock { $0 = newValue } }
        }

        func cancel(_ error: (any Error)?) { cancellation.withLock { $0 = error } }

        /// Throws the error with which the migration was cancelled, if it was.
        func check() throws {
            if let error = cancellation.withLock({ $0 }) { throw error }
        }
    }

    /// Creates a manager for stores of one version.
    public init(
        sourceModel: ManagedObjectModel, destinationModel: ManagedObjectModel, recorder: Recorder = .shared,
        sqlDebug: SQLDebugLog = .shared
    ) {
        (self.sourceModel, self.destinationModel) = (sourceModel, destinationModel)
        (self.recorder, log) = (recorder, sqlDebug)
    }

    /// The part of the migration that is done: 0 to 1.
    public var migrationProgress: Float { status.progress }

    /// Ends the migration after the current batch: it throws the error, and removes the new store.
    public func cancelMigrationWithError(_ error: any Error) {
        status.cancel(error)
    }

    /// Forgets all associations and the progress, for another migration.
    public func reset() {
        run = nil
        (mappingModel, currentEntityMapping) = (nil, nil)
        status.progress = 0
        status.cancel(nil)
    }

    // MARK: - For policies

    /// The context with the older objects.
    ///
    /// Traps outside of a migration.
    public var sourceContext: ManagedObjectContext { current.source.context }

    /// The context with the newer objects.
    ///
    /// Traps outside of a migration.
    public var destinationContext: ManagedObjectContext { current.destination.context }

    /// The older entity of a mapping, or `nil` if it has none.
    public func sourceEntity(for mapping: EntityMapping) -> EntityDescription? {
        mapping.sourceEntityName.flatMap { sourceModel.entity(named: $0) }
    }

    /// The newer entity of a mapping, or `nil` if it has none.
    public func destinationEntity(for mapping: EntityMapping) -> EntityDescription? {
        mapping.destinationEntityName.flatMap { destinationModel.entity(named: $0) }
    }

    /// Remembers that a newer object was created from an older one.
    ///
    /// Several objects can be associated with each, under each mapping.
    public func associate(
        sourceInstance source: ManagedObject, withDestinationInstance destination: ManagedObject,
        for mapping: EntityMapping
    ) {
        current.associations.add(source, destination, under: number(of: mapping.name))
    }

    /// Returns the newer objects that a mapping created from older ones, in their order.
    ///
    /// - Complexity: One look-up in a temporary file for each object.
    public func destinationInstances(
        forEntityMappingName name: String, sourceInstances: [ManagedObject]
    ) -> [ManagedObject] {
        let number = number(of: name)
        return sourceInstances.flatMap { current.destinations(of: $0, under: number) }
    }

    /// Returns the older objects from which a mapping created newer ones, in their order.
    ///
    /// - Complexity: One look-up in a temporary file for each object.
    public func sourceInstances(
        forEntityMappingName name: String, destinationInstances: [ManagedObject]
    ) -> [ManagedObject] {
        let number = number(of: name)
        return destinationInstances.flatMap { current.sources(of: $0, under: number) }
    }

    /// Returns the newer objects of older ones, whichever mappings created them.
    func destinationInstances(of sources: [ManagedObject]) -> [ManagedObject] {
        sources.flatMap { current.destinations(of: $0) }
    }

    var current: MigrationRun {
        guard let run else {
            incorrectUse("The migration manager has no contexts and objects outside of migrateStore(from:mapping:to:).")
        }
        return run
    }

    /// Returns the compiled current mapping if a policy passes that mapping on; otherwise compiles the policy's mapping.
    func compiled(
        _ mapping: EntityMapping, _ source: ManagedObject?, _ destination: ManagedObject
    ) -> CompiledMapping {
        if let currentNumber {
            let compiled = current.compiled[currentNumber]
            if compiled.sourceEntity == source?.runtime.schema.index ?? -1, compiled.isUnchanged(mapping) {
                return compiled
            }
        }
        return CompiledMapping(
            mapping, source?.runtime.schema, destination.runtime.schema, keepsKeys: false, relationships: [])
    }

    /// The number of a mapping, which is usually the current one.
    private func number(of name: String) -> Int {
        if let currentNumber, current.mappings[currentNumber].name == name { return currentNumber }
        return current.number(of: name)
    }

    /// Creates a newer object, under the older one's key if that is free.
    func insertDestination(_ entity: String, for source: ManagedObject) -> ManagedObject {
        let object = current.destination.context.insertNewObject(forEntityName: entity)
        if let currentNumber, current.compiled[currentNumber].keepsKeys,
            current.compiled[currentNumber].sourceEntity == source.runtime.schema.index,
            current.associations.take(key: source.key)
        {
            object.pending?.newKey = source.key
        }
        return object
    }

    /// The relationship mappings of an entity mapping that must be set when all objects exist.
    ///
    /// One that follows from its inverse is left out, and so is one that was set when its object was created.
    func relationshipMappings(of mapping: EntityMapping) -> [PropertyMapping] {
        current.compiled[number(of: mapping.name)].relationships
    }
}
