internal import CRecorder
internal import Foundation

/// Completes a trace whose program was killed, from the rings that it left behind.
package enum TraceRecovery {
    /// What was found.
    package enum Outcome: Sendable, Hashable {
        /// There is nothing to add: no rings were left.
        case nothing
        /// That many events were added to the trace.
        case recovered(events: UInt64)
        /// The program runs and writes the trace itself.
        case stillRunning
        /// There are rings with that many events, but the trace cannot be written, or is not the one that they belong to;
        /// the reason. The trace and the rings are as they were.
        case impossible(String, events: UInt64)
    }

    /// A file of rings as a trace names it.
    package struct NamedRings: Sendable, Hashable {
        package var file: String
        /// What the trace calls the process.
        package var process: UInt32
        /// When the process began to record, in seconds since 1970.
        package var date: Double

        package init(file: String, process: UInt32, date: Double) {
            self.file = file
            self.process = process
            self.date = date
        }
    }

    /// Adds what the rings hold to the trace and removes them.
    ///
    /// Everything happens under the trace's lock, what was noted in the rings about the trace is read under it too, and the
    /// rings are removed before it is given back, so any number of readers can call this at once: one of them does the work,
    /// and the others wait and find nothing left to do. What was written and not noted as written is taken off first, so no
    /// event comes twice. The rings are removed only when the whole of what they hold is in the trace.
    ///
    /// A copy of the trace, and one that was cut short, stay as they are, and so do the rings.
    ///
    /// - Parameters:
    ///   - path: The trace.
    ///   - named: The files that its processes named. Passed over are those that are gone, that no recorder would make, and
    ///     that belong to another trace: a trace can name anything.
    ///   - isAdopting: Whether to go on with a trace that was copied or moved, because the user says that it is the one.
    package static func recover(_ path: String, rings named: [NamedRings], isAdopting: Bool = false) -> Outcome {
        let present = named.filter { RingDirectory.isRingsName($0.file) && access($0.file, F_OK) == 0 }
        guard !present.isEmpty else { return .nothing }
        guard let timeline = lock(path, present) else {
            if errno == EWOULDBLOCK { return .stillRunning }
            let reason = String(cString: strerror(errno))
            return .impossible(reason, events: withDrains(present.map(\.file), pendingEvents))
        }
        let outcome = complete(timeline, present, isAdopting)
        switch outcome {
        case .recovered: fl_timeline_close(timeline)
        case .impossible, .nothing, .stillRunning: fl_timeline_undo(timeline)
        }
        return outcome
    }

    /// How long to wait for another process that completes the trace, in milliseconds.
    private static let patience = 60_000

    /// Locks the trace; `nil` with `errno` set, `EWOULDBLOCK` where its program still writes it.
    private static func lock(_ path: String, _ rings: [NamedRings]) -> OpaquePointer? {
        for _ in 0..<patience {
            if let timeline = fl_timeline_lock(path) { return timeline }
            guard errno == EWOULDBLOCK else { return nil }
            let isWritten = withDrains(rings.map(\.file)) { $0.contains(where: isRunning) }
            if isWritten { break }
            usleep(1000)
        }
        errno = EWOULDBLOCK
        return nil
    }

    private static func complete(_ timeline: OpaquePointer, _ named: [NamedRings], _ isAdopting: Bool) -> Outcome {
        withDrains(named.map(\.file)) { found in
            // Another process may have done it while this one waited for the lock.
            guard !found.isEmpty else { return unreadable(named.map(\.file)) }
            let drains = found.filter { each in
                if fl_drain_belongs_to(each.drain, timeline) { return true }
                let process = fl_drain_process(each.drain)
                return isAdopting
                    && named.contains {
                        $0.file == each.file && $0.process == process.process && abs($0.date - process.date) < 1e-3
                    }
            }
            guard !drains.isEmpty else {
                return .impossible(
                    "it is a copy, or was moved to another file system; \"faultline recover\" adds them if it is the one",
                    events: pendingEvents(found))
            }
            guard !drains.contains(where: isRunning) else { return .stillRunning }
            let pending = pendingEvents(drains)
            let offset = drains.map { fl_drain_committed_offset($0.drain) }.max() ?? 0
            guard fl_timeline_go_on(timeline, offset) else {
                let reason = errno == ERANGE ? "the trace was cut short" : String(cString: strerror(errno))
                return .impossible(reason, events: pending)
            }
            var events: UInt64 = 0
            for (file, drain) in drains where !fl_drain_is_ended(drain) {
                events += write(drain, from: file, to: timeline, isNew: fl_drain_committed_offset(drain) == 0)
            }
            var failure: Int32 = 0
            guard fl_timeline_finish(timeline, &failure) == 0 else {
                return .impossible(String(cString: strerror(failure)), events: pending)
            }
            remove(drains)
            return .recovered(events: events)
        }
    }

    /// Writes what a process left, and its last line.
    private static func write(
        _ drain: OpaquePointer, from file: String, to timeline: OpaquePointer, isNew: Bool
    ) -> UInt64 {
        if isNew { fl_timeline_begin_process(timeline, drain, file) }
        let events = fl_timeline_drain(timeline, drain)
        let how = fl_drain_is_closed(drain) ? FL_PROCESS_CLOSED : FL_PROCESS_KILLED
        fl_timeline_end_process(timeline, drain, how, 0, 0)
        return events
    }

    /// Makes a trace of rings that no trace tells of, or whose trace is gone, and removes them.
    ///
    /// - Parameter path: The trace, which must not exist.
    /// - Throws: ``RecorderError`` if the trace cannot be written or some rings cannot be read; the rings are then as they
    ///   were, and there is no trace.
    /// - Returns: How many events it has.
    package static func makeTrace(_ path: String, of rings: [String]) throws -> UInt64 {
        guard let timeline = fl_timeline_open(path) else { throw RecorderError.cannotOpen(path, errno: errno) }
        return try withDrains(rings) { drains in
            guard drains.count == rings.count else {
                let failure = errno
                fl_timeline_discard(timeline)
                throw RecorderError.badRings(
                    rings.first { ring in !drains.contains { $0.file == ring } }!, errno: failure)
            }
            // Nothing is noted in the rings before all of it is written.
            fl_timeline_go_on(timeline, 0)
            var events: UInt64 = 0
            for (file, drain) in drains {
                fl_drain_retell(drain)
                events += write(drain, from: file, to: timeline, isNew: true)
            }
            var failure: Int32 = 0
            let unwritten = fl_timeline_finish(timeline, &failure)
            guard unwritten == 0 else {
                fl_timeline_undo(timeline)
                unlink(path)
                throw RecorderError.cannotOpen(path, errno: failure)
            }
            remove(drains)
            fl_timeline_close(timeline)
            return events
        }
    }

    // MARK: - Rings

    private typealias Drain = (file: String, drain: OpaquePointer)

    private static func withDrains<Result>(_ rings: [String], _ body: ([Drain]) throws -> Result) rethrows -> Result {
        let drains = rings.compactMap { file in fl_drain_open(file, 0).map { (file: file, drain: $0) } }
        defer { drains.forEach { fl_drain_close($0.drain) } }
        return try body(drains)
    }

    /// What to say of files of which none can be opened: they are gone, or are not rings of this user.
    private static func unreadable(_ rings: [String]) -> Outcome {
        for file in rings {
            var status = stat()
            guard lstat(file, &status) == 0 else { continue }
            let reason = status.st_uid == geteuid() ? "\"\(file)\" cannot be read" : "\"\(file)\" is another user's"
            return .impossible(reason, events: 0)
        }
        return .nothing
    }

    private static func remove(_ drains: [Drain]) {
        for (file, _) in drains {
            unlink(file)
            RingDirectory.removeIfEmpty(around: file)
        }
    }

    /// How many events rings hold that no trace has.
    private static func pendingEvents(_ drains: [Drain]) -> UInt64 {
        drains.reduce(0) { $0 + fl_drain_pending($1.drain) }
    }

    private static func isRunning(_ rings: Drain) -> Bool {
        !fl_drain_is_closed(rings.drain) && !hasLeft(fl_drain_process(rings.drain), rings.file)
    }

    /// Whether a process writes no more.
    ///
    /// One of another namespace cannot be asked; but whoever writes a trace has locked it.
    private static func hasLeft(_ process: fl_process, _ file: String) -> Bool {
        ProcessLife.isElsewhere(process) || ProcessLife.hasLeft(process, rings: file)
    }
}
