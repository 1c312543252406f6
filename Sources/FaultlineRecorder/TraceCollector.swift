internal import CRecorder
internal import Foundation

/// Drains the rings of other processes into one timeline, while they run and when they have ended.
///
/// This is what `faultline record` does beside the command that it runs: a program that records into a directory of
/// rings has nothing to write itself, and what it had recorded when it was killed is still there.
package final class TraceCollector {
    private let timeline: OpaquePointer
    private let place: TracePlace
    private let origin: UInt64
    private let claim: OwnedDirectory
    /// The directory in which programs make their rings; the value of `FAULTLINE_TRACE` names it.
    package var directory: String { claim.path }
    /// The processes that record, by the names of their files.
    private var sources: [String: Source] = [:]
    /// Files of processes that have ended and whose files could not be removed.
    private var kept: Set<String> = []
    private var processes = 0
    private var events: UInt64 = 0
    private var lost: UInt64 = 0
    /// Processes that went on recording when the recording was ended.
    private var runningOn = 0
    /// Why rings could not be opened the last time that one could not.
    private var openingFailure: Int32 = 0
    /// CPU time of this thread up to which it was put down to some process.
    private var accounted: UInt64
    /// When was last looked whether processes still run, in nanoseconds of `CLOCK_MONOTONIC`.
    private var lookedAt: UInt64 = 0

    /// How often that is looked at.
    private static let lookingPeriod: UInt64 = 50_000_000

    /// One process that records.
    private struct Source {
        let drain: OpaquePointer
        let rings: String
        /// CPU time of writing its part of the trace.
        var writing: UInt64 = 0

        var process: fl_process { fl_drain_process(drain) }
    }

    /// Makes the directory and begins the timeline.
    ///
    /// - Parameters:
    ///   - path: The timeline. A file that is there is replaced when the recording has ended, by a recording that has
    ///     events and is whole; until then the timeline is written beside it.
    ///   - scratch: Directories to try for the rings, in this order; one in memory is best.
    /// - Throws: ``RecorderError`` if the timeline cannot be written or no directory has room.
    package init(path: String, scratch: [String] = ["/dev/shm", NSTemporaryDirectory()]) throws {
        let (place, timeline) = try TracePlace.open(path)
        guard let claim = RingDirectory.make(in: scratch, tellingOf: place.written) else {
            let failure = errno
            fl_timeline_discard(timeline)
            throw RecorderError.noSpace(scratch.first ?? "", errno: failure)
        }
        self.timeline = timeline
        self.place = place
        self.claim = claim
        origin = fl_now()
        accounted = Self.threadTime()
    }

    /// What a program needs in its environment to be recorded here.
    package var environment: [String: String] {
        ["FAULTLINE_TRACE": "rings:\(directory)", "FAULTLINE_ORIGIN": String(origin)]
    }

    // MARK: - Collecting

    /// Takes in what has been recorded since the last time, and lets go of processes that have ended.
    ///
    /// - Returns: The number of events, from which a caller can tell how soon to come again.
    @discardableResult
    package func collect() -> UInt64 {
        let now = fl_now()
        let looks = now - lookedAt >= Self.lookingPeriod
        if looks { lookedAt = now }
        var events: UInt64 = 0
        for name in findRings() {
            guard let source = sources[name] else { continue }
            // Asked before the rings are drained, so that nothing comes behind that.
            if fl_drain_is_closed(source.drain) || looks && ProcessLife.hasEnded(source.process) {
                events += end(name, source, FL_PROCESS_KILLED)
            } else {
                events += fl_timeline_drain(timeline, source.drain)
                sources[name]?.writing += unaccountedTime()
            }
        }
        self.events += events
        return events
    }

    /// Opens rings that are new, and returns the names of all.
    private func findRings() -> [String] {
        let names = RingDirectory.rings(in: directory)
        var new: [(name: String, source: Source)] = []
        for name in names where sources[name] == nil && !kept.contains(name) {
            let rings = directory + "/" + name
            // A file that is not whole yet is none of ours yet.
            if let drain = fl_drain_open(rings, origin) {
                new.append((name, Source(drain: drain, rings: rings)))
            } else {
                openingFailure = errno
            }
        }
        for (name, source) in new.sorted(by: { $0.source.process.start < $1.source.process.start }) {
            letGoOfPredecessors(of: source.process)
            fl_timeline_begin_process(timeline, source.drain, source.rings)
            sources[name] = source
            processes += 1
        }
        return names
    }

    /// A process that records anew may have become another program, or got the number of one that has ended.
    private func letGoOfPredecessors(of process: fl_process) {
        for (name, source) in sources where source.process.isPredecessor(of: process) {
            events += end(name, source, FL_PROCESS_KILLED)
        }
    }

    /// Takes in what is left of a process and writes its last line.
    ///
    /// - Parameter how: How it stopped being recorded, if it did not close its recording itself.
    private func end(_ name: String, _ source: Source, _ how: fl_process_end) -> UInt64 {
        let isClosed = fl_drain_is_closed(source.drain)
        let ended = isClosed ? 0 : fl_now()
        // Drained before its last line is written, which says what that cost.
        let events = fl_timeline_drain(timeline, source.drain)
        fl_timeline_end_process(
            timeline, source.drain, isClosed ? FL_PROCESS_CLOSED : how, ended, source.writing + unaccountedTime())
        // Whoever completes the trace after this process was killed goes on where the last note in any of the rings ends.
        for other in sources.values where other.rings != source.rings { fl_timeline_note(timeline, other.drain) }
        lost += fl_drain_totals(source.drain).lost
        fl_drain_close(source.drain)
        if unlink(source.rings) != 0 { kept.insert(name) }
        sources[name] = nil
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

    /// What became of a trace.
    package struct Outcome: Sendable {
        /// How many processes recorded.
        package var processes: Int
        /// How many events were recorded; `nil`: that is not known before the trace is read.
        package var events: UInt64?
        /// How many events were lost because buffers were full.
        package var lost: UInt64 = 0
        /// Where the trace is; `nil`: there is none, because nothing was recorded and an earlier trace is there.
        package var trace: String?
        /// What there is to say about the trace, in sentences; empty: nothing.
        package var notes: [String]

        package init(processes: Int, events: UInt64? = nil, lost: UInt64 = 0, trace: String?, notes: [String]) {
            self.processes = processes
            self.events = events
            self.lost = lost
            self.trace = trace
            self.notes = notes
        }
    }

    /// Ends without a trace: the file is as it was, or not there if it was not.
    ///
    /// Only as long as nothing was collected.
    package func discard() {
        fl_timeline_discard(timeline)
        claim.remove()
    }

    /// Takes in the rest, closes the timeline and removes the rings.
    ///
    /// An earlier trace at the same path is replaced by one that has events and lacks no line.
    package func finish() -> Outcome {
        collect()
        for (name, source) in sources.sorted(by: { $0.key < $1.key }) {
            let runs = !fl_drain_is_closed(source.drain) && !ProcessLife.hasLeft(source.process, rings: source.rings)
            if runs { runningOn += 1 }
            events += end(name, source, runs ? FL_PROCESS_RUNS_ON : FL_PROCESS_KILLED)
        }
        var complaints: [RecorderError] = []
        let refusals = RingDirectory.refusals(in: directory)
        if refusals > 0 {
            let place = (directory as NSString).deletingLastPathComponent
            complaints.append(.noRoomForProcesses(refusals, in: place))
        }
        let closed = RingDirectory.rings(in: directory).count { !kept.contains($0) }
        if closed > 0 { complaints.append(.closedRings(closed, in: directory, errno: openingFailure)) }
        var failure: Int32 = 0
        let unwritten = fl_timeline_finish(timeline, &failure)
        if unwritten > 0 { complaints.append(.incomplete(place.written, lines: unwritten, errno: failure)) }
        var notes = complaints.map(\.message)
        if runningOn > 0 { notes.append(Self.runningNote(runningOn)) }
        let (trace, note) = place.settle(timeline, isWhole: unwritten == 0, isEmpty: events == 0)
        if let note { notes.append(note) }
        claim.remove()
        return Outcome(processes: processes, events: events, lost: lost, trace: trace, notes: notes)
    }

    private static func runningNote(_ count: Int) -> String {
        let processes =
            count == 1 ? "1 process of the command still runs" : "\(count) processes of the command still run"
        return processes + "; the trace ends where the command did."
    }
}
