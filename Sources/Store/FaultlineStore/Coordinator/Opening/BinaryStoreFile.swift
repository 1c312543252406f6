import CSQLite
import FaultlineTrace
import Foundation

/// The file of a binary store: the image of an in-memory database.
///
/// Used under the store's lock.
package final class BinaryStoreFile {
    private let path: String
    /// Whether written data must survive a crash of the machine.
    private let isSynced: Bool
    /// The file as it was last read or written; `nil` if there was none.
    private var state: State?

    /// Distinguishes a file from one that replaced it.
    private struct State: Equatable {
        var device: UInt
        var number: UInt
        var size: Int
        var seconds: Int
        var nanoseconds: Int

        init(_ status: stat) {
            device = UInt(status.st_dev)
            number = UInt(status.st_ino)
            size = Int(status.st_size)
            seconds = Int(status.st_mtim.tv_sec)
            nanoseconds = Int(status.st_mtim.tv_nsec)
        }
    }

    package init(_ description: PersistentStoreDescription) {
        // Resolve links first, because renaming would replace the link instead of its target.
        path = description.url.resolvingSymlinksInPath().path
        isSynced = description.synchronization != .off
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    // MARK: - Reading

    /// Loads the file into a database.
    ///
    /// - Returns: Whether there is a file.
    package func load(into connection: SQLConnection) throws(StoreError) -> Bool {
        // First, so that a change during the read is detected when the file is replaced.
        guard let status = Self.status(path) else { return false }
        state = State(status)
        let image: Data
        do {
            image = Data(try RegularFile.bytes(of: path, atMost: .max))
        } catch {
            var failure = StoreError.sqlite(SQLITE_CANTOPEN, doing: "Opening the store", path: path, detail: "")
            failure.sqliteCode = 0
            failure.cause = error
            throw failure
        }
        guard !image.isEmpty else { return false }
        try check(image)
        let result = image.withUnsafeBytes { Self.copy($0, into: connection.handle) }
        guard result == SQLITE_OK else { throw damaged(String(cString: sqlite3_errstr(result)), result) }
        try checkPages(of: connection)
        return true
    }

    /// Throws if the file is not the image of a database.
    private func check(_ image: Data) throws(StoreError) {
        guard image.starts(with: Data("SQLite format 3\0".utf8)), image.count > 100 else {
            let start = image.prefix(1 << 16)
            if ["bplist00", "NSKeyedArchiver"].contains(where: { start.range(of: Data($0.utf8)) != nil }) {
                throw StoreError(
                    .unsupportedStore,
                    "'\(path)' is a keyed archive, the format of Core Data's binary stores, which Faultline cannot read; let Core Data migrate it to an SQLite store."
                )
            }
            throw StoreError(
                .notADatabase, "'\(path)' is not a binary store; name another file, or move this one away.")
        }
        // The version of the file format (https://www.sqlite.org/fileformat.html#file_format_version_numbers).
        guard image[image.startIndex + 18] == 1, image[image.startIndex + 19] == 1 else {
            throw StoreError(
                .unsupportedStore,
                "'\(path)' is an SQLite store, not a binary one; set the description's type to sqlite.")
        }
    }

    /// Copies the image through a second database.
    ///
    /// SQLite handles a deserialized database differently from a plain in-memory one: serializing it omits uncommitted
    /// changes.
    private static func copy(_ image: UnsafeRawBufferPointer, into database: OpaquePointer) -> Int32 {
        var source: OpaquePointer?
        defer { sqlite3_close(source) }
        var result = sqlite3_open_v2(SQLConnection.memory, &source, SQLITE_OPEN_READWRITE, nil)
        guard result == SQLITE_OK else { return result }
        let bytes = UnsafeMutablePointer(mutating: image.bindMemory(to: UInt8.self).baseAddress)
        let size = sqlite3_int64(image.count)
        result = sqlite3_deserialize(source, "main", bytes, size, size, UInt32(SQLITE_DESERIALIZE_READONLY))
        guard result == SQLITE_OK else { return result }
        guard let backup = sqlite3_backup_init(database, "main", source, "main") else {
            return sqlite3_extended_errcode(database)
        }
        result = sqlite3_backup_step(backup, -1)
        let finished = sqlite3_backup_finish(backup)
        return result == SQLITE_DONE ? finished : result
    }

    /// The whole file has been read anyway, so detect damage now rather than when data turns out to be missing.
    private func checkPages(of connection: SQLConnection) throws(StoreError) {
        let statement = try connection.prepare("PRAGMA quick_check(1)")
        let result = sqlite3_step(statement.handle)
        guard result == SQLITE_ROW, let text = sqlite3_column_text(statement.handle, 0) else {
            throw damaged(String(cString: sqlite3_errmsg(connection.handle)), result)
        }
        let answer = String(cString: text)
        guard answer == "ok" else { throw damaged(answer, SQLITE_CORRUPT) }
    }

    private func damaged(_ detail: String, _ result: Int32) -> StoreError {
        let line = detail.split(separator: "\n").joined(separator: ", ")
        return .sqlite(
            result == SQLITE_NOMEM ? result : SQLITE_CORRUPT, doing: "Opening the store", path: path, detail: line)
    }

    // MARK: - Writing

    /// Replaces the file by an image of the database, including the changes of the open transaction.
    ///
    /// The old file stays until the new one is complete, and remains if writing fails.
    package func write(_ connection: SQLConnection, doing: String) throws(StoreError) {
        // A missing file is created again.
        if let found = Self.status(path).map({ State($0) }), found != state {
            throw StoreError(
                .conflict,
                "\(doing) in '\(path)' is refused because another writer has replaced the file since it was read; open the store again and repeat the changes."
            )
        }
        var size: sqlite3_int64 = 0
        guard let image = sqlite3_serialize(connection.handle, "main", &size, 0) else {
            throw connection.error(SQLITE_NOMEM, doing: doing)
        }
        defer { sqlite3_free(image) }
        do {
            state = State(try replace(UnsafeRawBufferPointer(start: image, count: Int(size))))
        } catch {
            throw failure(error, doing)
        }
    }

    private func replace(_ image: UnsafeRawBufferPointer) throws(Errno) -> stat {
        let folder = (path as NSString).deletingLastPathComponent
        let temporary = "\(folder)/.\(UUID().uuidString)"
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw Errno() }
        var isOpen = true
        do throws(Errno) {
            if let old = Self.status(path) { _ = fchmod(file, old.st_mode & 0o7777) }
            var done = 0
            while done < image.count {
                let count = Foundation.write(file, image.baseAddress! + done, image.count - done)
                guard count >= 0 || errno == EINTR else { throw Errno() }
                done += max(count, 0)
            }
            if isSynced, fsync(file) != 0 { throw Errno() }
            var status = stat()
            guard fstat(file, &status) == 0 else { throw Errno() }
            isOpen = false
            guard close(file) == 0 else { throw Errno() }
            guard rename(temporary, path) == 0 else { throw Errno() }
            if isSynced { sync(folder) }
            return status
        } catch {
            if isOpen { close(file) }
            unlink(temporary)
            throw error
        }
    }

    /// Syncs the folder after the rename.
    ///
    /// Failing does not fail the save: the file is in place, and the rename cannot be undone.
    private func sync(_ folder: String) {
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        _ = fsync(directory)
        close(directory)
    }

    private struct Errno: Error {
        var code = errno
    }

    private func failure(_ error: Errno, _ doing: String) -> StoreError {
        let reason = String(cString: strerror(error.code))
        let cause = POSIXError(POSIXErrorCode(rawValue: error.code) ?? .EIO)
        switch error.code {
        case ENOENT:
            var failure = StoreError.sqlite(SQLITE_CANTOPEN, doing: doing, path: path, detail: "")
            failure.sqliteCode = 0
            failure.cause = cause
            return failure
        case ENOSPC, EDQUOT:
            return StoreError(
                .full, "\(doing) in '\(path)' failed because the disk is full; free some space and try again.",
                cause: cause)
        case EROFS, EACCES, EPERM:
            return StoreError(
                .readOnly,
                "\(doing) in '\(path)' failed because the file cannot be replaced (\(reason)); make its folder writable.",
                cause: cause)
        default:
            return StoreError(
                .cannotOpen,
                "\(doing) in '\(path)' failed because the file cannot be replaced (\(reason)); check its folder, and save again.",
                cause: cause)
        }
    }
}
