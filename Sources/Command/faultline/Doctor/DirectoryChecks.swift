import CMachine
import FaultlineFindings
import FaultlineTrace
import Foundation

/// Checks a directory for stores and traces: its space, locks and shared memory, with which network file systems have
/// problems.
struct DirectoryChecks: Examination {
    let path: String

    private static let system = Subject(
        name: "file system", why: "Traces and stores go there; a store needs memory that all its users share.",
        isEssential: true)
    private static let recordLock = Subject(
        name: "record locks",
        why: "SQLite separates writers with them (fcntl); if they do not work, stores are damaged.",
        isEssential: true)
    private static let fileLock = Subject(
        name: "file lock", why: "It keeps two recordings from writing one trace (flock).", isEssential: true)
    private static let log = Subject(
        name: "write-ahead log", why: "Stores use one, and all users of a store share its index in memory.",
        isEssential: true)

    /// The space that a million events take.
    private static let comfortableRoom: UInt64 = 150_000_000
    private static let remedy = "Use a directory on a local disk: name it with --directory, and traces with record -o."

    var silence: Check { Self.system.failed("\(path) \(Doctor.silence)", Self.remedy) }

    func checks() -> [Check] {
        do {
            let system = try FileSystem(at: path)
            return try ScratchDirectory.with(in: path) { scratch in
                [
                    room(system), Self.lock(Self.recordLock, cmachine_try_record_lock(scratch.file("lock"))),
                    Self.lock(Self.fileLock, cmachine_try_file_lock(scratch.file("lock"))),
                    StoreTrial.check(Self.log, in: path, remedy: Self.remedy) { "created and read a store, \($0)" },
                ]
            }
        } catch {
            return [Self.system.failed("cannot create a file in \(path) (\(error))", Self.remedy)]
        }
    }

    private func room(_ system: FileSystem) -> Check {
        let found = "\(system.type), \(Phrase.size(Double(system.free))) free"
        if FileSystem.isShared(system.type) {
            return Self.system.warning("\(found): other machines can reach it", Self.remedy)
        }
        guard system.free >= Self.comfortableRoom else {
            return Self.system.warning("\(found); a million events take 150 MB", "Free some space, or record with -o.")
        }
        return Self.system.ok(found)
    }

    private static func lock(_ subject: Subject, _ result: Int32) -> Check {
        switch result {
        case 0: subject.ok("granted, and seen by others")
        case CMACHINE_LOCK_UNSEEN: subject.failed("granted to several at once", remedy)
        default: subject.failed("refused (\(SystemError(code: result)))", remedy)
        }
    }
}

/// The file system that holds a directory.
struct FileSystem {
    /// The kernel's name of the type: `ext4`, `tmpfs`, `nfs4`, `fuse.sshfs`.
    let type: String
    /// The bytes that this user can still write.
    let free: UInt64

    /// - Throws: ``SystemError`` if the directory does not exist or is not accessible.
    init(at directory: String) throws(SystemError) {
        var status = statvfs()
        guard statvfs(directory, &status) == 0 else { throw SystemError(code: errno) }
        free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        let resolved = realpath(directory, nil).map { position in
            defer { Foundation.free(position) }
            return String(cString: position)
        }
        let table = (try? RegularFile.bytes(of: "/proc/self/mountinfo", atMost: .max)) ?? []
        type = Self.type(of: resolved ?? directory, mounts: String(decoding: table, as: UTF8.self))
    }

    /// Whether several machines can use a file system of this type at the same time.
    ///
    /// Processes on different machines do not share memory, which SQLite's write-ahead log needs
    /// (https://www.sqlite.org/wal.html), and locks are only as reliable as the network's.
    static func isShared(_ type: String) -> Bool {
        sharedTypes.contains(type) || type.hasPrefix("fuse.") && !localFuseTypes.contains(type)
    }

    private static let sharedTypes: Set<String> = [
        "9p", "afs", "ceph", "cifs", "gfs2", "glusterfs", "lustre", "nfs", "nfs4", "ocfs2", "prl_fs", "smb3", "smbfs",
        "vboxsf", "virtiofs", "vmhgfs",
    ]

    private static let localFuseTypes: Set<String> = ["fuse.fuse-overlayfs", "fuse.ntfs-3g", "fuse.mergerfs"]

    /// The type of the last file system mounted at the longest prefix of the path.
    ///
    /// - Parameter table: The mounts, in the format of proc_pid_mountinfo(5).
    static func type(of path: String, mounts table: String) -> String {
        var best = (length: -1, type: "file system unknown")
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard let dash = words.firstIndex(of: "-"), dash + 1 < words.count, words.count > 4 else { continue }
            let point = unescaped(words[4])
            let holds = path == point || point == "/" || path.hasPrefix(point + "/")
            if holds, point.count >= best.length { best = (point.count, String(words[dash + 1])) }
        }
        return best.type
    }

    /// Decodes the escapes of spaces, tabs, line feeds and backslashes in the table, such as `\040`.
    private static func unescaped(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Checks the resource limits of this process, which the programs it runs inherit.
struct LimitChecks: Examination {
    private static let fileSize = Subject(
        name: "file size", why: "No trace and no file of ring buffers can be larger.")
    private static let openFiles = Subject(
        name: "open files", why: "The recorder uses descriptors of at least 512, apart from the program's.")
    private static let lockedMemory = Subject(
        name: "locked memory", why: "Faultline locks no memory.")

    /// Space for several million events, at about 150 MB per million.
    private static let comfortableFile: UInt64 = 1 << 30
    private static let descriptorsApart: UInt64 = 512

    var silence: Check { Self.fileSize.failed("cannot read the limits", "") }

    func checks() -> [Check] {
        [
            fileSize(Self.limit(RLIMIT_FSIZE)), openFiles(Self.limit(RLIMIT_NOFILE)),
            lockedMemory(Self.limit(__RLIMIT_MEMLOCK)),
        ]
    }

    /// The soft limit, or `nil` if there is none.
    private static func limit(_ resource: __rlimit_resource) -> UInt64? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0, limit.rlim_cur != .max else { return nil }
        return UInt64(limit.rlim_cur)
    }

    private func fileSize(_ limit: UInt64?) -> Check {
        guard let limit else { return Self.fileSize.ok("unlimited") }
        let size = Phrase.size(Double(limit))
        guard limit < Self.comfortableFile else { return Self.fileSize.ok(size) }
        return Self.fileSize.warning(
            "\(size), and a million events take 150 MB", "Raise it.", command: "ulimit -f unlimited")
    }

    private func openFiles(_ limit: UInt64?) -> Check {
        guard let limit else { return Self.openFiles.ok("unlimited") }
        guard limit <= Self.descriptorsApart else { return Self.openFiles.ok(Phrase.count(limit)) }
        return Self.openFiles.warning(
            "\(Phrase.count(limit)), which leaves none of at least 512", "Raise it.", command: "ulimit -n 1024")
    }

    private func lockedMemory(_ limit: UInt64?) -> Check {
        Self.lockedMemory.ok((limit.map { Phrase.size(Double($0)) } ?? "unlimited") + "; Faultline locks none")
    }
}
