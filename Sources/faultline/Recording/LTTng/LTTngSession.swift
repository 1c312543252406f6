import FaultlineReader
import FaultlineRecorder
import FaultlineTrace
import Foundation

/// An LTTng recording session that lasts as long as a command runs.
///
/// It starts a session daemon if none runs. At the end it removes what it created: the session, and the daemon if it
/// started one. Sessions and daemons of others stay.
final class LTTngSession: EventCollector {
    private let name: String
    private let destination: LTTngOutput
    private var directory: String { destination.written }
    private var daemon: LTTngDaemon?
    private let origin: UInt64
    /// The directory in which programs leave files about themselves.
    private let files: OwnedDirectory

    /// The channels: one for events and one for the dictionary, so an overflow of one does not affect the other.
    ///
    /// See ``LTTngBuffers`` for their sizes.
    private static let channels = [
        (name: "events", events: "faultline:*", parts: LTTngBuffers.ofThisMachine().parts),
        (name: "dictionary", events: "faultline_dictionary:*,faultline_statedump:*", parts: LTTngBuffers.minimumParts),
    ]

    /// Creates and starts a session that writes to a directory.
    ///
    /// - Throws: ``CommandFailure`` if LTTng is not installed, the directory holds other files, or a step fails.
    ///   Everything created up to then is removed.
    init(output: String) throws {
        name = "faultline-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        destination = try LTTngOutput(output)
        origin = Recorder.off().now()
        // This comes first, so an earlier trace stays if LTTng is missing.
        let hasDaemon = try Self.lttng(["list"]) == nil
        guard let files = OwnedDirectory.make(in: NSTemporaryDirectory(), purpose: .lttng, content: output) else {
            throw CommandFailure.tool(
                "Cannot create a directory in \(NSTemporaryDirectory()) (\(String(cString: strerror(errno)))); set TMPDIR "
                    + "to one that can be written.")
        }
        self.files = files
        _ = RingDirectory.makeBoard(in: files.path)
        do {
            if !hasDaemon { daemon = try LTTngDaemon() }
            try destination.make(session: name, daemon: daemon?.identifier)
            try make()
        } catch {
            discard()
            throw error
        }
    }

    /// Runs an `lttng` command without starting a daemon.
    ///
    /// - Returns: The command's error message, or `nil` if it succeeded.
    /// - Throws: ``CommandFailure`` if it cannot be run.
    private static func lttng(_ arguments: [String]) throws -> String? {
        try LTTngTool.run(["lttng", "--no-sessiond"] + arguments)
    }

    private func make() throws {
        try step(["create", name, "--output=\(directory)"], "create a session that writes to \"\(directory)\"")
        for channel in Self.channels {
            try step(
                [
                    "enable-channel", "--userspace", "--session=\(name)",
                    "--subbuf-size=\(LTTngBuffers.partBytes)", "--num-subbuf=\(channel.parts)", channel.name,
                ],
                "create a channel")
            try step(
                ["enable-event", "--userspace", "--session=\(name)", "--channel=\(channel.name)", channel.events],
                "enable events")
        }
        try step(["start", name], "start the session")
    }

    private func step(_ arguments: [String], _ what: String) throws {
        guard let problem = try Self.lttng(arguments) else { return }
        throw CommandFailure.tool(
            "LTTng could not \(what) (\(problem)); check that the session daemon runs, and that /dev/shm has space."
        )
    }

    // MARK: - Collecting the trace

    var environment: [String: String] {
        var variables = [
            "FAULTLINE_TRACE": "lttng", "FAULTLINE_ORIGIN": String(origin), "FAULTLINE_SCRATCH": files.path,
        ]
        if let library = PreloadedLibrary.lttng.path { variables["FAULTLINE_LTTNG_LIBRARY"] = library }
        // The time that a program waits for the daemon to report what is recorded. After the default of three seconds,
        // it would lose its first events. The daemon is known to run.
        let patience = "LTTNG_UST_REGISTER_TIMEOUT"
        if ProcessInfo.processInfo.environment[patience] == nil { variables[patience] = "30000" }
        return variables
    }

    var scratch: String { files.path }

    /// Returns 0, because LTTng's own daemon collects the events.
    func collect() -> UInt64 { 0 }

    var progress: TraceCollector.Progress? { nil }

    func finish() -> TraceCollector.Outcome {
        var complaint: String?
        do {
            // This waits until all recorded events are on disk. The session itself may never end if a program was
            // killed while it wrote, so `destroy` does not wait.
            complaint = try Self.lttng(["stop", name])
            if complaint == nil { complaint = try Self.lttng(["destroy", "--no-wait", name]) }
        } catch {
            complaint = "\(error)"
        }
        daemon?.stop()
        let processes = processes()
        let (trace, note) = destination.settle(isEmpty: processes == 0)
        let failure = complaint.map {
            "LTTng could not end the session (\($0)); \"\(trace ?? directory)\" holds what it had written by then."
        }
        let refusal = refusal()
        var outcome = TraceCollector.Outcome(
            processes: processes, trace: trace, notes: [failure, refusal, note].compactMap { $0 })
        outcome.programs = RingDirectory.programs(in: files.path)
        outcome.hasRefusals = refusal != nil
        files.remove()
        return outcome
    }

    /// The number of processes that announced themselves.
    ///
    /// The existence of a trace proves nothing: a program that could record has its events declared there.
    private func processes() -> Int {
        (try? TraceReader(path: directory).begin())?.processes.count ?? 0
    }

    /// A sentence about processes that could not load LTTng's library; `nil` if there are none.
    private func refusal() -> String? {
        guard let count = RingDirectory.refusals(in: files.path)?.count else { return nil }
        let processes = count == 1 ? "1 process" : "\(count) processes"
        return "\(processes) of the command could not load LTTng's library; \"faultline doctor\" tests it."
    }

    func discard() {
        _ = try? Self.lttng(["destroy", "--no-wait", name])
        daemon?.stop()
        destination.discard()
        files.remove()
    }
}
