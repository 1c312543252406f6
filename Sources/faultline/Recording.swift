import FaultlineRecorder
import Foundation

/// A command that was run with recording on.
struct Recording {
    let ending: ChildProcess.Ending
    /// How many of its processes recorded.
    let processes: Int
    /// What could not be written, in a sentence; `nil` if all of it was.
    let complaint: String?

    /// How long to wait before looking into the rings again: short while there is much to take, since a ring holds
    /// some ten milliseconds at a million events a second.
    private static let pauses: (busy: UInt32, idle: UInt32) = (2_000, 10_000)

    /// Runs a command to its end and writes what it records to a timeline.
    ///
    /// - Throws: ``CommandFailure`` if the timeline cannot be written or the command cannot be run.
    static func run(_ command: [String], output: String, standardOutput: String? = nil) throws -> Recording {
        let collector: TraceCollector
        do {
            let beside = URL(fileURLWithPath: output).deletingLastPathComponent().path
            collector = try TraceCollector(path: output, scratch: ["/dev/shm", NSTemporaryDirectory(), beside])
        } catch let error as RecorderError {
            throw error.code == .noSpace ? CommandFailure.tool(error.message) : .usage(error.message)
        }
        let child: ChildProcess
        do {
            child = try ChildProcess.start(
                command, environment: collector.environment, standardOutput: standardOutput)
        } catch {
            collector.discard()
            throw error
        }
        while true {
            let events = collector.collect()
            if let ending = child.poll() {
                let outcome = collector.finish()
                return Recording(ending: ending, processes: outcome.processes, complaint: outcome.complaint)
            }
            usleep(events > 0 ? pauses.busy : pauses.idle)
        }
    }
}
