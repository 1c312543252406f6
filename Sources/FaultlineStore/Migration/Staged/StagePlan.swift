import FaultlineModel

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
    /// - Throws: ``StoreError`` if a version occurs twice or is not found.
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
        // Models that are loaded when they are reached are loaded no further than needed.
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
