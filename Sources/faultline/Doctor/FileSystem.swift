import FaultlineTrace
import Foundation

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
