public import FaultlineTrace

/// A trace summed up: counts, distributions and samples whose size follows the shapes and lines of a program and not
/// the number of its events.
///
/// A ``ProfileBuilder`` makes it. Profiles of different traces are values that ``merge(_:)``.
public struct Profile: Sendable {
    let tables: ProfileTables
    /// All traces that were added up.
    let recordings: RecordingTable
    /// Events that were lost on the way, and nobody knows whose they were.
    let lostAnywhere: UInt64
    /// Lines, events and packets of the trace that could not be read.
    public let unread: UInt64
    /// The numbers that decided what became evidence.
    public let thresholds: Thresholds

    /// Events that did the same from the same place, the longest total first.
    public let groups: [EventGroup]
    /// Scopes by name and kind, the longest total first.
    public let scopes: [ScopeSummary]
    /// Fetches by shape and line, with the use of their results, in alphabetical order.
    public let fetches: [FetchProfile]
    /// The entities of the model that the trace names, in alphabetical order.
    public let entities: [EntityEntry]
    let sortedEvidence: SortedEvidence

    init(
        _ tables: ProfileTables, recordings: RecordingTable, lostAnywhere: UInt64, unread: UInt64,
        thresholds: Thresholds
    ) {
        self.tables = tables
        self.recordings = recordings
        self.lostAnywhere = lostAnywhere
        self.unread = unread
        self.thresholds = thresholds
        groups = tables.groups.sorted { ($0.totalTime, $1.key.sortText) > ($1.totalTime, $0.key.sortText) }
        scopes = tables.scopes.values.sorted {
            ($0.wallTimes.total, $1.key.name, $1.key.kind.rawValue) > (
                $1.wallTimes.total, $0.key.name, $0.key.kind.rawValue
            )
        }
        fetches = tables.fetches.map { ($0.key.sortText, $0) }.sorted { $0.0 < $1.0 }.map(\.1)
        entities = tables.model.values.sorted { $0.name < $1.name }
        sortedEvidence = SortedEvidence(tables.evidence)
    }

    /// The profile of no trace.
    public init() { self.init([]) }

    /// Adds another profile, of another trace.
    ///
    /// In whatever order and grouping profiles are added, the result is the same. Its size follows the programs and not
    /// the number of traces.
    ///
    /// - Throws: ``ProfileMergeError`` if they were made with different thresholds: what became evidence in one did not in
    ///   the other. A profile of no trace can be added to any.
    public mutating func merge(_ other: Profile) throws(ProfileMergeError) {
        if recordingCount > 0, other.recordingCount > 0, thresholds != other.thresholds {
            throw ProfileMergeError(differing: thresholds.differences(from: other.thresholds))
        }
        let isBoth = recordingCount > 0 && other.recordingCount > 0
        var tables = isBoth ? mixedTables() : tables
        tables.merge(isBoth ? other.mixedTables() : other.tables)
        var recordings = recordings
        recordings.merge(other.recordings)
        self = Profile(
            tables, recordings: recordings, lostAnywhere: lostAnywhere &+ other.lostAnywhere,
            unread: unread &+ other.unread, thresholds: recordingCount > 0 ? thresholds : other.thresholds)
    }

    /// The tables with the samples of one trace told from those of the others that it is added to; those of several are told
    /// already.
    private func mixedTables() -> ProfileTables {
        guard recordings.count == 1 else { return tables }
        let all = allProcesses
        let traits = [
            recordings.wallTime, all.counts.storeTime, all.counts.eventCount, all.counts.bytesRead, all.wallTime,
        ]
        var mixed = tables
        mixed.mixSamples(traits.reduce(0) { StableHash.mix($0 ^ $1) })
        return mixed
    }

    // MARK: - What was found

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
    public var totals: ProfileCounts { allProcesses.counts }

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
