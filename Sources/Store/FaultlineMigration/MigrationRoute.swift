package import FaultlineModel
import FaultlineRecorder
package import FaultlineStore
import Foundation

/// The steps that lead a store from its version to another one: decided once, from what one connection reads, and then shown or run.
///
/// Other programs can change the store in between, so each step checks under the store's lock that it still has the version.
package struct MigrationRoute {
    /// A step from one version to another one.
    package struct Step {
        package let old: ManagedObjectModel
        package let new: ManagedObjectModel
        /// `nil` for a step that is inferred.
        package let mapping: MappingModel?
        private let way: Way

        private enum Way {
            case sql(MigrationRules)
            /// Object by object, with the reason as part of a sentence.
            case objects(String)
            /// Impossible to infer, with the end of a sentence and the error of the inference.
            case refused(String, ModelError? = nil)
        }

        /// - Parameter mapping: A mapping model that fits both versions; `nil` to infer the mapping.
        package init(from old: ManagedObjectModel, to new: ManagedObjectModel, mapping: MappingModel? = nil) {
            (self.old, self.new, self.mapping) = (old, new, mapping)
            if let mapping {
                do throws(MappedRules.ObjectsNeeded) {
                    way = .sql(try MappedRules.rules(mapping, from: old, to: new))
                } catch {
                    way = .objects(error.reason)
                }
            } else {
                do throws(ModelError) {
                    way = .sql(try MigrationRules(inferredFrom: old, to: new))
                } catch {
                    way = .refused(". \(error.message)", error)
                }
            }
        }

        /// The reason why objects must be loaded to migrate them, as part of a sentence; `nil` if SQL can migrate them.
        package var reasonForLoading: String? { if case .objects(let reason) = way { reason } else { nil } }

        /// The entities and properties that may have been renamed without an identifier.
        package var possibleRenamings: [PossibleRenaming] {
            if case .sql(let rules) = way { rules.possibleRenamings } else { [] }
        }

        /// Whether the step is inferred, but cannot be.
        var isRefused: Bool { if case .refused = way { true } else { false } }

        /// A step that could be inferred, but would skip a mapping model.
        fileprivate init(refusedFrom old: ManagedObjectModel, to new: ManagedObjectModel) {
            (self.old, self.new, mapping) = (old, new, nil)
            way = .refused(
                " because an inferred step would skip one of its mappingModels, and no other steps lead to this version; make a mapping model from the store's version."
            )
        }

        /// Returns the rules for SQL.
        ///
        /// - Parameter stored: The store's own copy of the older version, which can have other renaming identifiers and default
        ///   values: version hashes do not cover them.
        /// - Throws: `StoreError` if nothing can be inferred.
        func rules(from stored: ManagedObjectModel? = nil, path: String) throws(StoreError) -> MigrationRules {
            if let stored, stored.entities != old.entities {
                return try Step(from: stored, to: new, mapping: mapping).rules(path: path)
            }
            let refusal = "Migrating '\(path)' is refused"
            switch way {
            case .sql(let rules): return rules
            case .refused(let reason, let error):
                throw StoreError(.missingMappingModel, refusal + reason, cause: error)
            case .objects(let reason):
                // Only a store that another program migrated in the meantime gets here.
                throw StoreError(
                    .missingMappingModel, "\(refusal) because \(reason) in its mapping model; open it again.")
            }
        }
    }

    let description: PersistentStoreDescription
    let recorder: Recorder
    let log: SQLDebugLog
    /// The version that the store has.
    private let version: StoreVersion
    /// The steps, in order; none if the store already fits.
    package let steps: [Step]
    /// The connection that read the store.
    let setup: StoreSetup
    /// The same connection if it can write to the store's file, too.
    let writer: SQLSession?

    /// The version that the store has.
    package var source: ManagedObjectModel { version.model }

    /// Decides how a store gets to a version, without changing anything.
    ///
    /// - Parameters:
    ///   - name: The store's name in messages about mapping models; `nil` for its path.
    ///   - mappings: Returns the mapping models for steps through some versions.
    /// - Returns: `nil` if the store's version is not found.
    /// - Throws: `StoreError` if the store cannot be read, or if it may not be migrated.
    package init?(
        reading description: PersistentStoreDescription, to model: ManagedObjectModel, named name: String? = nil,
        mappings: (([ManagedObjectModel]) throws(StoreError) -> [MappingModel])? = nil
    ) throws(StoreError) {
        try self.init(description, to: model, nil, .shared, .shared, named: name, mappings: mappings)
    }

    /// - Parameter session: A connection that found the store to be older, which closes if the store is migrated; `nil` to open one.
    /// - Returns: `nil` if the store's version is not found, or if no step leads on and steps must not be inferred.
    init?(
        _ description: PersistentStoreDescription, to model: ManagedObjectModel, _ session: SQLSession?,
        _ recorder: Recorder, _ log: SQLDebugLog, named name: String? = nil,
        mappings: (([ManagedObjectModel]) throws(StoreError) -> [MappingModel])? = nil
    ) throws(StoreError) {
        let setup = try SourceSearch.setup(description, session)
        // In one transaction, because another program may be migrating the store.
        let decision = try setup.inTransaction { () throws(StoreError) -> (StoreVersion, [Step])? in
            let search = try SourceSearch(setup, description)
            if let current = try search.match(model) { return (current, []) }
            guard let version = try search.version(among: model.versions(after: description.sourceModels)) else {
                return nil
            }
            try version.checkMigration(to: model, description.path)
            let earlier = try setup.readMetadata().1.earlierVersions
            let versions = Self.versions(from: version.model, to: model, through: description.sourceModels)
            let mappings = try mappings?(versions) ?? description.mappingModels
            try Self.checkDirection(description, version.model, model, earlier, mappings)
            return try Self.steps(description, version.model, versions, mappings, name).map { (version, $0) }
        }
        guard let decision else { return nil }
        (self.description, self.recorder, self.log, self.setup) = (description, recorder, log, setup)
        writer = description.type == .sqlite ? session : nil
        (version, steps) = decision
    }

    /// Returns a preview of the first step, without changing anything; the rows of later steps do not exist yet.
    ///
    /// - Returns: `nil` if there is no step, or if it loads objects.
    /// - Throws: `StoreError` if the store cannot be read, or if nothing can be inferred.
    package func preview() throws(StoreError) -> MigrationPreview? {
        guard let step = steps.first, step.reasonForLoading == nil else { return nil }
        return try StoreMigration(setup, description, version, step).preview()
    }

    // MARK: - Decisions

    /// Checks that the store does not go back to a version that is known to be older, unless a mapping model leads there.
    private static func checkDirection(
        _ description: PersistentStoreDescription, _ old: ManagedObjectModel, _ new: ManagedObjectModel,
        _ earlier: [String], _ mappings: [MappingModel]
    ) throws(StoreError) {
        if description.allowsEarlierVersions { return }
        let (from, to) = (old.versionChecksum, new.versionChecksum)
        let known = description.sourceModels.map(\.versionChecksum)
        let isListedBefore = known.firstIndex(of: to).flatMap { position in
            known.firstIndex(of: from).map { $0 > position }
        }
        guard earlier.contains(to) || isListedBefore == true, !mappings.contains(where: { $0.misfit(old, new) == nil })
        else { return }
        throw StoreError(
            .backwardMigration,
            "Opening '\(description.path)' is refused because it has a newer version of the model than the program, and values that the older one lacks would be lost; open it with the newer version, or set allowsEarlierVersions."
        )
    }

    /// - Returns: `nil` if nothing leads to the newest version, and steps must not be inferred.
    private static func steps(
        _ description: PersistentStoreDescription, _ old: ManagedObjectModel, _ versions: [ManagedObjectModel],
        _ mappings: [MappingModel], _ name: String?
    ) throws(StoreError) -> [Step]? {
        let (infers, new) = (description.shouldInferMappingModelAutomatically, versions[versions.count - 1])
        guard description.type == .sqlite, description.configuration == nil else {
            guard mappings.isEmpty else {
                throw StoreError(
                    .invalidRequest,
                    "Migrating '\(description.path)' with a mapping model is refused, because only stores of the type SQLite with all entities support that; leave mappingModels empty."
                )
            }
            return infers ? [Step(from: old, to: new)] : nil
        }
        let direct = infers && mappings.isEmpty ? Step(from: old, to: new) : nil
        if let direct, !direct.isRefused { return [direct] }
        let search = StepSearch(versions, mappings, infers: infers, refused: direct)
        if let steps = try search.steps(path: name ?? description.path) { return steps }
        guard infers else { return nil }
        // The step says why nothing can be inferred.
        let last = direct ?? Step(from: old, to: new)
        return [last.isRefused ? last : Step(refusedFrom: old, to: new)]
    }

    /// The versions from the store's to the newest one.
    ///
    /// - Parameter known: The versions from the oldest to the newest.
    private static func versions(
        from old: ManagedObjectModel, to new: ManagedObjectModel, through known: [ManagedObjectModel]
    ) -> [ManagedObjectModel] {
        let checksums = known.map(\.versionChecksum)
        let last = new.versionChecksum
        // No steps lead back through newer versions.
        guard let start = checksums.firstIndex(of: old.versionChecksum), checksums.firstIndex(of: last) ?? .max > start
        else { return [old, new] }
        return zip(known, checksums).dropFirst(start).prefix { $0.1 != last }.map(\.0) + [new]
    }
}
