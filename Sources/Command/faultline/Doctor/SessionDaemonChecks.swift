import Foundation

/// Checks LTTng's session daemons as a program of this user would find them.
///
/// The checks only observe. They start, stop and change nothing.
struct SessionDaemonChecks: Examination {
    let environment: [String: String]

    private static let own = Subject(
        name: "session daemon", why: "LTTng records events only while one runs.", package: "lttng-tools")
    private static let roots = Subject(
        name: "root's daemon", why: "It receives the events of every user's programs.")
    private static let group = Subject(
        name: "group tracing", why: "Its members may create sessions in root's daemon.")
    private static let home = Subject(
        name: "LTTNG_HOME", why: "LTTng 2.13 ignores it for root, whose sockets are always in /var/run/lttng.")
    private static let wait = Subject(
        name: "wait futex",
        why: "Programs wait on it for a daemon; if another daemon holds it, they look for theirs only every 5 s.")
    private static let timeout = Subject(
        name: "register timeout", why: "A program's start waits this long for a daemon that hangs.")

    private static let rootDirectory = "/var/run/lttng"

    var silence: Check { Self.own.failed(Doctor.silence, "Check what is mounted at /var/run and /dev/shm.") }

    func checks() -> [Check] {
        var checks = [ownDaemon()]
        if isRoot {
            if let home = environment["LTTNG_HOME"], !home.isEmpty { checks.append(ignoredHome(home)) }
        } else {
            checks += [rootDaemon(), membership()]
        }
        return checks + [waitWords(), registerTimeout()]
    }

    private var isRoot: Bool { geteuid() == 0 }

    /// The directory with the sockets of this user's daemon.
    private var ownDirectory: String {
        isRoot ? Self.rootDirectory : privateDirectory
    }

    private var privateDirectory: String {
        let home = ["LTTNG_HOME", "HOME"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? "/"
        return home + "/.lttng"
    }

    // MARK: - Daemons

    private func ownDaemon() -> Check {
        let user = isRoot ? "root" : "this user"
        let start = (
            remedy: "\"faultline record --to lttng\" starts one; start one yourself only for programs that you run "
                + "without \"record\".",
            command: "lttng-sessiond --daemonize"
        )
        switch SessionDaemon.state(in: ownDirectory) {
        case .runs(let process): return Self.own.ok("runs\(Self.number(process)), \(ownDirectory)")
        case .dead:
            return Self.own.warning(
                "was killed, and left its sockets in \(ownDirectory)", start.remedy, command: start.command)
        case .none: return Self.own.missing("none runs for \(user)", start.remedy, command: start.command)
        case .forbidden(let process):
            return Self.own.failed(
                "runs\(Self.number(process)), and does not admit \(user)", "Check the permissions of \(ownDirectory).")
        }
    }

    private func rootDaemon() -> Check {
        switch SessionDaemon.state(in: Self.rootDirectory) {
        case .runs(let process), .forbidden(let process): Self.roots.ok("runs\(Self.number(process))")
        case .dead, .none: Self.roots.missing("none runs")
        }
    }

    private static func number(_ process: pid_t?) -> String { process.map { " (process \($0))" } ?? "" }

    private func membership() -> Check {
        guard let entry = getgrnam("tracing") else {
            return Self.group.missing("there is no such group; only a root daemon needs it")
        }
        let number = entry.pointee.gr_gid
        var held = [gid_t](repeating: 0, count: Int(max(1, getgroups(0, nil))))
        let count = getgroups(Int32(held.count), &held)
        if getegid() == number || held.prefix(Int(max(0, count))).contains(number) {
            return Self.group.ok("this user is in it")
        }
        let found = "this user is not in it; only a root daemon needs it"
        guard case .forbidden = SessionDaemon.state(in: Self.rootDirectory) else { return Self.group.missing(found) }
        return Self.group.warning(
            "this user is not in it, and root's daemon runs",
            "Join it, and log in again.", command: "sudo usermod --append --groups tracing \(NSUserName())")
    }

    private func ignoredHome(_ home: String) -> Check {
        Self.home.warning(
            "\(home) is ignored for root", "Run daemon and program as another user, or in a mount namespace.")
    }

    // MARK: - The word that programs wait on

    private func waitWords() -> Check {
        let words = WaitFutex.all(user: geteuid())
        guard !words.isEmpty else { return Self.wait.ok("nothing has used it yet") }
        var isServed = false
        for word in words where word.isSet {
            switch SessionDaemon.state(in: word.isPrivate ? privateDirectory : Self.rootDirectory) {
            case .runs, .forbidden: isServed = true
            case .dead, .none:
                let others = SessionDaemon.processes(of: word.isPrivate ? geteuid() : 0).map(String.init)
                guard !others.isEmpty else {
                    return Self.wait.warning(
                        "\(word.name) is set, and no daemon runs",
                        "A killed daemon left it set: start the next daemon before the program.")
                }
                return Self.wait.warning(
                    "\(word.name) is set; process \(others.joined(separator: ", ")) serves elsewhere",
                    "Use that daemon, which has another LTTNG_HOME, or stop it.")
            }
        }
        return Self.wait.ok(isServed ? "set by the daemon that runs" : "free")
    }

    private func registerTimeout() -> Check {
        let name = "LTTNG_UST_REGISTER_TIMEOUT"
        guard let text = environment[name], !text.isEmpty else {
            return Self.timeout.ok("3,000 ms (\(name) is not set)")
        }
        guard let milliseconds = Int(text) else {
            return Self.timeout.warning("\(name)=\(text) is not a number", "Set it to milliseconds, or unset it.")
        }
        if milliseconds < 0 {
            return Self.timeout.warning(
                "\(milliseconds): a daemon that hangs blocks every program", "Unset \(name), or set it to milliseconds."
            )
        }
        if milliseconds == 0 { return Self.timeout.ok("0 ms: a program's first events may come too early") }
        return Self.timeout.ok("\(milliseconds) ms")
    }
}

/// An LTTng session daemon, as its sockets show it.
enum SessionDaemon {
    enum State {
        /// It accepts connections.
        ///
        /// Its process ID is known if it left one.
        case runs(pid_t?)
        /// It runs, but this user may not use its socket.
        case forbidden(pid_t?)
        /// There is a socket that no process listens on.
        case dead
        case none
    }

    /// The state of the daemon that keeps its sockets in a directory.
    static func state(in directory: String) -> State {
        let process = process(in: directory)
        switch connect(to: directory + "/client-lttng-sessiond") {
        // A full queue also shows that a daemon listens.
        case 0, EAGAIN: return .runs(process)
        case ECONNREFUSED: return .dead
        case EACCES, EPERM:
            return process.map { kill($0, 0) != 0 && errno == ESRCH } ?? false ? .dead : .forbidden(process)
        default: return .none
        }
    }

    /// The process ID that a daemon wrote to its file.
    private static func process(in directory: String) -> pid_t? {
        let text = try? String(contentsOfFile: directory + "/lttng-sessiond.pid", encoding: .utf8)
        return text.flatMap { pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// Connects and disconnects, as `lttng` does to find a daemon.
    ///
    /// Returns 0, or the error number.
    private static func connect(to path: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return ENAMETOOLONG }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return result == 0 ? 0 : errno
    }

    /// The process IDs of a user's daemons, wherever their sockets are.
    static func processes(of user: uid_t) -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { process in
            var status = stat()
            guard stat("/proc/\(process)", &status) == 0, status.st_uid == user else { return false }
            // The daemon names its threads, but its first thread keeps the program's name.
            let name = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)
            guard name == "lttng-sessiond\n" else { return false }
            // A process that only prints its version, perhaps for this one, is not a daemon. Neither is a zombie, which
            // has no arguments.
            let arguments = (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)) ?? ""
            return !arguments.isEmpty && !arguments.contains("--version")
        }.sorted()
    }
}

/// The word in shared memory on which programs wait for a session daemon.
///
/// It is `lttng-ust-wait-8` for root's daemon, and `lttng-ust-wait-8-1000` for that of user 1000.
struct WaitFutex {
    let name: String
    let isPrivate: Bool
    /// Whether a daemon has announced itself to programs.
    let isSet: Bool

    /// The words that a program of this user reads.
    static func all(user: uid_t) -> [WaitFutex] {
        let prefix = "lttng-ust-wait-"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/shm")) ?? []
        return names.filter { $0.hasPrefix(prefix) }.sorted().compactMap { name in
            let parts = name.dropFirst(prefix.count).split(separator: "-")
            guard parts.count == 1 || parts.count == 2 && parts[1] == String(user) else { return nil }
            guard let file = FileHandle(forReadingAtPath: "/dev/shm/" + name) else { return nil }
            defer { try? file.close() }
            let bytes = (try? file.read(upToCount: 4)) ?? nil
            return WaitFutex(name: name, isPrivate: parts.count == 2, isSet: bytes?.contains { $0 != 0 } ?? false)
        }
    }
}
