import FaultlineReplay
import Foundation
import Glibc
import Synchronization

/// A command that runs with this process's standard streams, and receives the signals sent to this process.
struct ChildProcess {
    let identifier: pid_t

    /// The way a command ended.
    enum Ending: Equatable {
        case exited(Int32)
        case killed(signal: Int32)
    }

    /// Starts a command, found in `PATH` as a shell would find it.
    ///
    /// - Parameters:
    ///   - arguments: The command and its arguments. Must not be empty.
    ///   - environment: Variables to add to this process's environment.
    ///   - standardOutput: A file for the command's output. The default is this process's standard output.
    ///   - isSilent: Whether the command's output and messages are dropped.
    /// - Throws: ``CommandFailure`` if there is no such command or it cannot be run.
    static func start(
        _ arguments: [String], environment added: [String: String], standardOutput: String? = nil,
        isSilent: Bool = false
    ) throws -> ChildProcess {
        let words = RawArguments.copies(of: arguments)
        let variables = variables(added)
        defer { (words + variables).forEach { free($0) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let standardOutput {
            posix_spawn_file_actions_addopen(
                &actions, STDOUT_FILENO, standardOutput, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        }
        for stream in [STDOUT_FILENO, STDERR_FILENO] where isSilent {
            posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0)
        }
        // A signal that arrives before its handler is installed must wait, and not end this process alone.
        var waiting = Signals.set(of: forwarded)
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, &waiting, &before)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setsigmask(&attributes, &before)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var identifier: pid_t = 0
        // The program's name, too, is taken byte for byte.
        let failure = words[0].map { posix_spawnp(&identifier, $0, &actions, &attributes, words, variables) } ?? ENOENT
        guard failure == 0 else {
            pthread_sigmask(SIG_SETMASK, &before, nil)
            throw CommandFailure.usage(
                "Cannot run the command \"\(arguments[0])\" (\(String(cString: strerror(failure)))); name a program "
                    + "that is in PATH, or its path.")
        }
        forward(to: identifier)
        return ChildProcess(identifier: identifier)
    }

    /// Copies of this process's variables, byte for byte, with `added` ones added or replaced, ended by a null.
    private static func variables(_ added: [String: String]) -> [UnsafeMutablePointer<CChar>?] {
        var copies: [UnsafeMutablePointer<CChar>?] = []
        var position = environ
        while let variable = position.pointee {
            let isReplaced = added.keys.contains { strncmp(variable, "\($0)=", $0.utf8.count + 1) == 0 }
            if !isReplaced { copies.append(strdup(variable)) }
            position += 1
        }
        return copies + added.map { strdup("\($0.key)=\($0.value)") } + [nil]
    }

    // MARK: - Signals

    private static let forwarded = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH]
    private static let target = Atomic<pid_t>(0)

    /// Forwards signals from this process to the command.
    ///
    /// Ignored signals stay ignored, here and in the command, as `nohup` requires. It is called when the command
    /// already runs, so the command does not inherit the handlers.
    private static func forward(to identifier: pid_t) {
        target.store(identifier, ordering: .relaxed)
        // The command's exit status matters more than a report that is not read.
        signal(SIGPIPE, SIG_IGN)
        for signal in forwarded where !Signals.isIgnored(signal) {
            var action = sigaction()
            action.__sigaction_handler.sa_sigaction = { number, information, _ in
                // A terminal sends signals to the whole process group, including the command.
                let isFromTerminal = information.map { $0.pointee.si_code == 0x80 } ?? false  // SI_KERNEL
                if !isFromTerminal { kill(ChildProcess.target.load(ordering: .relaxed), number) }
            }
            action.sa_flags = SA_SIGINFO | SA_RESTART
            sigaction(signal, &action, nil)
        }
        // Signals that the parent had blocked are unblocked too. Otherwise they would never reach the command.
        var unblocked = Signals.set(of: forwarded)
        pthread_sigmask(SIG_UNBLOCK, &unblocked, nil)
    }

    /// Restores the default handlers of forwarded signals.
    private static func stopForwarding() {
        for signal in forwarded where !Signals.isIgnored(signal) { _ = Foundation.signal(signal, SIG_DFL) }
    }

    // MARK: - Ending

    /// The way the command ended, and its CPU time in nanoseconds with that of the processes it waited for; `nil` while it
    /// runs.
    func poll() -> (ending: Ending, cpuTime: UInt64)? {
        var status: Int32 = 0
        var usage = rusage()
        guard wait4(identifier, &status, WNOHANG, &usage) == identifier else { return nil }
        Self.stopForwarding()
        let signal = status & 0x7f
        let nanoseconds = { (time: timeval) -> UInt64 in
            UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_usec) * 1000
        }
        let time = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime)
        return (signal == 0 ? .exited((status >> 8) & 0xff) : .killed(signal: signal), time)
    }
}

extension ChildProcess.Ending {
    /// Ends this process as the command ended, so its parent sees no difference.
    func passOn() -> Never {
        switch self {
        case .exited(let status): exit(status)
        case .killed(let number):
            // This prevents a second core dump in addition to the command's own.
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            setrlimit(__rlimit_resource_t(UInt32(RLIMIT_CORE.rawValue)), &limit)
            signal(number, SIG_DFL)
            var unblocked = sigset_t()
            sigemptyset(&unblocked)
            sigaddset(&unblocked, number)
            pthread_sigmask(SIG_UNBLOCK, &unblocked, nil)
            raise(number)
            exit(128 + number)
        }
    }
}

/// Handles the signals of this process.
enum Signals {
    /// The signals that end a program by default.
    static let ending = [SIGINT, SIGTERM, SIGHUP]

    static func set(of numbers: [Int32]) -> sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in numbers { sigaddset(&signals, number) }
        return signals
    }

    /// Runs `body` so that exceeding the file size limit (`ulimit -f`) causes an error instead of ending the process.
    ///
    /// Programs started meanwhile inherit this.
    static func ignoringFileSizeLimit<Result>(_ body: () throws -> Result) rethrows -> Result {
        var (ignoring, before) = (sigaction(), sigaction())
        ignoring.__sigaction_handler.sa_handler = SIG_IGN
        sigaction(SIGXFSZ, &ignoring, &before)
        defer { sigaction(SIGXFSZ, &before, nil) }
        return try body()
    }

    /// Runs `body` while signals that would end the process are blocked.
    static func holdingBack<Result>(_ body: () throws -> Result) rethrows -> Result {
        var (signals, before) = (set(of: ending), sigset_t())
        pthread_sigmask(SIG_BLOCK, &signals, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return try body()
    }

    static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return action.sa_flags & SA_SIGINFO == 0
            && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
                == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}

/// Clean-up when the command is interrupted.
enum Interruption {
    /// Makes signals that end the process first remove the folders with copies.
    ///
    /// Call it once, on the main thread, before other threads are created. They inherit the blocked signals and leave
    /// them to a dedicated thread, so none is lost before that thread runs. Signals that the process ignores, as under
    /// `nohup`, stay ignored.
    static func removeCopiesFirst() {
        let numbers = Signals.ending.filter { !Signals.isIgnored($0) }
        var signals = Signals.set(of: numbers)
        guard !numbers.isEmpty, pthread_sigmask(SIG_BLOCK, &signals, nil) == 0 else { return }
        Thread.detachNewThread {
            var signals = Signals.set(of: numbers)
            var number: Int32 = 0
            guard sigwait(&signals, &number) == 0 else { return }
            ScratchFolders.removeAll {
                signal(number, SIG_DFL)
                pthread_sigmask(SIG_UNBLOCK, &signals, nil)
                kill(getpid(), number)
                sleep(1)
            }
        }
    }
}
