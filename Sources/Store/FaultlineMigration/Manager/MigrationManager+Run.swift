import CSQLite
public import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
public import Foundation

extension MigrationManager {
    /// Creates a store of the newer version with the objects of a store of the older version.
    ///
    /// The older store is only read. If the newer store exists already, the objects are added to it, which allows several passes
    /// with mapping models for different entities; its objects then get new keys.
    ///
    /// - Parameters:
    ///   - source: The older store.
    ///   - mapping: The mapping of its objects to those of the newer store.
    ///   - destination: The newer store, in a folder that exists.
    /// - Throws: `StoreError` if a store cannot be read or written, if the mapping model does not fit the models, or if a newer
    ///   object is invalid; the error that a policy throws; and the one with which the migration is cancelled. The newer store is
    ///   then removed, unless it existed before.
    public func migrateStore(from source: URL, mapping: MappingModel, to destination: URL) throws {
        reset()
        let policies = try makePolicies(mapping)
        let resolved = mapping.completed(from: sourceModel.schema, to: destinationModel.schema)
        let exists = FileManager.default.fileExists(atPath: destination.path)
        let trace = MigrationTrace(recorder: recorder, log: log, way: .objects)
        do {
            try trace.whole(migrated ?? source.path, isStep: migrated != nil, timeInSQL: { timeInSQL(mapping, source) })
            {
                // Advice about the manager's own fetches and saves would be of no use.
                try recorder.scope("migration", kind: .setup) {
                    try migrate(source, resolved, policies, destination, trace, exists: exists)
                }
            }
        } catch {
            run = nil
            if !exists { StoreFiles(destination).remove() }
            throw error
        }
    }

    /// The estimated time of an inferred migration in nanoseconds; 0 if the mapping model does anything else.
    private func timeInSQL(_ mapping: MappingModel, _ source: URL) -> UInt64 {
        var description = PersistentStoreDescription(url: source)
        (description.sourceModels, description.allowsEarlierVersions) = ([sourceModel], true)
        guard let mapped = try? MappedRules.rules(mapping, from: sourceModel, to: destinationModel),
            let route = try? MigrationRoute(reading: description, to: destinationModel),
            let inferred = try? route.steps.first?.rules(path: source.path),
            mapped.continues(as: inferred, from: sourceModel.schema, to: destinationModel.schema),
            let preview = try? route.preview()
        else { return 0 }
        return UInt64((preview.seconds ?? 0) * 1e9)
    }

    private func migrate(
        _ source: URL, _ mapping: MappingModel, _ policies: [EntityMigrationPolicy], _ destination: URL,
        _ trace: MigrationTrace, exists: Bool
    ) throws {
        let old = try open(source, sourceModel) { $0.isReadOnly = true }
        defer { try? old.container.close() }
        // Objects are incomplete while the migration runs, so they are validated at its end.
        let relaxed = try destinationModel.relaxed()
        let new = try open(destination, exists ? destinationModel : relaxed) { $0.synchronization = .off }
        var isOpen = true
        defer { if isOpen { try? new.container.close() } }
        if !exists { try new.store.beginBulk() }
        let kept =
            exists
            ? [:] : MigrationRun.keptTables(mapping.entityMappings, old.store.schema, new.store.schema)
        let run = try MigrationRun(mapping, policies, old, new, keptTables: kept)
        (self.run, mappingModel) = (run, mapping)
        defer { (mappingModel, currentEntityMapping) = (nil, nil) }
        try run.reserveKeys(kept)
        try old.context.performAndWait {
            try new.context.performAndWait {
                try MigrationStages(self, run, policies, trace).run()
            }
        }
        try new.store.endBulk()
        try new.container.close()
        isOpen = false
        self.run = nil
        try trace.part(.verify) { _ in
            try MigrationEnd(old.store, sourceModel, destination, destinationModel, recorder, log)
                .finish(keepsIdentity: !exists)
        }
        status.progress = 1
    }

    private func open(
        _ url: URL, _ model: ManagedObjectModel, _ configure: (inout PersistentStoreDescription) -> Void
    ) throws -> MigrationRun.Side {
        var description = PersistentStoreDescription(url: url)
        description.shouldMigrateStoreAutomatically = false
        description.ignoresPersistentHistory = true
        // A migration reads each row a few times at most.
        description.rowCacheLimit = 4 << 20
        description.pageCacheLimit = 8 << 20
        description.connectionPoolMaxSize = 1
        configure(&description)
        return MigrationRun.Side(
            try PersistentContainer(
                name: "Migration", managedObjectModel: model, storeDescription: description, recorder: recorder,
                sqlDebug: log))
    }

    // MARK: - The mapping model

    /// Checks the mapping model, and creates the policies of its entity mappings.
    private func makePolicies(_ mapping: MappingModel) throws(StoreError) -> [EntityMigrationPolicy] {
        if let misfit = mapping.misfit(sourceModel, destinationModel) { throw unfit(misfit) }
        var names: Set<String> = []
        var made: [EntityMigrationPolicy] = []
        for entity in mapping.entityMappings {
            guard names.insert(entity.name).inserted else {
                throw unfit("has two entity mappings '\(entity.name)'")
            }
            let needsObjects = entity.mappingType != .add && entity.mappingType != .remove
            for (model, name, age) in [
                (sourceModel, entity.sourceEntityName, "older"),
                (destinationModel, entity.destinationEntityName, "newer"),
            ] {
                guard needsObjects, let name, model.entity(named: name)?.isAbstract == true else { continue }
                throw unfit("'\(entity.name)' maps the \(age) entity '\(name)', which is abstract and has no objects")
            }
            guard let name = entity.entityMigrationPolicyClassName else {
                if entity.mappingType == .custom { throw unfit("'\(entity.name)' is custom, but names no policy") }
                made.append(EntityMigrationPolicy())
                continue
            }
            let plain = name.split(separator: ".").last.map(String.init) ?? name
            guard let found = policies.first(where: { String(reflecting: $0) == name || "\($0)" == plain }) else {
                throw StoreError(
                    .entityMigrationPolicy,
                    "The mapping '\(entity.name)' needs the policy '\(name)', which the migration manager does not have; add the class to its policies."
                )
            }
            made.append(found.init())
        }
        return made
    }

    private func unfit(_ what: String) -> StoreError {
        StoreError(.missingMappingModel, "The mapping model does not fit the two models: \(what); correct it.")
    }
}

extension ManagedObjectModel {
    /// The model without anything that an incomplete object lacks; its stores have the same layout.
    func relaxed() throws(ModelError) -> ManagedObjectModel {
        try ManagedObjectModel(
            variant: entities.map { entity in
                var entity = entity
                for index in entity.attributes.indices {
                    entity.attributes[index].isOptional = true
                    entity.attributes[index].minimumValue = nil
                    entity.attributes[index].maximumValue = nil
                    entity.attributes[index].regularExpression = nil
                }
                for index in entity.relationships.indices {
                    entity.relationships[index].isOptional = true
                    entity.relationships[index].minimumCount = 0
                    entity.relationships[index].maximumCount = 0
                }
                return entity
            }, compositeAttributes: compositeAttributes)
    }
}
