internal import CRecorder
internal import Foundation

/// The directory in which programs make their rings for somebody else to drain.
package enum RingDirectory {
    /// What a directory's name begins with; six more letters and digits follow.
    private static let prefix = "faultline-"
    /// What the name of a file begins with that a process leaves whose rings found no room.
    private static let refusal = "refused-"

    /// Room for the rings of a few threads; a directory with less is passed over.
    package static let leastSpace: UInt64 = 32 << 20
    /// What a thread's ring takes, unless `FAULTLINE_RING_BYTES` says otherwise.
    package static let ringBytes = UInt64(FL_RING_BYTES)
    /// What it takes where there is no room for more.
    package static let leastRingBytes = UInt64(FL_RING_BYTES_LEAST)

    /// Makes one in the first of some directories that has room; `nil` with `errno` set.
    static func make(in candidates: [String]) -> String? {
        var failure = ENOSPC
        for candidate in candidates {
            var status = statvfs()
            guard statvfs(candidate, &status) == 0 else {
                failure = errno
                continue
            }
            guard UInt64(status.f_bavail) * UInt64(status.f_frsize) >= leastSpace else { continue }
            var template = Array("\(candidate)/\(prefix)XXXXXX".utf8CString)
            if mkdtemp(&template) != nil {
                return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            }
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

    /// The files that hold rings.
    static func rings(in directory: String) -> [String] {
        names(in: directory).filter { $0.hasSuffix(".rings") }.sorted()
    }

    /// Removes the directory that a file of rings lay in, if it was made for rings and none are left.
    static func removeIfEmpty(around rings: String) {
        let directory = (rings as NSString).deletingLastPathComponent
        let name = (directory as NSString).lastPathComponent
        guard name.hasPrefix(prefix), name.count == prefix.count + 6, Self.rings(in: directory).isEmpty else { return }
        for name in names(in: directory) where name.hasPrefix(refusal) { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }

    private static func names(in directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }
}
