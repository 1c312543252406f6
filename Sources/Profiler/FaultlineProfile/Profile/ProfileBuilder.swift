public import FaultlineTrace

/// Sums up a trace, message by message.
///
/// Messages arrive in the reader's order. For each process, its start comes first, then its dictionary, then its
/// events. The interleaving of different processes does not matter.
///
///     var builder = ProfileBuilder()
///     for message in messages { builder.add(message) }
///     let analysis = Analysis(builder.finish())
public struct ProfileBuilder: Sendable {
    /// The thresholds that decide what becomes evidence.
    package let thresholds: Thresholds

    private let detectors: Detectors
    private var tables = ProfileTables()
    private var reductions: [UInt32: ProcessReduction] = [:]
    private var lostAnywhere: UInt64 = 0
    private var unread: UInt64 = 0
    /// Whether the thresholds differ from those in force.
    private let hasOwnThresholds: Bool

    package init(_ detectors: Detectors, thresholds: Thresholds?) {
        self.detectors = detectors
        self.thresholds = thresholds ?? Thresholds.inForce
        hasOwnThresholds = self.thresholds != Thresholds.inForce
    }

    /// Adds a message.
    ///
    /// - Complexity: O(1) amortised, apart from the lists of `use` events.
    public mutating func add(_ message: TraceMessage) {
        if hasOwnThresholds { thresholds.apply { reduce(message) } } else { reduce(message) }
    }

    /// Adds lines, events or packets of the trace that could not be read.
    ///
    /// The counts are too low by this number.
    package mutating func addUnread(_ count: UInt64) { unread &+= count }

    /// Sums up open entries, such as scopes without an end and fetches whose objects might still fire.
    ///
    /// The builder is empty afterward.
    public mutating func finish() -> Profile {
        if hasOwnThresholds { return thresholds.apply { close() } }
        return close()
    }

    private mutating func close() -> Profile {
        var summaries: [ProcessSummary] = []
        for process in reductions.keys.sorted() {
            guard var reduction = reductions.removeValue(forKey: process) else { continue }
            reduction.finish(into: &tables)
            summaries.append(reduction.context.summary)
        }
        var recordings = RecordingTable()
        recordings.add(summaries)
        defer { (tables, lostAnywhere, unread) = (ProfileTables(), 0, 0) }
        return Profile(
            tables, recordings: recordings, lostAnywhere: lostAnywhere, unread: unread, thresholds: thresholds)
    }

    private mutating func reduce(_ message: TraceMessage) {
        switch message {
        case .began(let began):
            change(began.process) { reduction, _ in
                reduction.context.summary.program = began.program
                reduction.context.summary.isApp = began.isApp ?? false
                reduction.context.summary.library = StatementLibrary(began.source)
                reduction.context.summary.usesCoreData = began.source == .sqlDebug || began.source == .instruments
                reduction.context.summary.date = began.date
                reduction.context.summary.gaps = Set(began.gaps ?? [])
                reduction.context.summary.removed = began.removed ?? 0
                reduction.context.summary.start = began.start
                reduction.context.summary.end = max(reduction.context.summary.end, began.start)
            }
        case .entry(let process, _, .calibration(let entry)):
            // A calibration belongs to the machine, not to the recorded process.
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

    private mutating func change(_ process: UInt32, _ change: (inout ProcessReduction, inout ProfileTables) -> Void) {
        if let index = reductions.index(forKey: process) {
            change(&reductions.values[index], &tables)
        } else {
            var reduction = ProcessReduction(process: process, detectors)
            change(&reduction, &tables)
            reductions[process] = reduction
        }
    }
}

/// The error for two profiles that cannot be merged.
package struct ProfileMergeError: Error, Sendable, Hashable {
    /// The thresholds that differ, by rule and name: `"R10 minimumSaves"`.
    package let differing: [String]

    package init(differing: [String]) { self.differing = differing }

    /// The reason, in words that follow the files' names: `"were made with different thresholds (R10 minimumSaves)"`.
    package var reason: String { "were made with different thresholds (\(differing.joined(separator: ", ")))" }
}
