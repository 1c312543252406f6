import CSQLite
import FaultlineModel

/// The three stages of a migration with a mapping model.
struct MigrationStages {
    private let manager: MigrationManager
    private let current: MigrationRun
    private let policies: [EntityMigrationPolicy]
    /// The number of older objects, by mapping.
    private let counts: [Int]

    init(_ manager: MigrationManager, _ run: MigrationRun, _ policies: [EntityMigrationPolicy]) throws {
        (self.manager, current, self.policies) = (manager, run, policies)
        counts = try run.mappings.map { mapping in
            guard let request = try Self.request(mapping, run) else { return 0 }
            return try run.source.context.count(for: request)
        }
    }

    func run() throws {
        let work = Float(max(counts.reduce(0, +), 1))
        var done: Float = 0
        func advance(_ count: Int, of stages: Float) {
            done += Float(count) / work * stages
            manager.status.progress = min(done, 0.99)
        }
        for (number, mapping) in current.mappings.enumerated() {
            manager.currentEntityMapping = mapping
            try policies[number].begin(mapping, with: manager)
            try eachSource(of: mapping) { objects in
                for object in objects {
                    try policies[number].createDestinationInstances(forSource: object, in: mapping, manager: manager)
                }
                try save()
                advance(objects.count, of: 0.5)
            }
            try policies[number].endInstanceCreation(forMapping: mapping, manager: manager)
            try save()
        }
        for (number, mapping) in current.mappings.enumerated() {
            manager.currentEntityMapping = mapping
            if needsRelationships(number) {
                try eachDestination(of: number) { objects in
                    for object in objects {
                        try policies[number].createRelationships(
                            forDestination: object, in: mapping, manager: manager)
                    }
                    try save()
                    advance(objects.count, of: 0.4)
                }
            } else {
                advance(counts[number], of: 0.4)
            }
            try policies[number].endRelationshipCreation(forMapping: mapping, manager: manager)
            try save()
        }
        for (number, mapping) in current.mappings.enumerated() {
            manager.currentEntityMapping = mapping
            try policies[number].performCustomValidation(forMapping: mapping, manager: manager)
            try policies[number].end(mapping, manager: manager)
            try save()
        }
    }

    /// Whether a mapping has relationships, or a policy that may set some.
    private func needsRelationships(_ number: Int) -> Bool {
        type(of: policies[number]) != EntityMigrationPolicy.self
            || !manager.relationshipMappings(of: current.mappings[number]).isEmpty
    }

    /// Saves a batch, and ends the migration if it was canceled.
    private func save() throws {
        try manager.status.check()
        // A value that could not be read would be missing in the newer object.
        try current.source.context.throwReadError()
        try current.destination.context.save()
        try current.associations.flush()
    }

    // MARK: Objects

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
        let selected = request.predicate
        var last: Int64 = 0
        while true {
            let keys = try current.source.store.keys(of: entity, after: last, limit: manager.batchSize)
            guard let highest = keys.last else { return }
            last = highest
            let ids = keys.map { current.source.id(entity.index, $0) }
            request.predicate = .and([.isIn("self", objects: ids), selected].compactMap { $0 })
            request.returnsObjectsAsFaults = false
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
            try withExtendedLifetime(fetched) {
                try body(ends.map { current.destination.object($0.entity, $0.key) })
            }
        }
    }
}

extension MigrationRun {
    /// Keeps the keys of older objects free in tables whose objects keep their keys.
    func reserveKeys(_ kept: [String: Set<String>]) throws(StoreError) {
        for entity in source.store.schema.entities where entity.parent < 0 {
            let last = try source.store.lastKey(of: entity)
            for table in kept[entity.table] ?? [] {
                guard let root = destination.store.schema.entities.first(where: { $0.table == table && $0.parent < 0 })
                else { continue }
                let store = destination.store
                try store.writer.locked { () throws(StoreError) in
                    store.writer.endRead()
                    try store.writer.session.run(
                        "UPDATE Z_PRIMARYKEY SET Z_MAX = MAX(Z_MAX, \(last)) WHERE Z_ENT = \(root.number)",
                        doing: "Migrating")
                }
            }
        }
    }
}

extension SQLStore {
    /// The integers in the first column of a query's rows, read outside of any context.
    func integers(_ sql: String, _ values: [SQLValue] = []) throws(StoreError) -> [Int64] {
        var found: [Int64] = []
        try writer.locked { () throws(StoreError) in
            writer.endRead()
            let statement = try writer.sqlite.statement(sql)
            for (position, value) in values.enumerated() { statement.bind(value, at: Int32(position + 1)) }
            try writer.session.readAsEvent(statement, doing: StoreMigration.doing) {
                found.append(sqlite3_column_int64($0, 0))
            }
        }
        return found
    }

    /// The keys of an entity's own objects after one, in order.
    fileprivate func keys(of entity: EntitySchema, after key: Int64, limit: Int) throws(StoreError) -> [Int64] {
        try integers(
            "SELECT Z_PK FROM \(entity.table) NOT INDEXED WHERE Z_ENT = \(entity.number) AND Z_PK > ? ORDER BY Z_PK LIMIT \(limit)",
            [.integer(key)])
    }

    /// The largest key that a tree's table has or had.
    fileprivate func lastKey(of root: EntitySchema) throws(StoreError) -> Int64 {
        try integers(
            "SELECT MAX(Z_PK) FROM \(root.table) UNION ALL SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(root.number)"
        ).max() ?? 0
    }
}
