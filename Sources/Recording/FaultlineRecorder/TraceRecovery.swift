internal import CRecorder
internal import Foundation

/// Completes the trace of a killed program from the rings that it left behind.
package enum TraceRecovery {
    /// The result of a recovery.
    package enum Outcome: Sendable, Hashable {
        /// No rings were left, so there is nothing to add.
        case nothing
        /// That many events were added to the trace.
        case recovered(events: UInt64)
        /// The program is running and writes the trace itself.
        case stillRunning
        /// The rings have that many events, but the trace cannot be written or is not the one they belong to, for the
        /// given reason.
        ///
        /// The trace and the rings are unchanged.
        case impossible(String, events: UInt64)
    }

    /// A file of rings that a trace names.
    package struct NamedRings: Sendable, Hashable {
        package var file: String
        /// The process's number in the trace.
        package var process: UInt32
        /// The time at which the trace began, in seconds since 1970.
        ///
        /// It identifies the recording, unlike the process's own start, which moves when old events are removed.
        package var origin: Double

        package init(file: String, process: UInt32, origin: Double) {
            self.file = file
            self.process = process
            self.origin = origin
        }
    }

    /// Adds the events in the rings to the trace and removes the rings.
    ///
    /// Any number of readers can call this at once. One of them does the work while the others wait for the trace's
    /// lock and then find nothing to do: the lock covers reading the notes in the rings about the trace, writing the
    /// events, and removing the rings. Events that were written but not noted as written are first cut off, so none
    /// appears twice. The rings are removed only once all their contents are in the trace.
    ///
    /// A copy of the trace, and one that was truncated, stay unchanged, and so do the rings.
    ///
    /// - Parameters:
    ///   - path: The trace.
    ///   - named: The files that the trace names for its processes. A trace can name anything, so files are ignored if
    ///     they are gone, if no recorder would create them, or if they belong to another trace.
    ///   - isAdopting: Whether to complete a trace that was copied or moved, because the user says that it is the
    ///     right one.
    package static func recover(_ path: String, rings named: [NamedRings], isAdopting: Bool = false) -> Outcome {
        let present = named.filter { RingDirectory.isRingsName($0.file) && access($0.file, F_OK) == 0 }
        guard !present.isEmpty else { return .nothing }
        guard let timeline = lock(path, present) else {
            if errno == EWOULDBLOCK { return .stillRunning }
            let reason = RecorderError.reason(errno)
            return .impossible(reason, events: withDrains(present.map(\.file), pendingEvents))
        }
        let outcome = complete(timeline, present, isAdopting)
        switch outcome {
        case .recovered: fl_timeline_close(timeline)
        case .impossible, .nothing, .stillRunning: fl_timeline_undo(timeline)
        }
        return outcome
    }

    /// The maximum wait for another process that is completing the trace, in milliseconds.
    private static let patience = 60_000

    /// Locks the trace; `nil` with `errno` set on failure, to `EWOULDBLOCK` if its program still writes it.
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
            // Another process may have finished the work while this one waited for the lock.
            guard !found.isEmpty else { return unreadable(named.map(\.file)) }
            let drains = found.filter { each in
                if fl_drain_belongs_to(each.drain, timeline) { return true }
                let process = fl_drain_process(each.drain)
                let origin = process.date - Double(process.start) / 1e9
                return isAdopting
                    && named.contains {
                        $0.file == each.file && $0.process == process.process && abs($0.origin - origin) < 1e-3
                    }
            }
            guard !drains.isEmpty else {
                return .impossible(
                    "it is a copy, or was moved to another file system; \"faultline recover\" adds them if it is the right trace",
                    events: pendingEvents(found))
            }
            guard !drains.contains(where: isRunning) else { return .stillRunning }
            let pending = pendingEvents(drains)
            let offset = drains.map { fl_drain_committed_offset($0.drain, timeline) }.max() ?? 0
            guard fl_timeline_continue(timeline, offset) else {
                let reason = errno == ERANGE ? "the trace was cut short" : RecorderError.reason(errno)
                return .impossible(reason, events: pending)
            }
            var events: UInt64 = 0
            for (file, drain) in drains where !fl_drain_is_ended(drain) {
                events += write(drain, from: file, to: timeline, isNew: fl_drain_committed_offset(drain, timeline) == 0)
            }
            var failure: Int32 = 0
            guard fl_timeline_finish(timeline, &failure) == 0 || failure == EBADMSG else {
                return .impossible(RecorderError.reason(failure), events: pending)
            }
            remove(drains)
            fl_timeline_remove_copies(timeline)
            return .recovered(events: events)
        }
    }

    /// Writes the remaining events of a process, and its last line.
    private static func write(
        _ drain: OpaquePointer, from file: String, to timeline: OpaquePointer, isNew: Bool
    ) -> UInt64 {
        if isNew { fl_timeline_begin_process(timeline, drain, file) }
        let events = fl_timeline_drain(timeline, drain)
        let how = fl_drain_is_closed(drain) ? FL_PROCESS_CLOSED : FL_PROCESS_KILLED
        fl_timeline_end_process(timeline, drain, how, 0, 0)
        return events
    }

    /// Creates a trace from rings that have none, or whose trace is gone, and removes the rings.
    ///
    /// - Parameter path: The trace, which must not exist.
    /// - Throws: ``RecorderError`` if the trace cannot be written or some rings cannot be read; the rings are then
    ///   unchanged, and there is no trace.
    /// - Returns: The number of events in the trace.
    package static func makeTrace(_ path: String, of rings: [String]) throws -> UInt64 {
        guard let timeline = fl_timeline_open(path) else { throw RecorderError.cannotOpen(path, errno: errno) }
        return try withDrains(rings) { drains in
            guard drains.count == rings.count else {
                let failure = errno
                fl_timeline_discard(timeline)
                throw RecorderError.badRings(
                    rings.first { ring in !drains.contains { $0.file == ring } }!, errno: failure)
            }
            // Notes nothing in the rings until everything is written.
            fl_timeline_continue(timeline, 0)
            var events: UInt64 = 0
            for (file, drain) in drains {
                fl_drain_restart(drain)
                events += write(drain, from: file, to: timeline, isNew: true)
            }
            var failure: Int32 = 0
            let unwritten = fl_timeline_finish(timeline, &failure)
            // Names that are damaged stay so. The trace counts them, and has the rest.
            guard unwritten == 0 || failure == EBADMSG else {
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

    /// The outcome for files that cannot be opened: they are gone, or are not rings of this user.
    private static func unreadable(_ rings: [String]) -> Outcome {
        for file in rings {
            var status = stat()
            guard lstat(file, &status) == 0 else { continue }
            let reason =
                status.st_uid == geteuid() ? "\"\(file)\" cannot be read" : "\"\(file)\" belongs to another user"
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

    /// The number of events in rings that no trace has.
    private static func pendingEvents(_ drains: [Drain]) -> UInt64 {
        drains.reduce(0) { $0 + fl_drain_pending($1.drain) }
    }

    private static func isRunning(_ rings: Drain) -> Bool {
        !fl_drain_is_closed(rings.drain) && !hasLeft(fl_drain_process(rings.drain), rings.file)
    }

    /// Whether a process no longer writes.
    ///
    /// A process in another PID namespace cannot be checked, but the writer of a trace holds its lock.
    private static func hasLeft(_ process: fl_process, _ file: String) -> Bool {
        ProcessLife.isElsewhere(process) || ProcessLife.hasLeft(process, rings: file)
    }
}
