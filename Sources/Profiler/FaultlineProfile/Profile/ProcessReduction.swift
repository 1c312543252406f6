internal import FaultlineTrace

/// Reduces the events of one process to tables, with bounded memory for open entries.
struct ProcessReduction: Sendable {
    var context: ProcessContext
    private var accounts = EventAccounts()
    private(set) var detectors: [any Detector]
    /// The positions of the detectors that observe a kind of event, by the kind's raw value.
    private let observing: [[Int]]

    init(process: UInt32, _ detectors: Detectors) {
        context = ProcessContext(process: process)
        self.detectors = detectors.all.map { $0.init() }
        observing = detectors.observing
    }

    mutating func insert(_ entry: DictionaryEntry, id: DictionaryID, into tables: inout ProfileTables) {
        if case .destinationUse(let use) = entry { return tables.insert(use) }
        switch entry {
        case .entity(let entity): tables.insert(entity)
        case .plan(let plan): tables.insert(plan)
        default: break
        }
        if context.insert(entry, id: id) { accounts.forgetGroups() }
    }

    mutating func add(_ event: TraceEvent, to tables: inout ProfileTables) {
        guard context.isMainQueue(event) else { return take(event, to: &tables) }
        var event = event
        event.isMainThread = true
        take(event, to: &tables)
    }

    private mutating func take(_ event: TraceEvent, to tables: inout ProfileTables) {
        context.begin(event, in: &tables)
        for position in observing[Int(event.kind.rawValue)] {
            detectors[position].observe(event, in: &context, &tables)
        }
        addWallTimes()
        if event.kind.isWork { accounts.add(event, in: &context, &tables) }
    }

    /// Adds all open entries to the tables.
    mutating func finish(into tables: inout ProfileTables) {
        for position in detectors.indices { detectors[position].finish(in: &context, &tables) }
        context.finish(into: &tables)
        for detector in detectors {
            if let gatherer = detector as? any EvidenceDetector { tables.evidence.add(gatherer) }
        }
        detectors = []
    }

    /// Adds the wall times of scopes that have just ended to evidence that was found in them earlier.
    private mutating func addWallTimes() {
        guard !context.endedWallTimes.isEmpty else { return }
        for payment in context.endedWallTimes {
            for position in detectors.indices {
                detectors[position].add(wallTime: payment.wallTime, to: payment.evidence)
            }
        }
        context.endedWallTimes = []
    }
}
