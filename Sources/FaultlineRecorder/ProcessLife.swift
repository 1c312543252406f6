internal import CRecorder
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
        return isZombie(identifier)
    }

    /// Whether a process has released its rings: it has ended, its ID was reused, or it runs another program.
    static func hasLeft(_ process: fl_process, rings: String) -> Bool {
        if hasEnded(process) { return true }
        guard !isElsewhere(process) else { return false }
        // The maps of other users' processes cannot be read, and a process that is just ending has none. The kernel
        // returns them page by page: if other threads change the maps meanwhile, an existing entry can be missed.
        let name = Data((rings as NSString).lastPathComponent.utf8)
        for _ in 0..<Self.looks {
            guard let maps = FileManager.default.contents(atPath: "/proc/\(process.identifier)/maps") else {
                return false
            }
            if maps.range(of: name) != nil { return false }
            usleep(Self.pause)
        }
        return true
    }

    /// The number of consecutive looks in which the rings must be missing, and the pause between two looks in
    /// microseconds.
    private static let looks = 24
    private static let pause: UInt32 = 1000

    private static func isZombie(_ identifier: pid_t) -> Bool {
        guard let status = FileManager.default.contents(atPath: "/proc/\(identifier)/stat"),
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
