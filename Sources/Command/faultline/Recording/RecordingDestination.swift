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

    /// The recording in the current directory that was written last under its default name.
    static var lastOutput: String {
        let times = allCases.map { destination -> (path: String, time: timespec) in
            var status = stat()
            let exists = stat(destination.defaultOutput, &status) == 0
            return (destination.defaultOutput, exists ? status.st_mtim : timespec())
        }
        let last = times.max { ($0.time.tv_sec, $0.time.tv_nsec) < ($1.time.tv_sec, $1.time.tv_nsec) }
        return last.flatMap { $0.time.tv_sec > 0 ? $0.path : nil } ?? timeline.defaultOutput
    }

    /// The libraries with which programs that do not use the store are recorded.
    var libraries: [PreloadedLibrary] {
        switch self {
        case .timeline: [.recorder]
        case .lttng: [.recorder, .lttng]
        }
    }

    /// Checks that a trace can be written, before anything is run.
    ///
    /// - Parameters:
    ///   - inputs: The files that the recording, and the command that is recorded, read.
    ///   - isForced: Whether to replace any other existing file.
    /// - Throws: ``CommandFailure`` if it cannot, or if the output exists and Faultline has not recorded it.
    func check(_ output: String, inputs: CommandInputs, isForced: Bool) throws {
        switch self {
        case .timeline: _ = try OutputFile(output, .recording, inputs: inputs, isForced: isForced)
        case .lttng:
            try OutputFile.check(output, .recording, inputs: inputs)
            _ = try LTTngOutput(output)
        }
    }

    /// Starts collecting a trace.
    ///
    /// - Parameters:
    ///   - output: The timeline's file, or the directory of the CTF trace.
    ///   - maximumSize: The maximum size of the trace in bytes, or `nil`.
    /// - Throws: ``CommandFailure`` if the trace cannot be written, or has a maximum size and goes to LTTng.
    func taker(_ output: String, maximumSize: UInt64? = nil) throws -> any EventCollector {
        switch self {
        case .lttng:
            guard maximumSize == nil else {
                throw CommandFailure.usage(
                    "--max-size limits timelines only. For LTTng, create a session with \"lttng enable-channel "
                        + "--tracefile-size\", and run the command with FAULTLINE_TRACE=lttng.")
            }
            return try LTTngSession(output: output)
        case .timeline:
            do {
                return try TraceCollector(
                    path: output, scratch: Recording.directories(for: output), maximumSize: maximumSize)
            } catch let error as RecorderError {
                throw error.code == .noSpace ? CommandFailure.tool(error.message) : .usage(error.message)
            }
        }
    }
}
