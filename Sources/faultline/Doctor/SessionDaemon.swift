import Foundation

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
