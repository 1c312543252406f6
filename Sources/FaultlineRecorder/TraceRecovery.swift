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
        /// There are rings, but the trace cannot be written; the reason.
        case impossible(String)
    }

    /// Adds what the rings hold to the trace and removes them.
    ///
    /// What was written and not yet noted as written is taken off first, so that no event comes twice.
    ///
    /// - Parameters:
    ///   - path: The trace.
    ///   - rings: The files that its processes named and did not close.
    package static func recover(_ path: String, rings: [String]) -> Outcome {
        let drains = rings.compactMap { file in fl_drain_open(file, 0).map { (file: file, drain: $0) } }
        defer { drains.forEach { fl_drain_close($0.drain) } }
        guard !drains.isEmpty else { return .nothing }
        let running = drains.contains { !fl_drain_is_closed($0.drain) && isRunning(fl_drain_process($0.drain).process) }
        guard !running else { return .stillRunning }
        let offset = drains.map { fl_drain_committed_offset($0.drain) }.max() ?? 0
        guard let timeline = fl_timeline_open(path, offset) else {
            return errno == EWOULDBLOCK ? .stillRunning : .impossible(String(cString: strerror(errno)))
        }
        var events: UInt64 = 0
        for (file, drain) in drains {
            // Killed before anything was noted as written: the trace begins anew.
            if offset == 0 { fl_timeline_begin_process(timeline, drain, file) }
            events += fl_timeline_drain(timeline, drain)
            fl_timeline_end_process(timeline, drain, fl_drain_is_closed(drain), 0, 0)
            unlink(file)
        }
        var failure: Int32 = 0
        guard fl_timeline_close(timeline, &failure) == 0 else {
            return .impossible(String(cString: strerror(failure)))
        }
        return .recovered(events: events)
    }

    private static func isRunning(_ process: UInt32) -> Bool {
        kill(pid_t(process), 0) == 0 || errno == EPERM
    }
}
