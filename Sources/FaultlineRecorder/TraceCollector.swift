internal import CRecorder
internal import Foundation

/// Drains the rings of other processes into one timeline, while they run and when they have ended.
///
/// This is what `faultline record` does beside the command that it runs: a program that records into a directory of
/// rings has nothing to write itself, and what it had recorded when it was killed is still there.
package final class TraceCollector {
    private let timeline: OpaquePointer
    private let path: String
    private let origin: UInt64
    /// The directory in which programs make their rings; the value of `FAULTLINE_TRACE` names it.
    package let directory: String
    /// The processes that record, by the names of their files.
    private var sources: [String: Source] = [:]
    /// Files of processes that have ended and whose files could not be removed.
    private var kept: Set<String> = []
    private var processes = 0
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
    ///   - path: The timeline; a file that is there stays as it is until something is written.
    ///   - scratch: Directories to try for the rings, in this order; one in memory is best.
    /// - Throws: ``RecorderError`` if the timeline cannot be written or no directory has room.
    package init(path: String, scratch: [String] = ["/dev/shm", NSTemporaryDirectory()]) throws {
        guard let timeline = fl_timeline_open(path, 0) else {
            throw errno == EWOULDBLOCK ? RecorderError.isBeingWritten(path) : .cannotOpen(path, errno: errno)
        }
        guard let directory = RingDirectory.make(in: scratch) else {
            let failure = errno
            fl_timeline_discard(timeline)
            throw RecorderError.noSpace(scratch.first ?? "", errno: failure)
        }
        self.timeline = timeline
        self.path = path
        self.directory = directory
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
                events += end(name, source)
            } else {
                events += fl_timeline_drain(timeline, source.drain)
                sources[name]?.writing += unaccountedTime()
            }
        }
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
        for (name, source) in sources where source.process.isPredecessor(of: process) { _ = end(name, source) }
    }

    /// Takes in what is left of a process and writes its last line.
    private func end(_ name: String, _ source: Source) -> UInt64 {
        let isClosed = fl_drain_is_closed(source.drain)
        let ended = isClosed ? 0 : fl_now()
        // Drained before its last line is written, which says what that cost.
        let events = fl_timeline_drain(timeline, source.drain)
        fl_timeline_end_process(timeline, source.drain, isClosed, ended, source.writing + unaccountedTime())
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
        /// What is missing in the trace, in sentences; `nil` if nothing is.
        package var complaint: String?

        package init(processes: Int, complaint: String?) {
            self.processes = processes
            self.complaint = complaint
        }
    }

    /// Ends without a trace: the file is as it was, or not there if it was not.
    ///
    /// Only as long as nothing was collected.
    package func discard() {
        fl_timeline_discard(timeline)
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Takes in the rest, closes the timeline and removes the rings.
    package func finish() -> Outcome {
        collect()
        for (name, source) in sources.sorted(by: { $0.key < $1.key }) { _ = end(name, source) }
        var complaints: [RecorderError] = []
        let refusals = RingDirectory.refusals(in: directory)
        if refusals > 0 {
            let place = (directory as NSString).deletingLastPathComponent
            complaints.append(.noRoomForProcesses(refusals, in: place))
        }
        let closed = RingDirectory.rings(in: directory).count { !kept.contains($0) }
        if closed > 0 { complaints.append(.closedRings(closed, in: directory, errno: openingFailure)) }
        var failure: Int32 = 0
        let unwritten = fl_timeline_close(timeline, &failure)
        if unwritten > 0 { complaints.append(.incomplete(path, lines: unwritten, errno: failure)) }
        try? FileManager.default.removeItem(atPath: directory)
        let complaint = complaints.map(\.message).joined(separator: " ")
        return Outcome(processes: processes, complaint: complaint.isEmpty ? nil : complaint)
    }
}
