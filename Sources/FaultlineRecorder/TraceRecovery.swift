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
        /// There are rings, but the trace cannot be written, or is not the one that they go on; the reason.
        case impossible(String)
    }

    /// Adds what the rings hold to the trace and removes them.
    ///
    /// What was written and not yet noted as written is taken off first, so that no event comes twice. A copy of the
    /// trace, and one that was cut short, stay as they are, and so do the rings: they go on the original.
    ///
    /// - Parameters:
    ///   - path: The trace.
    ///   - rings: The files that its processes named and did not close.
    package static func recover(_ path: String, rings: [String]) -> Outcome {
        let drains = rings.compactMap { file in fl_drain_open(file, 0).map { (file: file, drain: $0) } }
        defer { drains.forEach { fl_drain_close($0.drain) } }
        guard !drains.isEmpty else { return .nothing }
        let isRunning = drains.contains { file, drain in
            !fl_drain_is_closed(drain) && !hasLeft(fl_drain_process(drain), file)
        }
        guard !isRunning else { return .stillRunning }
        let offset = drains.map { fl_drain_committed_offset($0.drain) }.max() ?? 0
        guard let timeline = fl_timeline_open(path, offset) else {
            switch errno {
            case EWOULDBLOCK: return .stillRunning
            case ERANGE: return .impossible("the trace was cut short")
            default: return .impossible(String(cString: strerror(errno)))
            }
        }
        guard drains.allSatisfy({ fl_drain_belongs_to($0.drain, timeline) }) else {
            fl_timeline_discard(timeline)
            return .impossible("it belongs to another file, of which this one is a copy")
        }
        var events: UInt64 = 0
        for (file, drain) in drains {
            // Killed before anything was noted as written: the trace begins anew.
            if fl_drain_committed_offset(drain) == 0 { fl_timeline_begin_process(timeline, drain, file) }
            events += fl_timeline_drain(timeline, drain)
            fl_timeline_end_process(timeline, drain, fl_drain_is_closed(drain), 0, 0)
        }
        var failure: Int32 = 0
        let unwritten = fl_timeline_close(timeline, &failure)
        for (file, _) in drains {
            unlink(file)
            RingDirectory.removeIfEmpty(around: file)
        }
        guard unwritten == 0 else { return .impossible(String(cString: strerror(failure))) }
        return .recovered(events: events)
    }

    /// Whether a process writes no more.
    ///
    /// One of another namespace cannot be asked; but whoever writes a trace has locked it.
    private static func hasLeft(_ process: fl_process, _ file: String) -> Bool {
        ProcessLife.isElsewhere(process) || ProcessLife.hasLeft(process, rings: file)
    }
}
