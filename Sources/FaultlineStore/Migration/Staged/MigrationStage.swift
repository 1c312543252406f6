public import FaultlineModel

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
    public var label: String?

    /// Creates a stage of versions.
    ///
    /// The models are looked for among those of the custom stages, in ``PersistentStoreDescription/sourceModels``, and beside the
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
/// The step itself is inferred. A program that is killed runs a handler again that had not ended, so a handler must be able to
/// continue what it began; saving its work and its mark in one save is enough.
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

    public static func == (left: ManagedObjectModelReference, right: ManagedObjectModelReference) -> Bool {
        left.versionChecksum == right.versionChecksum
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(versionChecksum)
    }
}
