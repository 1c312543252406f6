internal import CRecorder
internal import FaultlineTrace
internal import Foundation

/// Checks whether recording processes still exist.
package enum ProcessLife {
    /// Whether a process's ID belongs to another PID namespace, and means nothing here.
    static func isElsewhere(_ process: fl_process) -> Bool {
        process.space != 0 && process.space != namespace
    }

    /// Whether a process has ended.
    ///
    /// A zombie has ended although its ID is still taken. `false` if the ID belongs to another namespace, where
    /// nothing can be known.
    static func hasEnded(_ process: fl_process) -> Bool {
        guard !isElsewhere(process) else { return false }
        return hasEnded(Int32(bitPattern: process.identifier))
    }

    /// Whether a process of this PID namespace has ended, by its ID; a zombie has.
    package static func hasEnded(_ identifier: Int32) -> Bool {
        if kill(identifier, 0) != 0 { return errno == ESRCH }
        return runningThread(of: identifier) == nil
    }

    /// The ID of a thread of a process that has not ended, or `nil` if all have.
    ///
    /// It is the process's own ID unless the main thread has ended before the others, as with `dispatchMain()` or
    /// `pthread_exit(3)`. Then the files of `/proc/ID` are those of a zombie, and `/proc/THREAD` has the process's maps.
    static func runningThread(of identifier: Int32) -> Int32? {
        guard isZombie("/proc/\(identifier)") else { return identifier }
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/task")) ?? []
        return threads.compactMap { Int32($0) }.first { thread in
            thread != identifier && !isZombie("/proc/\(identifier)/task/\(thread)")
        }
    }

    /// Whether a process has mapped a file, or a file in a directory, whose path contains a text.
    ///
    /// - Returns: `nil` if its maps cannot be read: those of other users' processes, and of one that is just ending.
    static func maps(_ text: Data, in identifier: Int32) -> Bool? {
        guard let thread = runningThread(of: identifier),
            let maps = try? RegularFile.bytes(of: "/proc/\(thread)/maps", atMost: .max)
        else { return nil }
        return Data(maps).range(of: text) != nil
    }

    /// Whether a process has released its rings: it has ended, its ID was reused, or it runs another program.
    static func hasLeft(_ process: fl_process, rings: String) -> Bool {
        if hasEnded(process) { return true }
        guard !isElsewhere(process) else { return false }
        let name = Data((rings as NSString).lastPathComponent.utf8)
        return maps(name, in: Int32(bitPattern: process.identifier)) == false
    }

    /// - Parameter folder: The folder of a process or a thread in `/proc`.
    private static func isZombie(_ folder: String) -> Bool {
        guard let status = FileManager.default.contents(atPath: folder + "/stat"),
            // The state follows the name, which can contain anything but ends with the last parenthesis.
            let name = status.lastIndex(of: UInt8(ascii: ")"))
        else { return false }
        let state = status[name...].dropFirst(2).first
        return state == UInt8(ascii: "Z") || state == UInt8(ascii: "X")
    }

    private static let namespace: UInt64 = {
        var status = stat()
        return stat("/proc/self/ns/pid", &status) == 0 ? UInt64(status.st_ino) : 0
    }()
}

extension fl_process {
    /// Whether another recording process has replaced this one: it has the same ID, and runs another program.
    func isPredecessor(of other: fl_process) -> Bool {
        identifier == other.identifier && space == other.space && image != other.image
    }
}

/// The memory of a process, as the system counts it.
struct ProcessMemory {
    /// Memory in RAM, in bytes.
    var resident: UInt64
    /// The same, with shared pages divided among the processes that share them; 0 if it is not known.
    var proportional: UInt64

    /// Reads the memory of a process; `nil` if it has ended.
    ///
    /// - Complexity: The kernel walks the process's page tables, which takes some milliseconds for each gigabyte.
    init?(of process: UInt32) {
        guard let thread = ProcessLife.runningThread(of: Int32(bitPattern: process)) else { return nil }
        // "Rss:   1234 kB" (proc_pid_smaps(5)). Only the process's user may read the file.
        if let text = try? String(contentsOfFile: "/proc/\(thread)/smaps_rollup", encoding: .utf8) {
            let sizes = { (name: String) -> UInt64? in
                let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
                return line?.split(separator: " ").dropFirst().first.flatMap { UInt64($0) }.map { $0 * 1024 }
            }
            guard let resident = sizes("Rss") else { return nil }
            (self.resident, proportional) = (resident, sizes("Pss") ?? 0)
            return
        }
        guard let text = try? String(contentsOfFile: "/proc/\(thread)/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ UInt64($0) })
        else { return nil }
        (resident, proportional) = (pages * UInt64(getpagesize()), 0)
    }
}

/// A program or a library that a process had loaded.
package struct LoadedModule: Hashable, Sendable {
    /// The file's path.
    package let path: String
    /// Whether its copy of SQLite has no symbols and is recorded by its hooks.
    package let isRecordedByHooks: Bool

    /// Reads a line of the list that the preloaded library leaves.
    init(line: some StringProtocol) {
        isRecordedByHooks = line.hasPrefix(FL_MODULE_MARK)
        path = String(isRecordedByHooks ? line.dropFirst() : line[...])
    }
}
