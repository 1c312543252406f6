import FaultlineTrace

/// The tables that events are reduced to.
///
/// Tables can be merged in any order.
struct ProfileTables: Sendable {
    private(set) var groups: [EventGroup] = []
    private var groupIndices: [EventGroup.Key: Int] = [:]
    private(set) var fetches: [FetchProfile] = []
    private var fetchIndices: [FetchProfile.Key: Int] = [:]
    private(set) var shapes: [ShapeLoads] = []
    private var shapeIndices: [ShapeEntry: Int] = [:]
    var scopes: [ScopeSummary.Key: ScopeSummary] = [:]
    /// The evidence of the detectors.
    var evidence = EvidenceStore()
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
    struct ShapeLoads: KeyedSum {
        var shape: ShapeEntry
        /// Whether the shape searches texts row by row.
        ///
        /// The time this takes says nothing about the cost of trips and rows.
        let isSearch: Bool
        /// Loads of whole rows: unbatched fetches and batches.
        var rows = LoadSample()
        /// Loads of identities only: batched fetches.
        var identities = LoadSample()

        init(_ shape: ShapeEntry) {
            self.shape = shape
            isSearch = shape.isSearch
        }

        var key: ShapeEntry {
            get { shape }
            set { shape = newValue }
        }

        static let parts: [SumPart<ShapeLoads>] = [.part("rows", \.rows), .part("identities", \.identities)]
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
