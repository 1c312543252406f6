import FaultlineModel

/// Finds the model version that a store was written with.
///
/// A store of this library has a copy of it. For one of Apple's framework, whose version hashes only Apple can compute, the
/// tables decide.
struct SourceSearch {
    private let setup: StoreSetup
    private let description: PersistentStoreDescription
    private let metadata: StoreMetadata

    init(_ setup: StoreSetup, _ description: PersistentStoreDescription) throws(StoreError) {
        (self.setup, self.description) = (setup, description)
        metadata = try setup.readMetadata().1
    }

    /// Returns the store's version, or `nil` if it is not found.
    ///
    /// - Parameter candidates: The versions to compare with a store that has no copy of its own.
    func version(among candidates: [ManagedObjectModel]) throws(StoreError) -> StoreVersion? {
        if let kept = try setup.keptModel(configuration: description.configuration, path: description.path),
            let version = try match(kept)
        {
            return version
        }
        for model in candidates {
            if let version = try match(model) { return version }
        }
        return nil
    }

    private func match(_ model: ManagedObjectModel) throws(StoreError) -> StoreVersion? {
        var configuration: StoreConfiguration?
        if let name = description.configuration {
            guard let found = try? StoreConfiguration(name, of: model, path: description.path) else { return nil }
            configuration = found
        }
        let match = StoreMatch(setup, model, configuration, path: description.path, metadata: metadata.values)
        guard try match.mismatch() == nil else { return nil }
        return StoreVersion(model: model, schema: try match.schema(), configuration: configuration)
    }
}
