package import FaultlineTrace

/// A trace summed up: counts, distributions and samples.
///
/// The size depends on the shapes and lines of a program, not on the number of events. A ``ProfileBuilder`` creates a
/// profile, and ``merge(_:)`` adds profiles of different traces.
public struct Profile: Sendable {
    /// Everything, in a class: copies of a structure of this size cost the compiler a tenth of its time in this module.
    private let contents: Contents

    package var tables: ProfileTables { contents.tables }
    /// All traces that were merged.
    var recordings: RecordingTable { contents.recordings }
    /// Lost events whose process is unknown.
    var lostAnywhere: UInt64 { contents.lostAnywhere }
    /// The number of lines, events and packets of the trace that could not be read.
    package var unread: UInt64 { contents.unread }
    /// The thresholds that decided what became evidence.
    package var thresholds: Thresholds { contents.thresholds }

    /// The groups of events, the longest total time first.
    package var groups: [EventGroup] { contents.groups }
    /// The scopes by name and kind, the longest total time first.
    package var scopes: [ScopeSummary] { contents.scopes }
    /// The fetches by shape and line with the use of their results, in alphabetical order.
    package var fetches: [FetchProfile] { contents.fetches }
    /// The model's entities that the trace names, in alphabetical order.
    package var entities: [EntityEntry] { contents.entities }
    var sortedEvidence: SortedEvidence { contents.sortedEvidence }

    init(
        _ tables: ProfileTables, recordings: RecordingTable, lostAnywhere: UInt64, unread: UInt64,
        thresholds: Thresholds
    ) {
        contents = Contents(
            tables: tables, recordings: recordings, lostAnywhere: lostAnywhere, unread: unread, thresholds: thresholds)
    }

    private final class Contents: Sendable {
        let tables: ProfileTables
        let recordings: RecordingTable
        let lostAnywhere: UInt64
        let unread: UInt64
        let thresholds: Thresholds
        let groups: [EventGroup]
        let scopes: [ScopeSummary]
        let fetches: [FetchProfile]
        let entities: [EntityEntry]
        let sortedEvidence: SortedEvidence

        init(
            tables: ProfileTables, recordings: RecordingTable, lostAnywhere: UInt64, unread: UInt64,
            thresholds: Thresholds
        ) {
            self.tables = tables
            self.recordings = recordings
            self.lostAnywhere = lostAnywhere
            self.unread = unread
            self.thresholds = thresholds
            groups = tables.groups.ordered {
                ($0.totalTime, $0.count, $1.key.sortText) > ($1.totalTime, $1.count, $0.key.sortText)
            }
            scopes = tables.scopes.values.ordered {
                ($0.wallTimes.total, $1.key.name, $1.key.kind.rawValue) > (
                    $1.wallTimes.total, $0.key.name, $0.key.kind.rawValue
                )
            }
            fetches = tables.fetches.ordered(on: \.key.sortText)
            entities = tables.model.values.ordered(on: \.name)
            sortedEvidence = tables.evidence.sorted
        }
    }

    /// Creates an empty profile, of no trace.
    package init() {
        self.init(
            ProfileTables(), recordings: RecordingTable(), lostAnywhere: 0, unread: 0, thresholds: Thresholds.inForce)
    }

    /// Adds the profile of another trace; see ``merge(_:)``.
    ///
    /// - Returns: Whether the profiles were made with equal thresholds. If not, nothing is added.
    package mutating func add(_ other: Profile) -> Bool {
        if recordingCount > 0, other.recordingCount > 0, thresholds != other.thresholds { return false }
        let isBoth = recordingCount > 0 && other.recordingCount > 0
        var tables = isBoth ? mixedTables() : tables
        tables.merge(isBoth ? other.mixedTables() : other.tables)
        var recordings = recordings
        recordings.merge(other.recordings)
        self = Profile(
            tables, recordings: recordings, lostAnywhere: lostAnywhere &+ other.lostAnywhere,
            unread: unread &+ other.unread, thresholds: recordingCount > 0 ? thresholds : other.thresholds)
        return true
    }

    /// The tables, with the samples of a single trace rehashed to differ from those of others.
    ///
    /// Merged profiles already are.
    private func mixedTables() -> ProfileTables {
        guard recordings.count == 1 else { return tables }
        let all = allProcesses
        let traits =
            [
                recordings.wallTime, all.counts.storeTime, all.counts.eventCount, all.counts.bytesRead, all.wallTime,
            ] + recordings.identities.sorted()
        var mixed = tables
        mixed.mixSamples(traits.reduce(0) { StableHash.mix($0 ^ $1) })
        return mixed
    }

    /// The profile without the values that `faultline record --values` recorded, as it can be passed on.
    package var withoutValues: Profile {
        var tables = tables
        tables.removeValues()
        return Profile(
            tables, recordings: recordings, lostAnywhere: lostAnywhere, unread: unread, thresholds: thresholds)
    }

    // MARK: - Contents

    /// The processes, in order of their start.
    ///
    /// Empty if more than ``RecordingTable/keptProcesses`` were merged.
    package var processes: [ProcessSummary] { recordings.processes }

    /// The summary of each program's processes, by the program's path.
    package var programs: [(path: String, sum: ProgramSummary)] {
        recordings.allPrograms.ordered(on: \.key).map { ($0.key, $0.value) }
    }

    /// The number of traces that were merged.
    package var recordingCount: UInt64 { recordings.count }

    /// The identities of the merged traces: one number each, the same in every profile of that trace.
    ///
    /// Empty for a profile of a version that did not keep them.
    package var recordingIdentities: Set<UInt64> { recordings.identities }

    /// The summary of all processes.
    package var allProcesses: ProgramSummary {
        recordings.allPrograms.values.reduce(into: ProgramSummary()) { $0.merge($1) }
    }

    /// The counts of all processes.
    public var totals: ProfileCounts { allProcesses.counts }

    /// The number of statements that read rows, if the programs have no object store that fetches them; or else `nil`.
    package var statementsWithoutOperations: UInt64? {
        let all = allProcesses
        return all.counts.outermostReads > 0 && all.lacks(.operations) ? all.counts.outermostReads : nil
    }

    /// The time from the first process's start to the last one's end, summed over all traces, in nanoseconds.
    package var wallTime: UInt64 { recordings.wallTime }

    /// The wall time, or `nil` if the trace does not show when events began.
    package var knownWallTime: UInt64? { allProcesses.lacks(.startTimes) ? nil : wallTime }

    /// The number of events that were lost because a buffer was full.
    package var lost: UInt64 { lostAnywhere &+ allProcesses.lost }

    /// The number of lines that could not be written.
    package var unwritten: UInt64 { allProcesses.unwritten }

    /// Earlier events that were removed to keep traces below their maximum size.
    package var removed: UInt64 { allProcesses.removed }

    /// Everything known to be missing: lost, unwritten and unread events, and processes without an end.
    package var missing: UInt64 { lost &+ unwritten &+ unread &+ allProcesses.unended }

    /// The CPU time spent writing the trace, in nanoseconds.
    public var writing: UInt64 { allProcesses.writing }

    /// The share of events that are not in the trace, from 0 to 1.
    package var lossShare: Double {
        let missing = lost &+ unwritten &+ unread
        return missing == 0 ? 0 : Double(missing) / Double(missing + totals.eventCount)
    }

    /// The time that recording took, on all threads together, as a share of the run's duration, from 0 to 1.
    package var overheadShare: Double {
        wallTime > 0 ? min(1, Double(allProcesses.counts.overhead) / Double(wallTime)) : 0
    }

    /// The changes made by saves, by entity name.
    package var changes: [String: EntityChanges] { tables.changes }

    /// The number of rows of an entity that were written.
    package func writes(of entity: String) -> UInt64 { tables.changes[entity]?.rows ?? 0 }

    /// The use of a to-one relationship's destinations, or `nil` if none was read or the recorder did not record it.
    package func destinationUse(of edge: FetchProfile.Edge) -> DestinationUse? { tables.destinationUses[edge] }

    /// The indexes of the tables, sorted by table name.
    package var tableIndexes: [(table: String, indexes: TableIndexes)] {
        tables.indexes.ordered(on: \.key).map { ($0.key, $0.value) }
    }

    /// An entity of the model, by name.
    package func entity(_ name: String) -> EntityEntry? { tables.model[name] }

    /// The name of the entity whose table holds an entity's rows.
    package func tree(of entity: String) -> String { tables.tree(of: entity) }

    package func scope(_ key: ScopeSummary.Key) -> ScopeSummary? { tables.scopes[key] }
    package func fetch(_ key: FetchProfile.Key) -> FetchProfile? { tables.fetch(at: key) }
    func loads(of shape: ShapeEntry) -> ProfileTables.ShapeLoads? { tables.loads(of: shape) }
    package var allShapes: [ProfileTables.ShapeLoads] { tables.shapes }
    package var loads: LoadSample { tables.loads }

    /// Trips that were measured in a separate store on the machine that recorded the trace.
    package var calibration: LoadSample { tables.calibration }
    /// The costs of basic steps on the machines that recorded the traces.
    package var steps: [String: StepSum] { tables.steps }
    package var saveLoads: LoadSample { tables.saveLoads }
    package var statements: LoadSample { tables.statements }

    /// The evidence of a detector, sorted by the text of its keys.
    package func evidence<Gatherer: EvidenceDetector>(
        of detector: Gatherer.Type
    ) -> [(key: Gatherer.Key, evidence: Gatherer.Evidence)] {
        sortedEvidence[detector]
    }

    /// The time of preparing statements outside any operation of an object store, in nanoseconds.
    ///
    /// It is not part of the store's time.
    package var statementPreparation: UInt64 {
        statementCounts.prepare
    }

    /// The counts of all statements outside any operation of an object store.
    package var statementCounts: EventGroup.Counts {
        groups.reduce(into: EventGroup.Counts()) { if $1.key.kind == .sql { $0.merge($1.counts) } }
    }
}

extension Profile {
    /// The findings of the merged recordings, by signature, or `nil` if not all recordings were examined.
    package var findingTallies: [String: FindingTally]? {
        recordingCount > 0 && recordings.examined == recordingCount ? tables.findings : nil
    }

    /// The profile of one recording with the findings of that recording, which merging adds up.
    package func examined(_ findings: [String: FindingTally]) -> Profile {
        var (tables, recordings) = (tables, recordings)
        tables.findings = findings
        recordings.examined = recordings.count
        return Profile(
            tables, recordings: recordings, lostAnywhere: lostAnywhere, unread: unread, thresholds: thresholds)
    }

    /// Whether the profile is that of one recording whose findings were not counted.
    package var isUnexamined: Bool { recordingCount == 1 && recordings.examined == 0 }

    /// One recording with the means of all: of the recordings that have a key, for what belongs to a key.
    ///
    /// Rules examine it, so that their thresholds mean the same for any number of recordings. A profile of one recording
    /// is its own mean.
    package var mean: Profile {
        guard recordingCount > 1 else { return self }
        return Profile(
            tables.mean(of: recordingCount), recordings: recordings.mean, lostAnywhere: lostAnywhere / recordingCount,
            unread: unread / recordingCount, thresholds: thresholds)
    }
}
