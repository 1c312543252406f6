internal import CRecorder
internal import Foundation

/// Whether processes that record are still there.
enum ProcessLife {
    /// Whether a process's number is that of another namespace, and means nothing here.
    static func isElsewhere(_ process: fl_process) -> Bool {
        process.space != 0 && process.space != namespace
    }

    /// Whether a process has ended.
    ///
    /// One that its parent did not wait for has ended although its number is still taken. `false` where nothing can be
    /// known, since the number is that of another namespace.
    static func hasEnded(_ process: fl_process) -> Bool {
        guard !isElsewhere(process) else { return false }
        let identifier = pid_t(bitPattern: process.identifier)
        if kill(identifier, 0) != 0 { return errno == ESRCH }
        return isZombie(identifier)
    }

    /// Whether a process has let go of its rings: it has ended, its number went to another, or it runs another program.
    static func hasLeft(_ process: fl_process, rings: String) -> Bool {
        if hasEnded(process) { return true }
        guard !isElsewhere(process) else { return false }
        // What it has mapped can be read of one's own processes only; one that is just ending has nothing mapped.
        // The list is read page by page: one that other threads change meanwhile can miss what is there all along.
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

    /// How often rings must be missing to be gone, and microseconds between two looks.
    private static let looks = 24
    private static let pause: UInt32 = 1000

    private static func isZombie(_ identifier: pid_t) -> Bool {
        guard let status = FileManager.default.contents(atPath: "/proc/\(identifier)/stat"),
            // The state stands behind the name, which may hold anything but ends with the last parenthesis.
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
    /// Whether another process that records has taken this one's place: it has its number, and runs another program.
    func isPredecessor(of other: fl_process) -> Bool {
        identifier == other.identifier && space == other.space && image != other.image
    }
}
