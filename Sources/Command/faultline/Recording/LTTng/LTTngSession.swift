import FaultlineReader
import FaultlineRecorder
import FaultlineTrace
import Foundation
import Glibc

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

/// Runs LTTng's own commands.
enum LTTngTool {
    /// The maximum time of a command, in milliseconds.
    ///
    /// It may write buffers to a slow disk.
    private static let patience = 600_000

    /// Runs a command to its end.
    ///
    /// - Returns: The last line of output if the command failed, or `nil` if it succeeded.
    /// - Throws: ``CommandFailure`` if the command is not installed or cannot be run.
    static func run(_ arguments: [String]) throws -> String? {
        switch ExternalCommand(arguments, patience: patience).answer() {
        case .printed(_, status: 0): return nil
        case .printed(let text, _):
            let lines = text.split(separator: "\n").filter { !$0.allSatisfy(\.isWhitespace) }
            return lines.last.map(String.init) ?? "it gives no reason"
        case .silent: return "it does not respond"
        case .missing:
            throw CommandFailure.tool(
                "Recording to LTTng needs the command \"\(arguments[0])\", which is not in PATH; install it with "
                    + "\"apt-get install lttng-tools\".")
        case .unusable(let reason):
            throw CommandFailure.tool(
                "Cannot run the command \"\(arguments[0])\" (\(reason)); reinstall lttng-tools.")
        }
    }
}

/// An LTTng session daemon that this process started.
struct LTTngDaemon {
    let identifier: pid_t

    /// The seconds that the daemon gets to end.
    ///
    /// It first writes the rest of its buffers.
    private static let patience = 10.0

    /// Starts a daemon for this user's programs, and waits until they can connect to it.
    ///
    /// - Throws: ``CommandFailure`` if the daemon is not installed or does not start.
    init() throws {
        let note = FileManager.default.temporaryDirectory.appendingPathComponent("faultline-\(UUID().uuidString).pid")
        defer { try? FileManager.default.removeItem(at: note) }
        // The command returns when the daemon is ready. Kernel events are not needed.
        let problem = try LTTngTool.run(["lttng-sessiond", "--daemonize", "--no-kernel", "--pidfile=\(note.path)"])
        let text = (try? String(contentsOf: note, encoding: .utf8)) ?? ""
        guard problem == nil, let identifier = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw CommandFailure.tool(
                "LTTng's session daemon does not start (\(problem ?? "it gives no reason")); run \"lttng-sessiond\" "
                    + "to see why."
            )
        }
        self.identifier = identifier
    }

    /// Ends the daemon, and waits for its end.
    func stop() {
        guard kill(identifier, SIGTERM) == 0 else { return }
        let limit = Date(timeIntervalSinceNow: Self.patience)
        // The daemon is not a child of this process, so it cannot be waited for.
        while kill(identifier, 0) == 0, Date() < limit { usleep(10_000) }
    }
}

/// A file that marks the directory of a CTF trace as made by `faultline record`.
///
/// `faultline-4711-123456 4712`: the session's name, and the session daemon's process ID if one was started for it.
enum LTTngMarker {
    static let name = ".faultline-recording"

    static func write(in directory: String, session: String, daemon: pid_t?) throws {
        let text = session + (daemon.map { " \($0)" } ?? "") + "\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: directory + "/" + name), options: .withoutOverwriting)
    }

    /// Whether a directory has a marker with a session's name.
    static func exists(in directory: String) -> Bool {
        guard let head = try? RegularFile.beginning(of: directory + "/" + name, length: 256) else { return false }
        return String(decoding: head, as: UTF8.self).hasPrefix("faultline-")
    }

    /// The session daemon that was started for a session, or `nil` if none was or it has ended.
    static func daemon(in directory: String, session: String) -> pid_t? {
        guard !directory.isEmpty,
            let text = try? String(contentsOfFile: directory + "/" + name, encoding: .utf8)
        else { return nil }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, words[0] == session, let process = pid_t(words[1]) else { return nil }
        // Another process may have the same ID by now.
        let program = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)
        return program?.hasPrefix("lttng-sessiond") == true ? process : nil
    }
}

/// The event buffers of each processor, sized for the machine.
///
/// LTTng's consumer empties them. On a busy machine it can wait 0.1 s for a processor, while a program records about
/// ten thousand events. Events that find no space are lost. 32 MiB hold more than a hundred thousand events.
///
/// A program that is killed while it writes an event makes that part of the buffer unreadable, so the parts are small
/// and many.
struct LTTngBuffers: Equatable {
    static let partBytes: UInt64 = 256 << 10
    static let minimumParts = 16
    static let maximumParts = 128

    /// A power of two, as LTTng requires.
    let parts: Int

    /// - Parameters:
    ///   - memory: The machine's memory, in bytes.
    ///   - room: The free bytes where LTTng creates its buffers.
    init(processors: Int, memory: UInt64, room: UInt64) {
        // Other programs need both too.
        let budget = min(memory / 64, room / 8) / UInt64(max(1, processors))
        var parts = Self.maximumParts
        while parts > Self.minimumParts, UInt64(parts) * Self.partBytes > budget { parts /= 2 }
        self.parts = parts
    }

    static func ofThisMachine() -> LTTngBuffers {
        var status = statvfs()
        let hasRoom = statvfs("/dev/shm", &status) == 0
        return LTTngBuffers(
            processors: ProcessInfo.processInfo.processorCount, memory: ProcessInfo.processInfo.physicalMemory,
            room: hasRoom ? UInt64(status.f_bavail) * UInt64(status.f_frsize) : 0)
    }
}
