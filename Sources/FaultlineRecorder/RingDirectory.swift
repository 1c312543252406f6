internal import CRecorder
internal import Foundation

/// The directory in which programs make their rings for somebody else to drain.
package enum RingDirectory {
    /// What the name of a file of rings begins with.
    private static let prefix = "faultline-"
    /// What the name of a file begins with that a process leaves whose rings found no room.
    private static let refusal = "refused-"
    /// What the name of a file of rings ends with.
    private static let ringsSuffix = ".rings"

    /// Room for the rings of a few threads; a directory with less is passed over.
    package static let leastSpace: UInt64 = 32 << 20
    /// What a thread's ring takes, unless `FAULTLINE_RING_BYTES` says otherwise.
    package static let ringBytes = UInt64(FL_RING_BYTES)
    /// What it takes where there is no room for more.
    package static let leastRingBytes = UInt64(FL_RING_BYTES_LEAST)

    /// Makes one in the first of some directories that has room; `nil` with `errno` set.
    ///
    /// - Parameter trace: The trace that the rings go to, for whoever finds the directory when this process was killed.
    static func make(in candidates: [String], tellingOf trace: String) -> OwnedDirectory? {
        var failure = ENOSPC
        for candidate in candidates {
            var status = statvfs()
            guard statvfs(candidate, &status) == 0 else {
                failure = errno
                continue
            }
            guard UInt64(status.f_bavail) * UInt64(status.f_frsize) >= leastSpace else { continue }
            let content = URL(fileURLWithPath: trace).path
            if let made = OwnedDirectory.make(in: candidate, purpose: .rings, content: content) { return made }
            failure = errno
        }
        errno = failure
        return nil
    }

    /// Tells whoever drains a directory that this process could not make its rings there.
    static func refuse(in directory: String) {
        let marker = open("\(directory)/\(refusal)\(getpid())", O_CREAT | O_EXCL | O_CLOEXEC | O_WRONLY, 0o600)
        if marker >= 0 { close(marker) }
    }

    /// How many processes told that.
    static func refusals(in directory: String) -> Int {
        names(in: directory).count { $0.hasPrefix(refusal) }
    }

    /// Whether a path's last part is a name that a recorder gives to rings: `faultline-4711-123456.rings`.
    package static func isRingsName(_ path: String) -> Bool {
        let name = (path as NSString).lastPathComponent
        guard path.hasPrefix("/"), name.hasPrefix(prefix), name.hasSuffix(ringsSuffix) else { return false }
        let numbers = name.dropFirst(prefix.count).dropLast(ringsSuffix.count).split(
            separator: "-", omittingEmptySubsequences: false)
        return numbers.count == 2 && numbers.allSatisfy { UInt32($0) != nil }
    }

    /// The files that hold rings.
    static func rings(in directory: String) -> [String] {
        names(in: directory).filter { $0.hasSuffix(ringsSuffix) }.sorted()
    }

    /// Removes the directory that a file of rings lay in, if it was made for rings and none are left.
    static func removeIfEmpty(around rings: String) {
        let directory = (rings as NSString).deletingLastPathComponent
        guard OwnedDirectory.isName(directory), Self.rings(in: directory).isEmpty else { return }
        for name in names(in: directory) where name.hasPrefix(refusal) || name == OwnedDirectory.ownerName {
            unlink("\(directory)/\(name)")
        }
        rmdir(directory)
    }

    private static func names(in directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }
}
