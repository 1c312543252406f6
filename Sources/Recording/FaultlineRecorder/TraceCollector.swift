internal import CRecorder
internal import FaultlineTrace
internal import Foundation

/// Drains the rings of other processes into one timeline, while they run and after they have ended.
///
/// `faultline record` does this while its command runs. A program that records into a directory of rings writes
/// nothing itself, and if it is killed, its recorded events are still there.
package final class TraceCollector {
    private let timeline: OpaquePointer
    private let tracePath: TracePath
    private let origin: UInt64
    private let claim: OwnedDirectory
    /// The directory in which programs create their rings, named in `FAULTLINE_TRACE`.
    package var directory: String { claim.path }
    /// The recording processes, by the names of their files.
    private var sources: [String: Source] = [:]
    /// Files of ended processes that could not be removed.
    private var kept: Set<String> = []
    private var processes = 0
    private var events: UInt64 = 0
    private var lost: UInt64 = 0
    private var withoutRing: UInt64 = 0
    private var ringFailure = ""
    /// The number of processes that were still recording when the recording ended.
    private var runningOn = 0
    /// The `errno` of the last failure to open rings.
    private var openingFailure: Int32 = 0
    /// The CPU time of this thread that is already attributed to processes.
    private var accounted: UInt64
    /// The time at which processes were last checked, in nanoseconds of `CLOCK_MONOTONIC`.
    private var lastCheck: UInt64 = 0

    /// Whether the memory of processes is recorded, and when it was last.
    private var recordsMemory = false
    private var lastReading: UInt64 = 0

    /// The interval between readings of a process's memory, in nanoseconds.
    private static let readingPeriod: UInt64 = 100_000_000

    /// The interval between these checks, in nanoseconds.
    private static let checkPeriod: UInt64 = 50_000_000

    /// The maximum size of the trace in bytes, or `nil`.
    private let maximumSize: UInt64?
    /// The size at which the oldest events are removed next, in bytes.
    private var fullSize: UInt64
    /// The `errno` of the last failure to remove them.
    private var shorteningFailure: Int32 = 0

    /// A recording process.
    private struct Source {
        let drain: OpaquePointer
        let rings: String
        /// The CPU time of writing its part of the trace, in nanoseconds.
        var writing: UInt64 = 0
        /// Whether the trace has the process's first line.
        var hasBegun = false

        var process: fl_process { fl_drain_process(drain) }
    }

    /// Creates the directory and begins the timeline.
    ///
    /// - Parameters:
    ///   - path: The timeline. If the file exists, the timeline is written beside it, and replaces it at the end of
    ///     the recording if it has events and is complete.
    ///   - scratch: Directories to try for the rings, in this order; one in memory is best.
    ///   - maximumSize: The maximum size of the timeline in bytes. When it is nearly reached, the oldest events are
    ///     removed. Names are kept, so a trace with little else can become longer.
    /// - Throws: ``RecorderError`` if the timeline cannot be written, or cannot be kept short, or no directory has room.
    package init(
        path: String, scratch: [String] = ["/dev/shm", NSTemporaryDirectory()], maximumSize: UInt64? = nil
    ) throws {
        let (tracePath, timeline) = try TracePath.open(path)
        if maximumSize != nil, !fl_timeline_limit(timeline) {
            let failure = errno
            fl_timeline_discard(timeline)
            throw RecorderError.cannotShorten(tracePath.written, errno: failure)
        }
        guard let claim = RingDirectory.make(in: scratch, writtenTo: tracePath.written) else {
            let failure = errno
            fl_timeline_discard(timeline)
            throw RecorderError.noSpace(scratch.first ?? "", errno: failure)
        }
        self.timeline = timeline
        self.tracePath = tracePath
        self.claim = claim
        self.maximumSize = maximumSize
        fullSize = maximumSize.map { $0 / 4 * 3 } ?? .max
        origin = fl_now()
        accounted = Self.threadTime()
    }

    /// The environment variables that make a program record here.
    package var environment: [String: String] {
        ["FAULTLINE_TRACE": "rings:\(directory)", "FAULTLINE_ORIGIN": String(origin)]
    }

    // MARK: - Collecting

    /// Records the memory of each process from now on, ten times a second.
    package func recordMemory() { recordsMemory = true }

    /// Writes the events recorded since the last call, and releases processes that have ended.
    ///
    /// - Returns: The number of events, which helps a caller choose the time of the next call.
    @discardableResult
    package func collect() -> UInt64 {
        let now = fl_now()
        let looks = now - lastCheck >= Self.checkPeriod
        if looks { lastCheck = now }
        let reads = recordsMemory && now - lastReading >= Self.readingPeriod
        if reads { lastReading = now }
        var events: UInt64 = 0
        for name in findRings() {
            guard let source = sources[name] else { continue }
            // Checked before the rings are drained, so no event can follow.
            if fl_drain_is_closed(source.drain) || looks && ProcessLife.hasEnded(source.process) {
                events += end(name, source, FL_PROCESS_KILLED)
            } else if begin(name) {
                if reads, let memory = ProcessMemory(of: source.process.identifier) {
                    fl_timeline_record_memory(timeline, source.drain, memory.resident, memory.proportional)
                }
                events += fl_timeline_drain(timeline, source.drain)
                sources[name]?.writing += unaccountedTime()
            }
        }
        self.events += events
        if fl_timeline_size(timeline) > fullSize { shorten() }
        return events
    }

    /// The state of a recording.
    package struct Progress: Sendable {
        package var events: UInt64
        /// The size of the trace.
        package var bytes: UInt64
        /// The number of events that were lost.
        package var lost: UInt64

        package init(events: UInt64, bytes: UInt64, lost: UInt64) {
            self.events = events
            self.bytes = bytes
            self.lost = lost
        }
    }

    package var progress: Progress? {
        let losing = sources.values.reduce(0) { $0 + fl_drain_totals($1.drain).lost }
        return Progress(events: events, bytes: fl_timeline_size(timeline), lost: lost + withoutRing + losing)
    }

    /// Removes the oldest events, so that half of the maximum size is left.
    private func shorten() {
        guard let maximumSize else { return }
        let drains: [OpaquePointer?] = sources.values.filter(\.hasBegun).map(\.drain)
        var drained: UInt64 = 0
        if !fl_timeline_shorten(timeline, maximumSize / 2, drains, UInt32(drains.count), &drained) {
            shorteningFailure = errno
            // The next attempt may also read the whole file and fail, so it comes only when the file has grown by half.
            fullSize = fl_timeline_size(timeline) / 2 * 3
        } else {
            // Copying a long list of names again for a few events would take longer than writing the events.
            fullSize = max(maximumSize / 4 * 3, fl_timeline_size(timeline) + maximumSize / 8)
        }
        events += drained
    }

    /// Opens new rings, and returns the names of all.
    private func findRings() -> [String] {
        let names = RingDirectory.rings(in: directory)
        var new: [(name: String, source: Source)] = []
        for name in names where sources[name] == nil && !kept.contains(name) {
            let rings = directory + "/" + name
            // Opening fails while the file is still incomplete; the next call tries again.
            if let drain = fl_drain_open(rings, origin) {
                new.append((name, Source(drain: drain, rings: rings)))
            } else {
                openingFailure = errno
            }
        }
        for (name, source) in new.sorted(by: { $0.source.process.start < $1.source.process.start }) {
            releasePredecessors(of: source.process)
            sources[name] = source
        }
        return names
    }

    /// Writes the first line of a process, unless it has one.
    ///
    /// Each command that a shell runs is a process that can be sampled. One that has recorded nothing is not in the trace.
    ///
    /// - Returns: Whether the trace has the line.
    private func begin(_ name: String) -> Bool {
        guard let source = sources[name] else { return false }
        if source.hasBegun { return true }
        if source.process.is_observed, fl_drain_pending(source.drain) == 0 { return false }
        fl_timeline_begin_process(timeline, source.drain, source.rings)
        sources[name]?.hasBegun = true
        processes += 1
        return true
    }

    /// Closes and removes the rings of a process.
    private func release(_ name: String, _ source: Source) {
        fl_drain_close(source.drain)
        if unlink(source.rings) != 0 { kept.insert(name) }
        sources[name] = nil
    }

    /// A process that starts a new recording may have executed another program, or may have the ID of one that ended.
    private func releasePredecessors(of process: fl_process) {
        for (name, source) in sources where source.process.isPredecessor(of: process) {
            events += end(name, source, FL_PROCESS_KILLED)
        }
    }

    /// Writes the remaining events of a process and its last line, unless it recorded nothing.
    ///
    /// - Parameter how: The way its recording ended, if the process did not close it.
    private func end(_ name: String, _ source: Source, _ how: fl_process_end) -> UInt64 {
        defer { release(name, source) }
        guard begin(name) else { return 0 }
        let isClosed = fl_drain_is_closed(source.drain)
        let ended = isClosed ? 0 : fl_now()
        // Drained first, because the last line states the cost of writing.
        let events = fl_timeline_drain(timeline, source.drain)
        fl_timeline_end_process(
            timeline, source.drain, isClosed ? FL_PROCESS_CLOSED : how, ended, source.writing + unaccountedTime())
        // If this process is killed, recovery continues from the highest offset noted in any of the rings.
        for other in sources.values where other.rings != source.rings && other.hasBegun {
            fl_timeline_note(timeline, other.drain)
        }
        let totals = fl_drain_totals(source.drain)
        lost += totals.lost - totals.without_ring
        withoutRing += totals.without_ring
        if totals.failure != 0 { ringFailure = RecorderError.reason(Int32(totals.failure)) }
        return events
    }

    private func unaccountedTime() -> UInt64 {
        let time = Self.threadTime()
        defer { accounted = time }
        return time - accounted
    }

    private static func threadTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    // MARK: - The end

    /// The result of a recording.
    package struct Outcome: Sendable {
        /// The number of processes that recorded.
        package var processes: Int
        /// The number of recorded events; `nil` if it is unknown until the trace is read.
        package var events: UInt64?
        /// The number of events lost because buffers were full.
        package var lost: UInt64 = 0
        /// The number of events lost because their threads could not get a buffer, and the reason.
        package var withoutRing: UInt64 = 0
        package var ringFailure = ""
        /// Whether processes could not be recorded at all, as a note says.
        package var hasRefusals = false
        /// The path of the trace; `nil` if there is none, because nothing was recorded and an earlier trace exists.
        package var trace: String?
        /// Sentences about the trace for the user, if any.
        package var notes: [String]
        /// Programs that ended, each with the libraries that it had loaded, as paths.
        package var programs: [[LoadedModule]] = []

        package init(processes: Int, events: UInt64? = nil, lost: UInt64 = 0, trace: String?, notes: [String]) {
            self.processes = processes
            self.events = events
            self.lost = lost
            self.trace = trace
            self.notes = notes
        }
    }

    /// Ends without a trace, leaving the file as it was.
    ///
    /// Only valid while nothing has been collected.
    package func discard() {
        fl_timeline_discard(timeline)
        claim.remove()
    }

    /// Writes the remaining events, closes the timeline and removes the rings.
    ///
    /// An earlier trace at the same path is replaced only if the new one has events and lacks no line.
    package func finish() -> Outcome {
        collect()
        for (name, source) in sources.sorted(by: { $0.key < $1.key }) {
            let runs = !fl_drain_is_closed(source.drain) && !ProcessLife.hasLeft(source.process, rings: source.rings)
            if runs, begin(name) { runningOn += 1 }
            events += end(name, source, runs ? FL_PROCESS_RUNS_ON : FL_PROCESS_KILLED)
        }
        if let maximumSize, fl_timeline_size(timeline) > maximumSize { shorten() }
        var complaints: [RecorderError] = []
        if let maximumSize, shorteningFailure != 0, fl_timeline_size(timeline) > maximumSize {
            complaints.append(.tooLong(tracePath.written, errno: shorteningFailure))
        }
        let refusals = RingDirectory.refusals(in: directory)
        if let refusals {
            complaints.append(.refused(refusals, in: (directory as NSString).deletingLastPathComponent))
        }
        let closed = RingDirectory.rings(in: directory).count { !kept.contains($0) }
        if closed > 0 { complaints.append(.closedRings(closed, in: directory, errno: openingFailure)) }
        var failure: Int32 = 0
        let unwritten = fl_timeline_finish(timeline, &failure)
        if unwritten > 0 { complaints.append(.incomplete(tracePath.written, lines: unwritten, errno: failure)) }
        var notes = complaints.map(\.message)
        if runningOn > 0 { notes.append(Self.runningNote(runningOn)) }
        let programs = RingDirectory.programs(in: directory)
        let (trace, note) = tracePath.settle(timeline, isWhole: unwritten == 0, isEmpty: events == 0)
        if let note { notes.append(note) }
        claim.remove()
        var outcome = Outcome(processes: processes, events: events, lost: lost, trace: trace, notes: notes)
        outcome.programs = programs
        outcome.hasRefusals = refusals != nil
        outcome.withoutRing = withoutRing
        outcome.ringFailure = ringFailure
        return outcome
    }

    private static func runningNote(_ count: Int) -> String {
        let processes =
            count == 1
            ? "1 process of the command is still running" : "\(count) processes of the command are still running"
        return processes + "; the trace ends where the recording ended."
    }
}
