package import FaultlineTrace

/// The tables that events are reduced to.
///
/// Tables can be merged in any order.
package struct ProfileTables: Sendable {
    private(set) var groups: [EventGroup] = []
    private var groupIndices: [EventGroup.Key: Int] = [:]
    package private(set) var fetches: [FetchProfile] = []
    private var fetchIndices: [FetchProfile.Key: Int] = [:]
    private(set) var shapes: [ShapeLoads] = []
    private var shapeIndices: [ShapeEntry: Int] = [:]
    var scopes: [ScopeSummary.Key: ScopeSummary] = [:]
    /// The evidence of the detectors.
    package var evidence = EvidenceStore()
    /// The recordings in which each finding occurs, by the finding's signature.
    var findings: [String: FindingTally] = [:]
    /// The changes made by saves, by entity name.
    var changes: [String: EntityChanges] = [:]
    /// Trips of any shape: unbatched fetches, batches, and faults that went to the store.
    var loads = LoadSample()
    /// Saves, by the number of changed objects, without waits for others.
    var saveLoads = LoadSample()
    /// Statements that read rows, for traces that have nothing else.
    var statements = LoadSample()
    /// Trips that were measured in a separate store on the machine that recorded the trace.
    var calibration = LoadSample()
    /// The costs of basic steps on that machine, by the names of ``CalibrationEntry/Step``.
    var steps: [String: StepSum] = [:]
    /// The use of to-one relationships' destinations.
    var destinationUses: [FetchProfile.Edge: DestinationUse] = [:]
    /// The indexes, by table name.
    var indexes: [String: TableIndexes] = [:]
    /// The entities, by name.
    var model: [String: EntityEntry] = [:]

    /// Trips of one shape.
    package struct ShapeLoads: KeyedSum {
        package var shape: ShapeEntry
        var recordings: UInt64 = 1
        /// Whether the shape searches texts row by row.
        ///
        /// The time this takes says nothing about the cost of trips and rows.
        let isSearch: Bool
        /// Loads of whole rows: unbatched fetches and batches.
        package var rows = LoadSample()
        /// Loads of identities only: batched fetches.
        package var identities = LoadSample()

        init(_ shape: ShapeEntry) {
            self.shape = shape
            isSearch = shape.isSearch
        }

        var key: ShapeEntry {
            get { shape }
            set { shape = newValue }
        }

        package static let parts: [SumPart<ShapeLoads>] = [.part("rows", \.rows), .part("identities", \.identities)]
    }

    mutating func group(_ key: EventGroup.Key) -> Int {
        if let index = groupIndices[key] { return index }
        groups.append(EventGroup(key))
        groupIndices[key] = groups.count - 1
        return groups.count - 1
    }

    mutating func fetch(_ key: FetchProfile.Key) -> Int {
        if let index = fetchIndices[key] { return index }
        fetches.append(FetchProfile(key))
        fetchIndices[key] = fetches.count - 1
        return fetches.count - 1
    }

    mutating func shape(_ shape: ShapeEntry) -> Int {
        if let index = shapeIndices[shape] { return index }
        shapes.append(ShapeLoads(shape))
        shapeIndices[shape] = shapes.count - 1
        return shapes.count - 1
    }

    mutating func changeGroup(_ index: Int, _ change: (inout EventGroup) -> Void) { change(&groups[index]) }
    mutating func changeFetch(_ index: Int, _ change: (inout FetchProfile) -> Void) { change(&fetches[index]) }
    mutating func changeShape(_ index: Int, _ change: (inout ShapeLoads) -> Void) { change(&shapes[index]) }

    func loads(of shape: ShapeEntry) -> ShapeLoads? { shapeIndices[shape].map { shapes[$0] } }
    func fetch(at key: FetchProfile.Key) -> FetchProfile? { fetchIndices[key].map { fetches[$0] } }

    /// Adds a trip of any shape, unless its values are large.
    mutating func insert(_ load: Load, hash: UInt64) {
        if !load.isLarge { loads.insert(load, hash: hash) }
    }

    mutating func insert(_ entry: CalibrationEntry, of process: UInt32) {
        for (number, trip) in entry.trips.enumerated() {
            let load = Load(rows: trip.rows, bytes: trip.bytes, duration: trip.duration)
            calibration.insert(load, hash: StableHash.event(process: process, id: EventID(number)))
        }
        for step in CalibrationEntry.Step.allCases {
            guard let measured = entry.steps?[step.rawValue].flatMap(StepSum.init) else { continue }
            steps[step.rawValue, default: StepSum()].merge(measured)
        }
    }

    /// Removes the values of requests and statements, which a trace has only if they were asked for.
    mutating func removeValues() {
        for index in fetches.indices { fetches[index].sample.removeValues() }
        evidence.removeValues()
    }

    mutating func insert(_ plan: PlanEntry) {
        for step in plan.rows {
            if let table = step.table, step.indexes?.isEmpty == false {
                indexes[table, default: TableIndexes()].insert(step)
            }
        }
    }

    mutating func insert(_ use: DestinationUseEntry) {
        let edge = FetchProfile.Edge(entity: use.entity, name: use.relationship)
        destinationUses[edge, default: DestinationUse()].insert(use)
    }

    /// Inserts an entity.
    ///
    /// Of two entities with the same name, it keeps the one with more properties, in either order, and the lower limit
    /// of the row cache, because the trace does not show which store an object belongs to.
    mutating func insert(_ entity: EntityEntry) {
        guard let old = model[entity.name] else {
            model[entity.name] = entity
            return
        }
        let order = { (entry: EntityEntry) in (entry.properties.count, entry.text) }
        var kept = order(old) >= order(entity) ? old : entity
        kept.rowCacheLimit = [old.rowCacheLimit, entity.rowCacheLimit].compactMap { $0 }.min()
        model[entity.name] = kept
    }
}

extension ProfileTables: Summed {
    /// All but the evidence, whose parts depend on the detectors.
    package static let parts: [SumPart<ProfileTables>] = [
        sums("groups", of: \.groups) { $0.insert($1) }, sums("fetches", of: \.fetches) { $0.insert($1) },
        sums("shapeLoads", of: \.shapes) { $0.insert($1) },
        sums("scopeSums", of: \.scopeList) { $0.insert($1) },
        .part("destinationUses", \.destinationUses), .part("indexes", \.indexes),
        .part("changes", \.changes), .part("loads", \.loads),
        .part("saveLoads", \.saveLoads),
        .part("statementLoads", \.statements), .part("calibration", \.calibration),
        .part("steps", \.steps), .part("findings", \.findings), entities,
    ]

    package mutating func merge(_ other: ProfileTables) {
        mergeParts(other)
        evidence.merge(other.evidence)
    }

    /// A part for sums with keys, sorted by key.
    private static func sums<Sum: KeyedSum>(
        _ name: String, of path: any KeyPath<ProfileTables, [Sum]> & Sendable,
        _ insert: @escaping @Sendable (inout ProfileTables, Sum) -> Void
    ) -> SumPart<ProfileTables> {
        SumPart(
            name: name, merge: { tables, other in for sum in other[keyPath: path] { insert(&tables, sum) } },
            store: { tables, words in
                .list(tables[keyPath: path].ordered(on: \.key.sortText).map { $0.storedRow(&words) })
            },
            restore: { tables, value, words in
                for sum in try value.map({ try Sum(row: $0, words) }) { insert(&tables, sum) }
            })
    }

    private static let entities = SumPart<ProfileTables>(
        name: "entities", merge: { tables, other in for entity in other.model.values { tables.insert(entity) } },
        store: { tables, _ in .list(tables.model.values.ordered(on: \.name).map(\.stored)) },
        restore: { tables, value, _ in for entity in try value.map({ try EntityEntry($0) }) { tables.insert(entity) } })

    /// Rehashes the samples of a trace before it is merged with others.
    mutating func mixSamples(_ salt: UInt64) {
        loads.mix(salt)
        saveLoads.mix(salt)
        statements.mix(salt)
        calibration.mix(salt)
        for index in fetches.indices {
            changeFetch(index) {
                $0.sample.mix(salt)
                $0.pages.mix(salt)
            }
        }
        for index in shapes.indices {
            changeShape(index) {
                $0.rows.mix(salt)
                $0.identities.mix(salt)
            }
        }
    }

    private var scopeList: [ScopeSummary] { Array(scopes.values) }

    private mutating func insert(_ group: EventGroup) {
        Self.insert(group, into: &groups, &groupIndices)
    }

    private mutating func insert(_ fetch: FetchProfile) {
        Self.insert(fetch, into: &fetches, &fetchIndices)
    }

    private mutating func insert(_ loads: ShapeLoads) {
        Self.insert(loads, into: &shapes, &shapeIndices)
    }

    private mutating func insert(_ scope: ScopeSummary) {
        if scopes[scope.key]?.mergeKeyed(scope) == nil { scopes[scope.key] = scope }
    }

    private static func insert<Sum: KeyedSum>(_ sum: Sum, into sums: inout [Sum], _ indices: inout [Sum.Key: Int]) {
        if let index = indices[sum.key] {
            sums[index].mergeKeyed(sum)
        } else {
            indices[sum.key] = sums.count
            sums.append(sum)
        }
    }
}

extension ProfileTables {
    /// The mean of a number of merged recordings.
    ///
    /// What belongs to a key is the mean of the recordings that have the key, so recordings of other programs change
    /// nothing.
    func mean(of recordings: UInt64) -> ProfileTables {
        var mean = self
        mean.groups = groups.map(\.mean)
        mean.fetches = fetches.map(\.mean)
        mean.shapes = shapes.map(\.mean)
        mean.scopes = scopes.mapValues(\.mean)
        mean.evidence = evidence.mean
        mean.changes.divide(by: recordings)
        mean.loads.divide(by: recordings)
        mean.saveLoads.divide(by: recordings)
        mean.statements.divide(by: recordings)
        mean.calibration.divide(by: recordings)
        mean.steps.divide(by: recordings)
        return mean
    }
}

extension ProfileTables {
    /// The root entity of an entity's inheritance tree.
    package func tree(of entity: String) -> String { model[entity]?.root ?? entity }

    /// The entity trees that determine a shape's results and their order, or `nil` if they cannot be determined.
    func sources(of shape: ShapeEntry) -> Set<String>? {
        guard let terms = shape.terms, terms.count < ShapeEntry.maximumTerms, shape.expressions == nil,
            shape.groups == nil, !terms.contains(where: { $0.operand == "expression" })
        else { return nil }
        var trees: Set = [tree(of: shape.entity)]
        let sortKeys = shape.sort.compactMap { $0.split(separator: " ").first.map(String.init) }
        for path in terms.map(\.keyPath) + shape.prefetch + sortKeys {
            guard let reached = self.trees(on: path, from: shape.entity) else { return nil }
            trees.formUnion(reached)
        }
        return trees
    }

    /// The trees of the entities along a key path, or `nil` if the model does not have the path.
    private func trees(on path: String, from entity: String) -> Set<String>? {
        var trees: Set<String> = []
        var entity = entity
        for name in path.split(separator: ".") where name.uppercased() != "SELF" && !name.hasPrefix("@") {
            guard let property = model[entity]?.property(name) else { return nil }
            guard let destination = property.destination else { continue }
            entity = destination
            trees.insert(tree(of: destination))
        }
        return trees
    }
}
