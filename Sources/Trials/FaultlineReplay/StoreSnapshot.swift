import Dispatch
import Glibc

/// Copies a store in a consistent state, although other programs may be writing to it.
///
/// It only reads the files. It opens no SQLite connection, and creates nothing next to the store. A copy is valid if no
/// commit or checkpoint wrote to the database file meanwhile. If a program writes without a pause, the copy is made
/// under the lock that every SQLite reader takes (https://www.sqlite.org/lockingv3.html).
struct StoreSnapshot {
    /// The store's own path, without links (``StorePath``).
    let path: String
    /// Copies a file to a new one, never as a link.
    let copy: (_ source: String, _ suffix: String) throws(ReplayError) -> Void
    let remove: (_ suffix: String) -> Void

    /// The seconds until the copy is made under a lock, and until it is given up.
    private static let patience = 0.5
    private static let limit = 10.0

    /// Copies the database file, its write-ahead log, and the journal of an unfinished transaction.
    ///
    /// - Throws: ``ReplayError`` if there is no space, a file cannot be read, or the store is written to all the time.
    func take() throws(ReplayError) {
        let start = Self.seconds()
        while true {
            let lock = Self.seconds() - start > Self.patience ? ReadLock(path) : nil
            if lock != nil || Self.seconds() - start <= Self.patience, try attempt(isLocked: lock != nil) { return }
            guard Self.seconds() - start < Self.limit else { throw ReplayError.keepsChanging(path) }
            usleep(2000)
        }
    }

    /// Makes a copy.
    ///
    /// Returns false, and leaves no copy, if the store changed meanwhile.
    private func attempt(isLocked: Bool) throws(ReplayError) -> Bool {
        let before = Condition(path)
        guard isLocked || before.isSettled else { return false }
        var copied = [""]
        func undo() { for suffix in copied { remove(suffix) } }
        do {
            try copy(path, "")
            for suffix in StorePath.companions(of: path) {
                // An open transaction has so far written only to its journal.
                if suffix == "-journal", isLocked, ReadLock.isReserved(path) { continue }
                copied.append(suffix)
                try copy(path + suffix, suffix)
            }
        } catch {
            undo()
            // A journal disappears when its transaction ends.
            if Condition(path) != before { return false }
            throw error
        }
        let after = Condition(path)
        // Under the lock, no connection can write to the database file, but the log can restart.
        if isLocked ? after.log == before.log : after == before { return true }
        undo()
        return false
    }

    private static func seconds() -> Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

    // MARK: - Changes

    /// The parts of a store's files that change whenever the database file is written.
    private struct Condition: Equatable {
        /// The file's size, modification time and inode, and the counters in its header.
        private var file: [Int] = []
        private var header: [UInt8] = []
        /// The log's header with its salts, and its checkpoint progress from the log's index.
        private(set) var log: [UInt8] = []
        private var checkpoints: [UInt8] = []
        private var journal: [UInt8] = []

        init(_ path: String) {
            var status = stat()
            if stat(path, &status) == 0 {
                file = [Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec, Int(status.st_ino)]
            }
            // The change counter and the version-valid-for number (https://www.sqlite.org/fileformat2.html).
            header = Self.bytes(of: path, 24..<28) + Self.bytes(of: path, 92..<96)
            log = Self.bytes(of: path + "-wal", 0..<24)
            // nBackfill and nBackfillAttempted (https://www.sqlite.org/walformat.html).
            checkpoints = Self.bytes(of: path + "-shm", 96..<100) + Self.bytes(of: path + "-shm", 128..<132)
            journal = Self.bytes(of: path + "-journal", 0..<28)
        }

        /// Whether no checkpoint or commit is in progress.
        var isSettled: Bool {
            checkpoints.count < 8 || checkpoints[0..<4] == checkpoints[4..<8]
        }

        private static func bytes(of path: String, _ range: Range<Int>) -> [UInt8] {
            let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard file >= 0 else { return [] }
            defer { close(file) }
            var bytes = [UInt8](repeating: 0, count: range.count)
            let count = pread(file, &bytes, bytes.count, off_t(range.lowerBound))
            return Array(bytes.prefix(max(0, count)))
        }
    }
}

/// SQLite's shared lock on a database file, and the lock that prevents checkpoints of a write-ahead log.
///
/// Both belong to their own open file descriptions, so they do not affect other connections of this process.
private final class ReadLock {
    /// `PENDING_BYTE`, `RESERVED_BYTE`, and the range of shared locks (sqlite's os.h).
    private static let pending: Int = 0x4000_0000
    private static let reserved = pending + 1
    private static let shared = pending + 2
    private static let sharedSize = 510
    /// `WAL_CKPT_LOCK` (https://www.sqlite.org/walformat.html#wal_locks).
    private static let checkpoint = 121

    /// `F_OFD_GETLK` and `F_OFD_SETLK` (fcntl.h), which Swift's Glibc module lacks.
    private static let (ofGet, ofSet): (Int32, Int32) = (36, 37)

    private let files: [Int32]

    /// Returns `nil` if another connection holds a conflicting lock.
    init?(_ path: String) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        let index = open(path + "-shm", O_RDONLY | O_CLOEXEC)
        files = [file, index].filter { $0 >= 0 }
        // A writer that waits for readers to finish holds the pending byte, which keeps out new readers.
        guard file >= 0, Self.set(F_RDLCK, file, Self.pending, 1),
            Self.set(F_RDLCK, file, Self.shared, Self.sharedSize)
        else { return nil }
        _ = Self.set(F_UNLCK, file, Self.pending, 1)
        if index >= 0, !Self.set(F_RDLCK, index, Self.checkpoint, 1) { return nil }
    }

    deinit { for file in files { close(file) } }

    /// Whether a connection has begun to write, but not yet to the database file, which others still read.
    static func isReserved(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var lock = flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: reserved, l_len: 1, l_pid: 0)
        return fcntl(file, ofGet, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }

    private static func set(_ type: Int32, _ file: Int32, _ start: Int, _ length: Int) -> Bool {
        var lock = flock(l_type: Int16(type), l_whence: Int16(SEEK_SET), l_start: start, l_len: length, l_pid: 0)
        return fcntl(file, ofSet, &lock) == 0
    }
}
