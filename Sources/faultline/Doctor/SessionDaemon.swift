import Foundation

/// A session daemon of LTTng's, as its sockets show it.
enum SessionDaemon {
    enum State {
        /// It takes connections; its number, if it left one.
        case runs(pid_t?)
        /// It runs, and its socket is not for this user.
        case forbidden(pid_t?)
        /// A socket is there that nobody listens on.
        case dead
        case none
    }

    /// The daemon that keeps its sockets in a directory.
    static func state(in directory: String) -> State {
        let process = process(in: directory)
        switch connect(to: directory + "/client-lttng-sessiond") {
        // Whoever has a queue that is full listens.
        case 0, EAGAIN: return .runs(process)
        case ECONNREFUSED: return .dead
        case EACCES, EPERM:
            return process.map { kill($0, 0) != 0 && errno == ESRCH } ?? false ? .dead : .forbidden(process)
        default: return .none
        }
    }

    /// The number that a daemon wrote down.
    private static func process(in directory: String) -> pid_t? {
        let text = try? String(contentsOfFile: directory + "/lttng-sessiond.pid", encoding: .utf8)
        return text.flatMap { pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// Connects and hangs up, as `lttng` does to see whether a daemon is there: 0, or the error's number.
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

    /// The numbers of a user's daemons, wherever they keep their sockets.
    static func processes(of user: uid_t) -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { process in
            var status = stat()
            guard stat("/proc/\(process)", &status) == 0, status.st_uid == user else { return false }
            // The daemon gives its threads names; its first keeps the program's.
            let name = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)
            guard name == "lttng-sessiond\n" else { return false }
            // One that is asked for its version, perhaps by this process, is no daemon; nor is one that has ended and
            // waits to be waited for, which has no arguments any more.
            let arguments = (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)) ?? ""
            return !arguments.isEmpty && !arguments.contains("--version")
        }.sorted()
    }
}

/// The word in shared memory on which programs wait for a session daemon.
///
/// `lttng-ust-wait-8` for root's daemon, `lttng-ust-wait-8-1000` for user 1000's own.
struct WaitWord {
    let name: String
    let isPrivate: Bool
    /// Whether some daemon told programs that it is there.
    let isSet: Bool

    /// Those that a program of this user looks at.
    static func all(user: uid_t) -> [WaitWord] {
        let prefix = "lttng-ust-wait-"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/shm")) ?? []
        return names.filter { $0.hasPrefix(prefix) }.sorted().compactMap { name in
            let parts = name.dropFirst(prefix.count).split(separator: "-")
            guard parts.count == 1 || parts.count == 2 && parts[1] == String(user) else { return nil }
            guard let file = FileHandle(forReadingAtPath: "/dev/shm/" + name) else { return nil }
            defer { try? file.close() }
            let bytes = (try? file.read(upToCount: 4)) ?? nil
            return WaitWord(name: name, isPrivate: parts.count == 2, isSet: bytes?.contains { $0 != 0 } ?? false)
        }
    }
}
