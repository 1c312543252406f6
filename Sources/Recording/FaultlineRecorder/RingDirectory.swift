internal import CRecorder
internal import FaultlineTrace
internal import Foundation

/// The directory in which programs create rings for another process to drain.
package enum RingDirectory {
    /// The minimum free space of a directory, enough for the rings of a few threads.
    package static let minimumSpace: UInt64 = 32 << 20
    /// The default size of a thread's ring; `FAULTLINE_RING_BYTES` overrides it.
    package static let ringBytes = UInt64(FL_RING_BYTES)
    /// The size of a ring when space is scarce.
    package static let minimumRingBytes = UInt64(FL_RING_BYTES_LEAST)

    /// Creates a directory in the first candidate that has room; `nil` with `errno` set if none has.
    ///
    /// - Parameter trace: The trace that the rings go to, recorded for recovery in case this process is killed.
    static func make(in candidates: [String], writtenTo trace: String) -> OwnedDirectory? {
        var failure = ENOSPC
        for candidate in candidates {
            var status = statvfs()
            guard statvfs(candidate, &status) == 0 else {
                failure = errno
                continue
            }
            guard UInt64(status.f_bavail) * UInt64(status.f_frsize) >= minimumSpace else { continue }
            let content = URL(fileURLWithPath: trace).path
            if let made = OwnedDirectory.make(in: candidate, purpose: .rings, content: content) {
                if makeBoard(in: made.path) { return made }
                failure = errno
                made.remove()
                continue
            }
            failure = errno
        }
        errno = failure
        return nil
    }

    /// Creates the file in which processes say that they could not create rings.
    ///
    /// - Returns: Whether it exists; otherwise `errno` is set.
    package static func makeBoard(in directory: String) -> Bool { fl_make_board(directory) }

    /// Notes that this process could not create its rings in a directory.
    ///
    /// - Parameter failure: The `errno` of the failure.
    static func refuse(in directory: String, errno failure: Int32) { fl_refuse(directory, failure) }

    /// The processes that could not create rings in a directory.
    package struct Refusals: Sendable, Hashable {
        package var count: Int
        /// The `errno` of the last failure.
        package var failure: Int32
    }

    /// The processes that noted that they could not create rings, or `nil` if there are none.
    package static func refusals(in directory: String) -> Refusals? {
        var failure: Int32 = 0
        let count = fl_refusals(directory, &failure)
        return count == 0 ? nil : Refusals(count: Int(count), failure: failure)
    }

    /// The other processes that use a directory: those that have mapped its files.
    ///
    /// The maps of other users' processes cannot be read, unless by root.
    ///
    /// - Complexity: O(mappings of all processes).
    package static func users(of directory: String) -> [Int32] {
        let name = Data("\(directory)/".utf8)
        let identifiers =
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
        return identifiers.sorted().filter { identifier in
            identifier != getpid() && ProcessLife.maps(name, in: identifier) == true
        }
    }

    /// The programs that ended, each with the libraries that it had loaded outside the system's directories.
    ///
    /// The preloaded library leaves them. Programs with the same modules count once.
    package static func programs(in directory: String) -> [[LoadedModule]] {
        names(in: directory).filter { $0.hasPrefix(FL_MODULES_PREFIX) }.sorted().compactMap { name in
            let text = try? String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
            let modules = text?.split(separator: "\n").map { LoadedModule(line: $0) } ?? []
            return modules.isEmpty ? nil : modules
        }
    }

    /// Whether the last component of a path is a name that a recorder gives to rings: `faultline-4711-123456.rings`.
    package static func isRingsName(_ path: String) -> Bool {
        let name = (path as NSString).lastPathComponent
        guard path.hasPrefix("/"), name.hasPrefix(FL_RINGS_PREFIX), name.hasSuffix(FL_RINGS_SUFFIX) else {
            return false
        }
        let numbers = name.dropFirst(FL_RINGS_PREFIX.count).dropLast(FL_RINGS_SUFFIX.count).split(
            separator: "-", omittingEmptySubsequences: false)
        return numbers.count == 2 && numbers.allSatisfy { UInt32($0) != nil }
    }

    /// The files that hold rings.
    static func rings(in directory: String) -> [String] {
        names(in: directory).filter { $0.hasSuffix(FL_RINGS_SUFFIX) }.sorted()
    }

    /// Removes the directory around a file of rings, if it was created for rings and none are left.
    static func removeIfEmpty(around rings: String) {
        let directory = (rings as NSString).deletingLastPathComponent
        guard OwnedDirectory.isName(directory), Self.rings(in: directory).isEmpty else { return }
        let isMark = { (name: String) in
            name == FL_BOARD_NAME || name.hasPrefix(FL_MODULES_PREFIX) || name == OwnedDirectory.ownerName
        }
        for name in names(in: directory) where isMark(name) { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }

    private static func names(in directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }
}
