import FaultlineReader
import FaultlineRecorder
import FaultlineTrace
import Foundation

/// A recording session of LTTng that lasts as long as a command runs.
///
/// A session daemon is started where none runs. What was made here goes again at the end: the session, and the daemon if
/// it was started here; what others had made stays.
final class LTTngSession: TraceTaker {
    private let name: String
    private let place: LTTngOutput
    private var directory: String { place.written }
    private var daemon: LTTngDaemon?
    private let origin: UInt64

    /// Events and the dictionary each have a channel of their own: what overflows one costs the other nothing.
    ///
    /// See ``LTTngBuffers`` for their sizes.
    private static let channels = [
        (name: "events", events: "faultline:*", parts: LTTngBuffers.ofThisMachine().parts),
        (name: "dictionary", events: "faultline_dictionary:*,faultline_statedump:*", parts: LTTngBuffers.fewestParts),
    ]

    /// Makes a session that writes to a directory, and starts it.
    ///
    /// - Throws: ``CommandFailure`` if LTTng is not installed, the directory holds other things, or a step fails; what was
    ///   made up to there is gone then.
    init(output: String) throws {
        name = "faultline-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        place = try LTTngOutput(output)
        origin = Recorder.off().now()
        // Asked first: without LTTng an earlier trace stays.
        let hasDaemon = try Self.lttng(["list"]) == nil
        if !hasDaemon { daemon = try LTTngDaemon() }
        do {
            try place.make(session: name, daemon: daemon?.identifier)
            try make()
        } catch {
            _ = try? Self.lttng(["destroy", "--no-wait", name])
            daemon?.stop()
            place.discard()
            throw error
        }
    }

    /// Runs LTTng's command, which starts no daemon by itself.
    ///
    /// - Returns: what it says is wrong; `nil`: nothing is.
    /// - Throws: ``CommandFailure`` if it cannot be run.
    private static func lttng(_ arguments: [String]) throws -> String? {
        try LTTngTool.run(["lttng", "--no-sessiond"] + arguments)
    }

    private func make() throws {
        try step(["create", name, "--output=\(directory)"], "make a session that writes to \"\(directory)\"")
        for channel in Self.channels {
            try step(
                [
                    "enable-channel", "--userspace", "--session=\(name)",
                    "--subbuf-size=\(LTTngBuffers.partBytes)", "--num-subbuf=\(channel.parts)", channel.name,
                ],
                "make a channel")
            try step(
                ["enable-event", "--userspace", "--session=\(name)", "--channel=\(channel.name)", channel.events],
                "enable events")
        }
        try step(["start", name], "start the session")
    }

    private func step(_ arguments: [String], _ what: String) throws {
        guard let problem = try Self.lttng(arguments) else { return }
        throw CommandFailure.tool(
            "LTTng could not \(what) (\(problem)); see whether the session daemon runs, and that /dev/shm has room."
        )
    }

    // MARK: - Taking the trace

    var environment: [String: String] {
        var variables = ["FAULTLINE_TRACE": "lttng", "FAULTLINE_ORIGIN": String(origin)]
        // How long a program waits until the daemon has told it what is recorded: by default three seconds, after which
        // its first events are not. The daemon is there.
        let patience = "LTTNG_UST_REGISTER_TIMEOUT"
        if ProcessInfo.processInfo.environment[patience] == nil { variables[patience] = "30000" }
        return variables
    }

    /// LTTng's own daemon takes the events.
    func collect() -> UInt64 { 0 }

    func finish() -> TraceCollector.Outcome {
        var complaint: String?
        do {
            // Waits until all that was recorded is on disk. The session itself may never end where a program was killed
            // while it wrote, so that nobody waits for that.
            complaint = try Self.lttng(["stop", name])
            if complaint == nil { complaint = try Self.lttng(["destroy", "--no-wait", name]) }
        } catch {
            complaint = "\(error)"
        }
        daemon?.stop()
        let processes = processes()
        let (trace, note) = place.settle(isEmpty: processes == 0)
        let failure = complaint.map {
            "LTTng could not end the session (\($0)); \"\(trace ?? directory)\" holds what it had written until then."
        }
        return TraceCollector.Outcome(
            processes: processes, trace: trace, notes: [failure, note].compactMap { $0 })
    }

    /// How many processes have told that they began.
    ///
    /// That there is a trace says nothing: a program that could record has its events declared there.
    private func processes() -> Int {
        (try? TraceReader(path: directory).begin())?.processes.count ?? 0
    }

    func discard() {
        _ = try? Self.lttng(["destroy", "--no-wait", name])
        daemon?.stop()
        place.discard()
    }
}
