import Synchronization

/// A plan that brings a store from any released version of a model to the newest one, step by step.
///
///     var description = PersistentStoreDescription(url: url)
///     description.stagedMigrationManager = StagedMigrationManager([
///         LightweightMigrationStage([v1.versionChecksum]),
///         CustomMigrationStage(migratingFrom: ManagedObjectModelReference(v2), to: ManagedObjectModelReference(v3)),
///         LightweightMigrationStage([v4.versionChecksum]),
///     ])
///
/// The store goes through every version of the plan that is newer than its own, including those of light-weight stages. Each step is
/// a separate transaction. The store records the work that remains, so an interrupted plan continues at the next opening.
public final class StagedMigrationManager: Sendable {
    /// The stages, from the oldest version to the newest.
    public let stages: [any MigrationStage]
    private let current = Mutex<PersistentContainer?>(nil)

    /// Creates a manager for a plan.
    ///
    /// The plan is checked when a store is migrated, before the store changes.
    public init(_ stages: [any MigrationStage]) {
        self.stages = stages
    }

    /// A container with the store, while a handler runs; otherwise `nil`.
    ///
    /// Its contexts have objects of the class ``ManagedObject``. It is closed when the handler ends.
    public var container: PersistentContainer? { current.withLock { $0 } }

    /// Passes a container to handlers while a closure runs, and closes it.
    func with(_ container: PersistentContainer, _ body: () throws -> Void) throws {
        current.withLock { $0 = container }
        defer {
            current.withLock { $0 = nil }
            try? container.close()
        }
        try body()
    }
}
