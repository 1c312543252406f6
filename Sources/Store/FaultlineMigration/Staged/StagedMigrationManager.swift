public import FaultlineModel
public import FaultlineStore
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
    /// Its contexts have objects of the class `ManagedObject`. It is closed when the handler ends.
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

/// A step of a ``StagedMigrationManager``'s plan: a ``LightweightMigrationStage`` or a ``CustomMigrationStage``.
public protocol MigrationStage: Sendable {
    /// A name for messages.
    var label: String? { get }
}

/// Versions of a model between which a mapping can be inferred, from the oldest to the newest.
///
/// A store goes through each of them, so two versions that are not adjacent need not be inferable.
public struct LightweightMigrationStage: MigrationStage {
    /// The versions, by their `ManagedObjectModel.versionChecksum`.
    public let versionChecksums: [String]
    /// The name of the stage, for messages.
    public var label: String?

    /// Creates a stage of versions.
    ///
    /// The models are looked for among those of the custom stages, in `PersistentStoreDescription.sourceModels`, and beside the
    /// model in its `.xcdatamodeld`.
    public init(_ versionChecksums: [String], label: String? = nil) {
        self.versionChecksums = versionChecksums
        self.label = label
    }
}

/// A step between two versions with work of the program before or after it.
///
///     let stage = CustomMigrationStage(
///         migratingFrom: ManagedObjectModelReference(v1), to: ManagedObjectModelReference(v2))
///     stage.didMigrateHandler = { manager, _ in
///         guard let context = manager.container?.newBackgroundContext() else { return }
///         try context.performAndWait { try fillTitles(in: context) }
///     }
///
/// The step itself is inferred. If the program is killed while a handler runs, the handler runs again later, so it must be
/// able to continue its work. To record the progress in the same save as the work is enough.
public struct CustomMigrationStage: MigrationStage {
    /// A program's work in a stage, for which the manager's container has the store open.
    public typealias Handler =
        @Sendable (_ manager: StagedMigrationManager, _ stage: CustomMigrationStage) throws -> Void

    /// The version before the step.
    public let currentModel: ManagedObjectModelReference
    /// The version after the step.
    public let nextModel: ManagedObjectModelReference
    /// The work before the step, while the store has the older version.
    public var willMigrateHandler: Handler?
    /// The work after the step, when the store has the newer version.
    public var didMigrateHandler: Handler?
    /// The name of the stage, for messages.
    public var label: String?

    /// Creates a stage without handlers.
    public init(
        migratingFrom currentModel: ManagedObjectModelReference, to nextModel: ManagedObjectModelReference,
        label: String? = nil
    ) {
        (self.currentModel, self.nextModel, self.label) = (currentModel, nextModel, label)
    }
}

/// A version of a model in a stage.
public struct ManagedObjectModelReference: Sendable, Hashable {
    /// The model.
    public let resolvedModel: ManagedObjectModel
    /// The checksum that the model must have.
    public let versionChecksum: String

    /// Refers to a model.
    ///
    /// - Parameter versionChecksum: The checksum of the version when it was released, which detects that it was edited later; `nil`
    ///   for the model's own.
    public init(_ model: ManagedObjectModel, versionChecksum: String? = nil) {
        resolvedModel = model
        self.versionChecksum = versionChecksum ?? model.versionChecksum
    }

    /// Whether both are equal.
    public static func == (left: ManagedObjectModelReference, right: ManagedObjectModelReference) -> Bool {
        left.versionChecksum == right.versionChecksum
    }

    /// Feeds the parts that `==` compares to a hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(versionChecksum)
    }
}

extension PersistentStoreDescription {
    private struct MigrationSettings: Sendable {
        var manager: StagedMigrationManager?
        var policies: [EntityMigrationPolicy.Type] = []
    }

    private var settings: MigrationSettings {
        get { migrationSettings as? MigrationSettings ?? MigrationSettings() }
        set { migrationSettings = newValue }
    }

    /// The plan by which older stores are migrated, step by step, when they are opened.
    ///
    /// Default: none. With a plan, `mappingModels` must be empty, and `shouldMigrateStoreAutomatically` and
    /// `shouldInferMappingModelAutomatically` must be set.
    public var stagedMigrationManager: StagedMigrationManager? {
        get { settings.manager }
        set { settings.manager = newValue }
    }

    /// The policies that `mappingModels` name.
    ///
    /// Default: none.
    public var migrationPolicies: [EntityMigrationPolicy.Type] {
        get { settings.policies }
        set { settings.policies = newValue }
    }
}
