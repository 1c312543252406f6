import ArgumentParser
import FaultlineRecorder
import Foundation

/// Where `faultline record` has a command record to.
enum RecordingDestination: String, CaseIterable, ExpressibleByArgument {
    case timeline, lttng

    /// Where the trace goes if nobody says it.
    var defaultOutput: String {
        switch self {
        case .timeline: "faultline.json"
        case .lttng: "faultline-lttng"
        }
    }

    /// Checks that a trace can be written, before anything is run.
    ///
    /// - Parameter isForced: Whether to replace what is there, whatever it is.
    /// - Throws: ``CommandFailure`` if it cannot, or if something is there that Faultline has not recorded.
    func check(_ output: String, isForced: Bool) throws {
        switch self {
        case .timeline: try OutputFile.check(output, replacing: .timeline, isForced: isForced)
        case .lttng: _ = try LTTngOutput(output)
        }
    }

    /// Begins to take a trace.
    ///
    /// - Parameter output: the timeline's file, or the directory of the CTF trace.
    /// - Throws: ``CommandFailure`` if the trace cannot be written.
    func taker(_ output: String) throws -> any TraceTaker {
        switch self {
        case .lttng: return try LTTngSession(output: output)
        case .timeline:
            do {
                return try TraceCollector(path: output, scratch: Recording.places(for: output))
            } catch let error as RecorderError {
                throw error.code == .noSpace ? CommandFailure.tool(error.message) : .usage(error.message)
            }
        }
    }
}
