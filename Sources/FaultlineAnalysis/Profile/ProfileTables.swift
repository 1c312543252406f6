import FaultlineTrace

/// What is left of events after they were reduced.
///
/// Tables of parts add up in any order.
struct ProfileTables: Sendable {
    private(set) var groups: [EventGroup] = []
    private var groupIndices: [EventGroup.Key: Int] = [:]
    private(set) var fetches: [FetchProfile] = []
    private var fetchIndices: [FetchProfile.Key: Int] = [:]
    private(set) var shapes: [ShapeLoads] = []
    private var shapeIndices: [ShapeEntry: Int] = [:]
    var scopes: [ScopeSummary.Key: ScopeSummary] = [:]
    /// What detectors found.
    var evidence = EvidenceStore()
    /// What was saved, by the entity's name.
    var changes: [String: EntityChanges] = [:]
    /// Trips of any shape: unbatched fetches, batches and faults that went to the store.
    var loads = LoadSample()
    /// Saves, by the objects that they changed, without waiting for others.
    var saveLoads = LoadSample()
    /// Statements that read, for traces that have nothing else.
    var statements = LoadSample()
    /// Trips that were measured where the trace was recorded, in a store of their own.
    var calibration = LoadSample()
    /// What basic steps took there, by the names of ``CalibrationEntry/Step``.
    var steps: [String: StepSum] = [:]
    /// What was done with the objects at the other ends of to-one relationships.
    var destinationUses: [FetchProfile.Edge: DestinationUse] = [:]
    /// Indexes by their table's name.
    var indexes: [String: TableIndexes] = [:]
    /// Entities by name.
    var model: [String: EntityEntry] = [:]

    /// Trips of one shape.
    struct ShapeLoads: KeyedSum {
        var shape: ShapeEntry
        /// Whether it searches texts row by row: what that takes says nothing of what trips and rows cost.
        let isSearch: Bool
        /// Whole rows: unbatched fetches and batches.
        var rows = LoadSample()
        /// Identities only: the fetches that batches belong to.
        var identities = LoadSample()

        init(_ shape: ShapeEntry) {
            self.shape = shape
            isSearch = shape.terms?.contains { TextSearchRemedy($0) != nil } ?? false
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

    /// Takes in a trip of any shape, but for one of large values.
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

    /// Takes in an entity.
    ///
    /// Of two with one name the one with more properties stays, in whatever order they come, and the lower limit of the
    /// row cache: of several stores nobody knows which an object is of.
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
