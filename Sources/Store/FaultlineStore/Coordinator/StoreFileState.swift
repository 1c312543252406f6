import CSQLite
import Foundation

/// Identifies the content of a store's file: two equal states have the same rows.
///
/// With a write-ahead log, the content is the file and the frames of the log up to the last commit, which SQLite keeps
/// in the header of the log's index (https://www.sqlite.org/walformat.html#the_wal_index_file_format).
struct StoreFileState {
    /// The state as text.
    let text: String
    /// Whether the file could change again without a difference in its state.
    ///
    /// Without frames in the log, only the time of the last change tells two contents apart, and file systems measure it
    /// in steps of some milliseconds.
    let isFresh: Bool

    private static let freshness = 2.0

    /// Reads the state of an open store; `nil` if the store is not an SQLite file, or is being written.
    init?(_ store: SQLStore) {
        guard store.description.type == .sqlite else { return nil }
        let read = try? store.writer.locked { Self(store.writer.sqlite, store) }
        guard let state = read ?? nil else { return nil }
        self = state
    }

    /// Called under the connection's lock.
    private init?(_ connection: SQLConnection, _ store: SQLStore) {
        var status = stat()
        // The file's header has a counter that each transaction raises, except with a write-ahead log
        // (https://www.sqlite.org/fileformat2.html#file_change_counter).
        guard stat(store.path, &status) == 0, let header = connection.fileHeader else { return nil }
        var parts = [
            store.identity.identifier, store.path, "\(status.st_dev)", "\(status.st_ino)", "\(status.st_size)",
            "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)", Self.text(header[24..<100]),
        ]
        var isFresh = false
        if store.hasWriteAheadLog {
            // There are two copies, which differ while a commit is under way.
            guard let index = connection.logIndexHeader, index[..<48].elementsEqual(index[48..<96]) else { return nil }
            let frames = index[16..<20]
            // The number of frames, the checksum of the last one and the salts of the log.
            parts += [Self.text(frames), Self.text(index[24..<40])]
            let age = Date().timeIntervalSince1970 - Double(status.st_mtim.tv_sec)
            isFresh = frames.allSatisfy { $0 == 0 } && age < Self.freshness
        }
        text = parts.joined(separator: "|")
        self.isFresh = isFresh
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.map { String($0, radix: 16) }.joined(separator: ".")
    }
}

// Both are read with SQLite's own descriptors: closing another descriptor of a file would release SQLite's locks on it
// (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
extension SQLConnection {
    /// Whether the database file was deleted, moved or replaced after it was opened.
    ///
    /// - Complexity: One system call.
    var hasMoved: Bool {
        var hasMoved: Int32 = 0
        let result = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        return result == SQLITE_OK && hasMoved != 0
    }

    /// The first 100 bytes of the database file; `nil` if they cannot be read.
    fileprivate var fileHeader: [UInt8]? {
        guard let file, let read = file.pointee.pMethods?.pointee.xRead else { return nil }
        var bytes = [UInt8](repeating: 0, count: 100)
        return read(file, &bytes, Int32(bytes.count), 0) == SQLITE_OK ? bytes : nil
    }

    /// The header of the write-ahead log's index; `nil` if there is no index.
    fileprivate var logIndexHeader: [UInt8]? {
        guard let file, let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2,
            let map = methods.pointee.xShmMap
        else { return nil }
        var start: UnsafeMutableRawPointer?
        guard map(file, 0, Self.logIndexPage, 0, &start) == SQLITE_OK, let start else { return nil }
        return Array(UnsafeRawBufferPointer(start: start, count: 96))
    }

    /// The size of the index's pages, in bytes.
    private static let logIndexPage: Int32 = 32768

    private var file: UnsafeMutablePointer<sqlite3_file>? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK else { return nil }
        return file
    }
}
