import FaultlineFindings
import Foundation

/// Checks the LTTng installation: the tracer, the commands, and the space for its buffers.
struct LTTngChecks: Examination {
    private static let tracer = Subject(
        name: "liblttng-ust", why: "Programs record to LTTng through it.", package: "liblttng-ust-dev")
    private static let control = Subject(
        name: "lttng", why: "It creates sessions and enables events.", package: "lttng-tools")
    private static let daemon = Subject(
        name: "lttng-sessiond", why: "It receives the programs' events.", package: "lttng-tools")
    private static let buffers = Subject(
        name: "buffers", why: "LTTng's buffers are in shared memory; without space a session does not start.")

    private static let library = "liblttng-ust.so.1"
    /// The first version whose tracepoints and daemons match that library.
    private static let minimumVersion = "2.13"

    private let loader: ExternalCommand
    private let package: ExternalCommand
    private let controlCommand: ExternalCommand
    private let daemonCommand: ExternalCommand

    /// Starts the commands whose answers the checks need.
    init() {
        // When the library runs, it leaves files in shared memory and waits for a daemon. So the check only asks the
        // dynamic linker what it would load, which runs nothing (ld.so(8), LD_TRACE_LOADED_OBJECTS).
        loader = ExternalCommand(
            ["/proc/self/exe"],
            environment: [
                "LD_TRACE_LOADED_OBJECTS": "1", "LD_WARN": "yes", "LD_BIND_NOW": "1", "LD_PRELOAD": Self.library,
            ])
        package = ExternalCommand(["dpkg-query", "--show", "--showformat", "${Version}", "liblttng-ust1"])
        controlCommand = ExternalCommand(["lttng", "--version"])
        daemonCommand = ExternalCommand(["lttng-sessiond", "--version"])
    }

    var silence: Check { Self.tracer.failed(Doctor.silence, "Check what is mounted at /dev/shm.") }

    func checks() -> [Check] {
        [
            tracer(), Self.control.check(controlCommand.answer(), minimumVersion: Self.minimumVersion),
            Self.daemon.check(daemonCommand.answer(), minimumVersion: Self.minimumVersion), buffers(),
        ]
    }

    // MARK: - The library

    private func tracer() -> Check {
        let version = package.answer().version.map { "\($0), " } ?? ""
        let answer = loader.answer()
        guard case .printed(let text, status: 0) = answer else {
            return Self.tracer.failed("the linker gave no answer", "Run ldd on the library.")
        }
        let lines = text.split(separator: "\n").map { $0.trimmingPrefix { $0 == "\t" } }
        if let refusal = lines.first(where: { $0.contains("'\(Self.library)' from LD_PRELOAD cannot be preloaded") }) {
            let reason = refusal.split(separator: "(").last.map { String($0.prefix { $0 != ")" }) } ?? ""
            if reason.contains("cannot open shared object file") {
                return Self.tracer.missing("there is no \(Self.library)", "Install liblttng-ust-dev.")
            }
            return Self.tracer.failed("\(Self.library) cannot be loaded (\(reason))", "Reinstall liblttng-ust-dev.")
        }
        guard let found = lines.first(where: { $0.hasPrefix("\(Self.library) => ") }) else {
            return Self.tracer.missing("there is no \(Self.library)", "Install liblttng-ust-dev.")
        }
        let path = String(found.dropFirst(Self.library.count + 4).prefix { $0 != " " })
        // "libnuma.so.1 => not found", "undefined symbol: numa_available\t(/usr/lib/liblttng-ust.so.1)"
        let lacks =
            lines.first { $0.hasSuffix(" => not found") }
            ?? lines.first { $0.hasSuffix("(\(path))") }.map { $0.dropFirst("undefined symbol: ".count) }
        guard let lacks else { return Self.tracer.ok(version + path) }
        let name = lacks.prefix { !$0.isWhitespace }
        return Self.tracer.failed("\(path) lacks \(name)", "Reinstall liblttng-ust-dev.")
    }

    // MARK: - The buffers

    /// The size of a channel with LTTng's defaults for one user: four sub-buffers per CPU.
    private static let channelBytes = UInt64(4 * 524_288)

    private func buffers() -> Check {
        let processors = UInt64(max(1, sysconf(Int32(_SC_NPROCESSORS_CONF))))
        let need = processors * Self.channelBytes
        guard let system = try? FileSystem(at: "/dev/shm") else {
            return Self.buffers.missing("there is no /dev/shm")
        }
        let found = "\(Phrase.size(Double(need))) per channel, \(Phrase.size(Double(system.free))) free in /dev/shm"
        guard system.free >= need else {
            return Self.buffers.warning(
                found, "Free some space there, or give channels a smaller --subbuf-size (docker: --shm-size).")
        }
        return Self.buffers.ok(found)
    }
}

/// Checks Babeltrace 2, which reads LTTng traces: the library and the command.
struct BabeltraceChecks: Examination {
    private static let library = Subject(
        name: "libbabeltrace2", why: "Faultline reads LTTng traces with it.", package: "libbabeltrace2-dev")
    private static let command = Subject(
        name: "babeltrace2", why: "It prints LTTng traces without Faultline.", package: "babeltrace2"
    )

    private let commandVersion: ExternalCommand

    /// Starts the command whose answer the checks need.
    init() {
        commandVersion = ExternalCommand(["babeltrace2", "--version"])
    }

    var silence: Check { Self.library.failed(Doctor.silence, "Reinstall libbabeltrace2-dev.") }

    func checks() -> [Check] {
        [library(), Self.command.check(commandVersion.answer())]
    }

    private func library() -> Check {
        let name = "libbabeltrace2.so.0"
        do throws(SharedLibrary.Failure) {
            let library = try SharedLibrary(name)
            let numbers = ["major", "minor", "patch"].map { library.symbol("bt_version_get_\($0)") }
            guard let first = numbers[0], !numbers.contains(nil) else {
                return Self.library.failed("\(name) reports no version", "Reinstall libbabeltrace2-dev.")
            }
            typealias Number = @convention(c) () -> UInt32
            let version = numbers.compactMap { $0.map { String(unsafeBitCast($0, to: Number.self)()) } }
            return Self.library.ok("\(version.joined(separator: ".")), \(SharedLibrary.path(at: first) ?? name)")
        } catch {
            switch error {
            case .missing: return Self.library.missing("there is no \(name)", "Install libbabeltrace2-dev.")
            case .unusable(let reason):
                return Self.library.failed("\(name) cannot be loaded (\(reason))", "Reinstall libbabeltrace2-dev.")
            }
        }
    }
}
