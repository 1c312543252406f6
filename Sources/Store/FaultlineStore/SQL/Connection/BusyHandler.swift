import CSQLite
import FaultlineRecorder
import FaultlineTrace
import Foundation

/// Waits for SQLite's file lock, as `sqlite3_busy_timeout` does, and measures the waits.
///
/// Used under its store's lock.
final class BusyHandler {
    private let timeout: Int32
    private let path: String
    /// Records the waits; `nil` until it is set.
    var recorder: Recorder?
    /// The number of attempts to take the lock since ``record(_:_:)``.
    private(set) var tries: UInt32 = 0
    private var start: UInt64 = 0
    private var ownerProcess: UInt32 = 0

    /// Creates a handler.
    ///
    /// - Parameter timeout: In seconds.
    init(path: String, timeout: Double) {
        self.path = path
        self.timeout = Int32(min(max(timeout, 0) * 1000, Double(Int32.max)))
    }

    /// Registers the handler on a connection, which keeps the handler alive.
    func register(on connection: OpaquePointer) {
        sqlite3_busy_handler(
            connection,
            { handler, count in
                Unmanaged<BusyHandler>.fromOpaque(handler!).takeUnretainedValue().pause(count) ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    // SQLite's own pauses (sqliteDefaultBusyCallback in src/main.c), in milliseconds.
    private static let pauses: [Int32] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100]

    private func pause(_ count: Int32) -> Bool {
        let known = min(Int(count), Self.pauses.count - 1)
        let before = Self.pauses[..<known].reduce(0, +) + max(0, count - Int32(known)) * Self.pauses[known]
        let pause = min(Self.pauses[known], timeout - before)
        if let recorder, recorder.isEnabled {
            if tries == 0 {
                start = recorder.now()
                ownerProcess = FileLocks.writer(of: path)
            }
            tries += 1
        }
        guard pause > 0 else { return false }
        sqlite3_sleep(pause)
        return true
    }

    /// Records the wait of a statement as an event.
    ///
    /// - Parameter result: The statement's result code.
    func record(_ result: Int32, _ origin: TraceOrigin) {
        var wait = TraceEvent.Wait()
        wait.resource = .sqlite
        wait.isBlocking = true
        wait.ownerProcess = ownerProcess
        wait.tries = tries
        wait.error = result & 0xff == SQLITE_BUSY ? UInt32(bitPattern: result) : 0
        tries = 0
        recorder?.record(wait, since: start, context: origin.context, site: origin.site)
    }
}

/// Finds the process that has locked a database file.
enum FileLocks {
    /// The process that holds the write lock; 0 if there is none, if it is this process, or if it is not visible.
    ///
    /// Linux lists locks in `/proc/locks` (proc(5)): `1: POSIX  ADVISORY  WRITE 4711 08:01:1234 120 120`. Querying the
    /// file itself would require opening it again, and closing that descriptor would release this process's own locks
    /// (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
    static func writer(of path: String) -> UInt32 {
        guard let bytes = try? RegularFile.bytes(of: "/proc/locks", atMost: .max) else { return 0 }
        let locks = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        // With a write-ahead log, the lock is on the shared-memory file, otherwise on the database file.
        let files = Set([path + "-shm", path].compactMap(inode))
        for line in locks where line.contains("WRITE") && !line.contains("->") {
            let words = line.split(separator: " ")
            guard words.count >= 6, let process = UInt32(words[4]), process != UInt32(getpid()),
                let inode = words[5].split(separator: ":").last.flatMap({ UInt64($0) }), files.contains(inode)
            else { continue }
            return process
        }
        return 0
    }

    private static func inode(_ path: String) -> UInt64? {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(status.st_ino) : nil
    }
}
