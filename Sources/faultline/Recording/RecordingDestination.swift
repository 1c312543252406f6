import ArgumentParser
import FaultlineRecorder
import Foundation

/// The destination of a recording by `faultline record`.
enum RecordingDestination: String, CaseIterable, ExpressibleByArgument {
    case timeline, lttng

    /// The default output.
    var defaultOutput: String {
        switch self {
        case .timeline: "faultline.json"
        case .lttng: "faultline-lttng"
        }
    }

    /// Checks that a trace can be written, before anything is run.
    ///
    /// - Parameter isForced: Whether to replace any existing file.
    /// - Throws: ``CommandFailure`` if it cannot, or if the output exists and Faultline has not recorded it.
    func check(_ output: String, isForced: Bool) throws {
        switch self {
        case .timeline: try OutputFile.check(output, replacing: .timeline, isForced: isForced)
        case .lttng: _ = try LTTngOutput(output)
        }
    }

    /// Starts collecting a trace.
    ///
    /// - Parameter output: The timeline's file, or the directory of the CTF trace.
    /// - Throws: ``CommandFailure`` if the trace cannot be written.
    func taker(_ output: String) throws -> any EventCollector {
        switch self {
        case .lttng: return try LTTngSession(output: output)
        case .timeline:
            do {
                return try TraceCollector(path: output, scratch: Recording.directories(for: output))
            } catch let error as RecorderError {
                throw error.code == .noSpace ? CommandFailure.tool(error.message) : .usage(error.message)
            }
        }
    }
}
