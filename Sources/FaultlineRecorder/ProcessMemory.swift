internal import Foundation

/// The memory of a process, as the system counts it.
struct ProcessMemory {
    /// Memory in RAM, in bytes.
    var resident: UInt64
    /// The same, with shared pages divided among the processes that share them; 0 if it is not known.
    var proportional: UInt64

    /// Reads the memory of a process; `nil` if it has ended.
    ///
    /// - Complexity: the kernel walks the process's page tables, which takes some milliseconds for each gigabyte.
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
