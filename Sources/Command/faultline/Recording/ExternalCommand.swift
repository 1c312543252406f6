import CMachine
import Dispatch
import Foundation

/// An external command whose output is read.
///
/// It gets no input, and is killed if it takes too long.
final class ExternalCommand: Sendable {
    /// The result of a command.
    enum Answer: Sendable {
        /// Its output including errors, and its exit status.
        case printed(String, status: Int32)
        /// The command is not in `PATH`.
        case missing
        /// The command cannot be run, for this reason.
        case unusable(String)
        /// The command did not end in time.
        case silent
    }

    private let failure: Int32
    private let identifier: pid_t
    private let output: Int32
    private let deadline: DispatchTime

    /// The maximum bytes of output to read.
    private static let maximumOutput = 1 << 16

    /// Starts a command, found in `PATH`, in a process group of its own.
    ///
    /// - Parameter patience: The maximum time for the command, in milliseconds. Default: ten seconds, because a busy machine
    ///   can be slow.
    init(_ arguments: [String], environment added: [String: String] = [:], patience: Int = 10_000) {
        deadline = .now() + .milliseconds(patience)
        var (reading, writing): (Int32, Int32) = (-1, -1)
        let refusal = cmachine_pipe(&reading, &writing)
        guard refusal == 0 else {
            (failure, identifier, output) = (refusal, 0, -1)
            return
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, writing, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, writing, STDERR_FILENO)
        // This process blocks signals, but the command must not.
        var signals = sigset_t()
        sigemptyset(&signals)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGXFSZ)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        let variables = ProcessInfo.processInfo.environment.merging(added) { $1 }.merging(["LC_ALL": "C"]) { $1 }
        let words = arguments.map { strdup($0) } + [nil]
        let settings = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (words + settings).forEach { free($0) } }
        var identifier: pid_t = 0
        failure = posix_spawnp(&identifier, arguments[0], &actions, &attributes, words, settings)
        close(writing)
        if failure != 0 { close(reading) }
        self.identifier = identifier
        output = failure == 0 ? reading : -1
    }

    /// Waits for the command's end.
    ///
    /// Must be called only once.
    func answer() -> Answer {
        if failure == ENOENT { return .missing }
        if failure != 0 { return .unusable("\(SystemError(code: failure))") }
        defer { close(output) }
        let text = read()
        while text != nil, !hasEnded, left > 0 { usleep(500) }
        let isSilent = text == nil || !hasEnded
        // Kills the whole process group. This precedes `waitpid`, after which the ID may belong to another process.
        kill(-identifier, SIGKILL)
        var status: Int32 = 0
        waitpid(identifier, &status, 0)
        guard let text, !isSilent else { return .silent }
        guard status & 0x7f == 0 else { return .unusable("ended by signal \(status & 0x7f)") }
        return .printed(text, status: (status >> 8) & 0xff)
    }

    /// Whether the command has ended and can be reaped.
    private var hasEnded: Bool {
        var information = siginfo_t()
        waitid(P_PID, id_t(identifier), &information, WEXITED | WNOHANG | WNOWAIT)
        return information.si_signo == SIGCHLD
    }

    /// The milliseconds left.
    ///
    /// The command may have ended long before the caller asks.
    private var left: Int32 {
        let now = DispatchTime.now()
        return now < deadline ? Int32((deadline.uptimeNanoseconds - now.uptimeNanoseconds) / 1_000_000) + 1 : 0
    }

    /// The output until the command closes it, or `nil` if it does not in time.
    private func read() -> String? {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while bytes.count < Self.maximumOutput {
            var ready = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            let count = poll(&ready, 1, left)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            let length = Foundation.read(output, &part, part.count)
            guard length > 0 else { break }
            bytes += part.prefix(length)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ExternalCommand.Answer {
    /// The first version number in the output: `2.13.9`.
    var version: String? {
        guard case .printed(let text, status: 0) = self else { return nil }
        return text.split(whereSeparator: { !$0.isNumber && $0 != "." }).map(String.init)
            .first { $0.split(separator: ".").count >= 2 && $0.first != "." }
    }
}
