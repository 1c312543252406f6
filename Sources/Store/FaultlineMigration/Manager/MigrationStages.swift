import CSQLite
import FaultlineModel
import FaultlineStore
import FaultlineTrace

/// The three stages of a migration with a mapping model.
struct MigrationStages {
    private let manager: MigrationManager
    private let current: MigrationRun
    private let policies: [EntityMigrationPolicy]
    private let trace: MigrationTrace
    /// The number of older objects, by mapping.
    private let counts: [Int]

    init(
        _ manager: MigrationManager, _ run: MigrationRun, _ policies: [EntityMigrationPolicy], _ trace: MigrationTrace
    ) throws {
        (self.manager, current, self.policies, self.trace) = (manager, run, policies, trace)
        counts = try run.mappings.map { mapping in
            guard let request = try Self.request(mapping, run) else { return 0 }
            return try run.source.context.count(for: request)
        }
    }

    func run() throws {
        // Each object is created, and then related.
        let work = UInt64(max(2 * counts.reduce(0, +), 1))
        var done: UInt64 = 0
        func advance(_ count: Int, _ mapping: EntityMapping) throws {
            done = min(done + UInt64(count), work)
            manager.status.progress = min(Float(done) / Float(work), 0.99)
            try report(done, of: work, mapping)
        }
        for (number, mapping) in current.mappings.enumerated() {
            manager.currentEntityMapping = mapping
            try trace.part(.create, mapping.name) { rows in
                rows = UInt64(counts[number])
                try policies[number].begin(mapping, with: manager)
                try eachSource(of: mapping) { objects in
                    for object in objects {
                        try policies[number].createDestinationInstances(
                            forSource: object, in: mapping, manager: manager)
                    }
                    try save()
                    try advance(objects.count, mapping)
                }
                try policies[number].endInstanceCreation(forMapping: mapping, manager: manager)
                try save()
            }
        }
        for (number, mapping) in current.mappings.enumerated() {
            manager.currentEntityMapping = mapping
            try trace.part(.relate, mapping.name) { rows in
                if needsRelationships(number) {
                    try eachDestination(of: number) { objects in
                        for object in objects {
                            try policies[number].createRelationships(
                                forDestination: object, in: mapping, manager: manager)
                        }
                        try save()
                        rows += UInt64(objects.count)
                        try advance(objects.count, mapping)
                    }
                } else {
                    try advance(counts[number], mapping)
                }
                try policies[number].endRelationshipCreation(forMapping: mapping, manager: manager)
                try save()
            }
        }
        for (number, mapping) in current.mappings.enumerated() {
            manager.currentEntityMapping = mapping
            try trace.part(.verify, mapping.name) { _ in
                try policies[number].performCustomValidation(forMapping: mapping, manager: manager)
                try policies[number].end(mapping, manager: manager)
                try save()
            }
        }
        if let last = current.mappings.last { try report(work, of: work, last) }
    }

    private func report(_ done: UInt64, of work: UInt64, _ mapping: EntityMapping) throws {
        var progress = MigrationProgress(total: work)
        progress.completedRowCount = done
        progress.entity = mapping.destinationEntityName ?? ""
        try manager.reporter?.report(progress)
    }

    /// Whether a mapping has relationships to set yet, or a policy that may set some.
    private func needsRelationships(_ number: Int) -> Bool {
        PolicyMethods.createRelationships.isOverridden(in: type(of: policies[number]))
            || !manager.relationshipMappings(of: current.mappings[number]).isEmpty
    }

    /// Saves a batch, and ends the migration if it was cancelled.
    private func save() throws {
        try manager.status.check()
        try current.associations.pending.indices.forEach { try relate(current.associations.pending[$0]) }
        // A value that could not be read would be missing in the newer object.
        try current.source.context.throwReadError()
        try current.destination.context.save()
        try current.associations.flush()
    }

    // MARK: - Direct references

    /// Sets the to-one relationships of a newer object whose other objects are known.
    ///
    /// Their inverses are to-many relationships of objects that are not loaded.
    private func relate(_ association: MigrationAssociations.Pending) throws {
        let compiled = current.compiled[association.mapping]
        guard !compiled.direct.isEmpty else { return }
        let (source, object) = (association.source, association.destination)
        guard source.runtime.schema.index == compiled.sourceEntity, !object.isDeleted,
            object.runtime.schema.index == compiled.destinationEntity,
            // The first older object gives the relationships.
            current.associations.isFirst(association)
        else { return }
        let values = MappingValues(
            manager, compiled, policies[association.mapping], source: source, destination: object)
        for reference in compiled.direct {
            guard let (entity, key) = source.storedReference(reference.source), let target = reference.targets[entity]
            else {
                values.perform(reference, nil)
                continue
            }
            if let kept = target.keptEntity {
                values.perform(reference, current.destination.object(kept, key))
                continue
            }
            let ends = current.associations.destinations(entity: entity, key: key, under: target.mapping)
            guard ends.count <= 1 else { throw values.failure(reference.property, "gives several objects") }
            values.perform(reference, ends.first.map { current.destination.object($0.entity, $0.key) })
        }
    }

    // MARK: - Objects

    /// The request for a mapping's older objects, or `nil` if it has none.
    private static func request(
        _ mapping: EntityMapping, _ run: MigrationRun
    ) throws -> FetchRequest<ManagedObject>? {
        guard mapping.mappingType != .remove, mapping.destinationEntityName != nil,
            let name = mapping.sourceEntityName, run.source.store.schema.entity(named: name)?.isAbstract == false
        else { return nil }
        var request = FetchRequest<ManagedObject>(entityName: name)
        request.includesSubentities = false
        switch mapping.sourceExpression {
        case nil: break
        case .fetch(.function(.variable(.manager), _, let arguments), _, _)?:
            guard arguments.count == 2, case .constant(.string(let text)?) = arguments[1] else { break }
            request.predicate = try FetchPredicate(format: text)
        case let expression?:
            throw StoreError(
                .migration,
                "The mapping '\(mapping.name)' selects its objects with '\(expression)', which is not supported; use FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", …), $manager.sourceContext, NO)."
            )
        }
        return request
    }

    /// Passes a mapping's older objects to a closure, a batch at a time, in the order of their keys.
    private func eachSource(of mapping: EntityMapping, _ body: ([ManagedObject]) throws -> Void) throws {
        guard var request = try Self.request(mapping, current),
            let entity = current.source.store.schema.entity(named: request.entityName)
        else { return }
        request.returnsObjectsAsFaults = false
        var last: Int64 = 0
        while let keys = try current.source.store.keys(of: entity, after: last, limit: manager.batchSize) {
            last = keys.upperBound
            request.keys = keys
            let objects = Array(try current.source.context.fetch(request)).sorted { $0.key < $1.key }
            if !objects.isEmpty { try body(objects) }
        }
    }

    /// Passes the newer objects of a mapping to a closure, a batch at a time, in the order of their keys.
    private func eachDestination(of number: Int, _ body: ([ManagedObject]) throws -> Void) throws {
        guard let entity = current.mappings[number].destinationEntityName else { return }
        var last: MigrationAssociations.End?
        while true {
            let ends = try current.associations.destinations(under: number, after: last, limit: manager.batchSize)
            guard let highest = ends.last else { return }
            last = highest
            var request = FetchRequest<ManagedObject>(entityName: entity)
            request.predicate = .isIn("self", objects: ends.map { current.destination.id($0.entity, $0.key) })
            request.returnsObjectsAsFaults = false
            // Objects of other entities, which only a policy creates, are faults until they are used.
            let fetched = Array(try current.destination.context.fetch(request))
            let sources = try fetchSources(of: ends, under: number)
            try withExtendedLifetime((fetched, sources)) {
                try body(ends.map { current.destination.object($0.entity, $0.key) })
            }
        }
    }
}

extension MigrationStages {
    /// Fetches the older objects of newer ones at once, because relationships are set from them.
    private func fetchSources(
        of ends: [MigrationAssociations.End], under number: Int
    ) throws -> [ManagedObject] {
        guard let name = current.mappings[number].sourceEntityName else { return [] }
        let found = ends.flatMap { current.associations.sources(entity: $0.entity, key: $0.key, under: number) }
        var request = FetchRequest<ManagedObject>(entityName: name)
        request.predicate = .isIn("self", objects: found.map { current.source.id($0.entity, $0.key) })
        request.returnsObjectsAsFaults = false
        return Array(try current.source.context.fetch(request))
    }
}
