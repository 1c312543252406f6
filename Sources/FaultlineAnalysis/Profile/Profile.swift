public import FaultlineTrace

/// A trace summed up: counts, distributions and samples whose size follows the shapes and lines of a program and not
/// the number of its events.
///
/// Messages are added one by one, in the order in which the reader gives them: of each process first where it began and
/// its dictionary, then its events. How messages of different processes are interleaved makes no difference. Profiles
/// of different traces are values that ``merge(_:)``.
///
///     var profile = Profile()
///     for message in messages { profile.add(message) }
///     let analysis = Analysis(profile)
public struct Profile: Sendable {
    private(set) var tables = ProfileTables()
    private var reductions: [UInt32: ProcessReduction] = [:]
    /// Processes of this trace that are reduced.
    private var finished: [ProcessSummary] = []
    /// Events that were lost on the way, and nobody knows whose they were.
    private(set) var lostAnywhere: UInt64 = 0
    /// Lines, events and packets of the trace that could not be read.
    public private(set) var unread: UInt64 = 0
    /// Other traces that were added.
    private var others = RecordingTable()

    public init() {}

    /// Takes in a message.
    ///
    /// - Complexity: O(1) amortised, apart from the lists of `use` events.
    public mutating func add(_ message: TraceMessage) {
        switch message {
        case .began(let began):
            change(began.process) { reduction, _ in
                reduction.context.summary.program = began.program
                reduction.context.summary.source = began.source
                reduction.context.summary.date = began.date
                reduction.context.summary.gaps = Set(began.gaps ?? [])
                reduction.context.summary.start = began.start
                reduction.context.summary.end = max(reduction.context.summary.end, began.start)
            }
        case .entry(let process, _, .calibration(let entry)):
            // It is the machine's, and of no process that was recorded.
            tables.insert(entry, of: process)
        case .entry(let process, let id, let entry):
            change(process) { $0.insert(entry, id: id, into: &$1) }
        case .event(let event):
            change(event.process) { $0.add(event, to: &$1) }
        case .lost(let loss) where loss.process == 0:
            lostAnywhere &+= loss.events
            for process in reductions.keys { change(process) { reduction, _ in reduction.context.loseAnywhere() } }
        case .lost(let loss):
            change(loss.process) { reduction, _ in reduction.context.lose(loss) }
        case .ended(let ended):
            change(ended.process) { reduction, _ in
                reduction.context.summary.ended = ended
                reduction.context.summary.end = max(reduction.context.summary.end, ended.end)
            }
        }
    }

    /// Notes lines, events or packets of the trace that could not be read: what was counted is too low by them.
    public mutating func noteUnread(_ count: UInt64) { unread &+= count }

    /// Sums up what is still open: scopes that were not closed, fetches whose objects may yet fire.
    ///
    /// ``Analysis`` does it with its own copy. Messages that come later are reduced apart from those before.
    public mutating func finish() {
        for process in reductions.keys.sorted() {
            guard var reduction = reductions.removeValue(forKey: process) else { continue }
            reduction.finish(into: &tables)
            finished.append(reduction.context.summary)
        }
    }

    /// Adds another profile, of another trace.
    ///
    /// In whatever order and grouping profiles are added, the result is the same. Its size follows the programs and not
    /// the number of traces.
    public mutating func merge(_ other: Profile) {
        finish()
        var other = other
        other.finish()
        if recordingCount > 0, other.recordingCount > 0 {
            mixSamples()
            other.mixSamples()
        }
        others = recordings(with: other.recordings)
        finished = []
        tables.merge(other.tables)
        lostAnywhere &+= other.lostAnywhere
        unread &+= other.unread
    }

    /// Tells the samples of one trace from those of the others that it is added to; those of several are told already.
    private mutating func mixSamples() {
        let recordings = recordings
        guard recordings.count == 1 else { return }
        let all = allProcesses
        let traits = [
            recordings.wallTime, all.counts.storeTime, all.counts.eventCount, all.counts.bytesRead, all.wallTime,
        ]
        tables.mixSamples(traits.reduce(0) { StableHash.mix($0 ^ $1) })
    }

    /// A profile of what a file holds.
    init(_ tables: ProfileTables, recordings: RecordingTable, lostAnywhere: UInt64, unread: UInt64) {
        self.tables = tables
        others = recordings
        self.lostAnywhere = lostAnywhere
        self.unread = unread
    }

    /// All traces that were added up, this one included.
    var recordings: RecordingTable { recordings(with: RecordingTable()) }

    private func recordings(with more: RecordingTable) -> RecordingTable {
        var table = others
        table.add(finished + reductions.values.map(\.context.summary))
        table.merge(more)
        return table
    }

    private mutating func change(_ process: UInt32, _ change: (inout ProcessReduction, inout ProfileTables) -> Void) {
        if let index = reductions.index(forKey: process) {
            change(&reductions.values[index], &tables)
        } else {
            var reduction = ProcessReduction(process: process)
            change(&reduction, &tables)
            reductions[process] = reduction
        }
    }

    // MARK: What was found

    /// The processes, in the order of their beginning; none, if more than ``RecordingTable/keptProcesses`` were added up.
    public var processes: [ProcessSummary] { recordings.processes }

    /// What the processes of each program did, by the program's path.
    public var programs: [(path: String, sum: ProgramSummary)] {
        recordings.allPrograms.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// How many traces were added up.
    public var recordingCount: UInt64 { recordings.count }

    /// Which traces were added up: a number for each, the same in every profile of that trace.
    ///
    /// Empty for a profile of a version that did not keep them.
    public var recordingIdentities: Set<UInt64> { recordings.identities }

    /// All processes together.
    public var allProcesses: ProgramSummary {
        recordings.allPrograms.values.reduce(into: ProgramSummary()) { $0.merge($1) }
    }

    /// What all processes did, together.
    public var totals: StoreCounts { allProcesses.counts }

    /// From the first process's beginning to the last one's end, over all traces that were added up, in nanoseconds.
    public var wallTime: UInt64 { recordings.wallTime }

    /// Events that were lost because a buffer was full.
    public var lost: UInt64 { lostAnywhere &+ allProcesses.lost }

    /// Lines that could not be written.
    public var unwritten: UInt64 { allProcesses.unwritten }

    /// Everything that is known to be missing: what was lost, not written or not read, and processes without an end.
    public var missing: UInt64 { lost &+ unwritten &+ unread &+ allProcesses.unended }

    /// CPU time of writing the trace, in nanoseconds.
    public var writing: UInt64 { allProcesses.writing }

    /// The share of events that are not in the trace, 0…1.
    public var lossShare: Double {
        let missing = lost &+ unwritten &+ unread
        return missing == 0 ? 0 : Double(missing) / Double(missing + totals.eventCount)
    }

    /// What recording took of the time of the threads that were recorded; 0…1.
    public var overheadShare: Double {
        let all = allProcesses
        return all.threadTime > 0 ? min(1, Double(all.counts.overhead) / Double(all.threadTime)) : 0
    }

    /// Events that did the same from the same place, the longest total first.
    public var groups: [EventGroup] {
        tables.groups.sorted { ($0.totalTime, $1.key.sortText) > ($1.totalTime, $0.key.sortText) }
    }

    /// Scopes by name and kind, the longest total first.
    ///
    /// Complete after ``finish()``.
    public var scopes: [ScopeSummary] {
        tables.scopes.values.sorted {
            ($0.wallTimes.total, $1.key.name, $1.key.kind.rawValue) > (
                $1.wallTimes.total, $0.key.name, $0.key.kind.rawValue
            )
        }
    }

    /// Fetches by shape and line, with the use of their results, in alphabetical order.
    public var fetches: [FetchProfile] {
        tables.fetches.sorted { $0.key.sortText < $1.key.sortText }
    }

    /// Faults that went to the store one by one.
    ///
    /// Complete after ``finish()``.
    public var faults: [(key: FaultEvidence.Key, evidence: FaultEvidence)] {
        evidence(of: FaultDetector.self)
    }

    /// Fetches that were made in a loop.
    ///
    /// Complete after ``finish()``.
    public var loops: [(key: LoopEvidence.Key, evidence: LoopEvidence)] {
        evidence(of: LoopDetector.self)
    }

    /// Objects that were looked up one by one.
    ///
    /// Complete after ``finish()``.
    public var lookUps: [(key: LookUpEvidence.Key, evidence: LookUpEvidence)] {
        evidence(of: LookUpDetector.self)
    }

    /// The fetches of one loop.
    package func loop(_ key: LoopEvidence.Key) -> LoopEvidence? { tables.evidence[LoopDetector.self][key] }

    /// Saves that were too small or too large.
    ///
    /// Complete after ``finish()``.
    public var saves: [(key: SaveEvidence.Key, evidence: SaveEvidence)] {
        evidence(of: SaveDetector.self)
    }

    /// Fetches that were made again although nothing had changed.
    ///
    /// Complete after ``finish()``.
    public var repeats: [(key: FetchProfile.Key, evidence: RepeatEvidence)] {
        evidence(of: RepeatDetector.self)
    }

    /// Waits for queues and locks.
    ///
    /// Complete after ``finish()``.
    public var waits: [(key: WaitEvidence.Key, evidence: WaitEvidence)] {
        evidence(of: WaitDetector.self)
    }

    /// What kept main threads from drawing.
    ///
    /// Complete after ``finish()``.
    public var blocks: [(key: BlockEvidence.Key, evidence: BlockEvidence)] {
        evidence(of: BlockDetector.self)
    }

    /// Faults that went to the store, and whether their rows had been in memory.
    public var refaults: [(key: RefaultEvidence.Key, evidence: RefaultEvidence)] {
        evidence(of: RefaultDetector.self)
    }

    /// Large objects that kept their values beyond their scope.
    ///
    /// Complete after ``finish()``.
    public var holds: [(key: HoldEvidence.Key, evidence: HoldEvidence)] {
        evidence(of: HoldDetector.self)
    }

    /// What a detector found, in alphabetical order.
    ///
    /// Complete after ``finish()``.
    func evidence<Gatherer: EvidenceDetector>(
        of detector: Gatherer.Type
    ) -> [(key: Gatherer.Key, evidence: Gatherer.Evidence)] {
        tables.evidence[detector].map { ($0.key, $0.value) }.sorted { $0.0.sortText < $1.0.sortText }
    }

    /// What saves changed, by the entity's name.
    public var changes: [String: EntityChanges] { tables.changes }

    /// Rows of an entity that were written.
    func writes(of entity: String) -> UInt64 { tables.changes[entity]?.rows ?? 0 }

    /// What was done with the objects that a to-one relationship leads to; `nil`: none was read, or an older recorder does
    /// not tell.
    func destinationUse(of edge: FetchProfile.Edge) -> DestinationUse? { tables.destinationUses[edge] }

    /// What indexes the tables have, in the order of the tables' names.
    var tableIndexes: [(table: String, indexes: TableIndexes)] {
        tables.indexes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The entities of the model that the trace names, in alphabetical order.
    public var entities: [EntityEntry] { tables.model.values.sorted { $0.name < $1.name } }

    /// An entity of the model, by name.
    public func entity(_ name: String) -> EntityEntry? { tables.model[name] }

    /// The entity whose table has an entity's rows, by name.
    func tree(of entity: String) -> String { tables.tree(of: entity) }

    func scope(_ key: ScopeSummary.Key) -> ScopeSummary? { tables.scopes[key] }
    package func fetch(_ key: FetchProfile.Key) -> FetchProfile? { tables.fetch(at: key) }
    func loads(of shape: ShapeEntry) -> ProfileTables.ShapeLoads? { tables.loads(of: shape) }
    var allShapes: [ProfileTables.ShapeLoads] { tables.shapes }
    var loads: LoadSample { tables.loads }

    /// Trips that were measured where the trace was recorded, in a store of their own.
    var calibration: LoadSample { tables.calibration }
    /// What basic steps took on the machines of the traces.
    var steps: [String: StepSum] { tables.steps }
    var saveLoads: LoadSample { tables.saveLoads }
    var statements: LoadSample { tables.statements }
}
