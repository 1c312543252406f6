import CSQLite
import Foundation

extension StoreError {
    /// Creates the error for an SQLite result code.
    ///
    /// - Parameters:
    ///   - doing: The operation, as the start of a sentence: `"Reading Item"`.
    ///   - detail: SQLite's message.
    static func sqlite(
        _ result: Int32, doing: String, path: String, detail: String, busyTimeout: Double = 0
    ) -> StoreError {
        switch result & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED:
            StoreError(
                .busy,
                "\(doing) in '\(path)' timed out after \(busyTimeout) s because another connection holds the store's lock; let it finish, or raise busyTimeout.",
                sqliteCode: result)
        case SQLITE_NOTADB:
            StoreError(
                .notADatabase, "'\(path)' is not an SQLite database; name another file, or move this one away.",
                sqliteCode: result)
        case SQLITE_READONLY:
            StoreError(
                .readOnly,
                "\(doing) in '\(path)' failed because the store is read-only; make the file and its folder writable.",
                sqliteCode: result)
        case SQLITE_FULL:
            StoreError(
                .full, "\(doing) in '\(path)' failed because the disk is full; free some space and try again.",
                sqliteCode: result)
        case SQLITE_CANTOPEN:
            cannotOpen(path, result)
        case SQLITE_CORRUPT:
            StoreError(
                .database,
                "\(doing) in '\(path)' failed because the file is damaged (\(detail)); restore it from a copy.",
                sqliteCode: result)
        case SQLITE_CONSTRAINT where result == uniqueViolation:
            StoreError(
                .constraint,
                "\(doing) in '\(path)' failed because values that must be unique already exist (\(detail)); omit them, or save objects with a merge policy that resolves the conflict.",
                sqliteCode: result)
        default:
            StoreError(
                .database, "\(doing) in '\(path)' failed: SQLite reports \"\(detail)\" (code \(result)).",
                sqliteCode: result)
        }
    }

    /// `SQLITE_CONSTRAINT_UNIQUE` (https://www.sqlite.org/rescode.html#constraint_unique), a macro that Swift does not
    /// import.
    static let uniqueViolation: Int32 = SQLITE_CONSTRAINT | 8 << 8

    /// The error for writing to a store that was opened read-only.
    static func readOnlyStore(_ path: String, doing: String) -> StoreError {
        StoreError(
            .readOnly,
            "\(doing) in '\(path)' is refused because the store was opened read-only; open it without isReadOnly, or assign new objects to another store."
        )
    }

    /// The error for writing to a store whose file is no longer at its path.
    static func movedFile(_ path: String, doing: String) -> StoreError {
        StoreError(
            .fileMoved,
            "\(doing) in '\(path)' is refused because the file was deleted, moved or replaced after the store was opened, and the changes would be lost; put the file back, or remove the store from its coordinator and add it again."
        )
    }

    private static func cannotOpen(_ path: String, _ result: Int32) -> StoreError {
        let folder = (path as NSString).deletingLastPathComponent
        var isFolder: ObjCBool = false
        if !FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) || !isFolder.boolValue {
            return StoreError(
                .cannotOpen,
                "'\(path)' cannot be opened because the folder '\(folder)' does not exist; create it first.",
                sqliteCode: result)
        }
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            return StoreError(
                .cannotOpen, "'\(path)' cannot be opened because it is a folder; name a file.", sqliteCode: result)
        }
        return StoreError(
            .cannotOpen, "'\(path)' cannot be opened; check that this user may read and write it and its folder.",
            sqliteCode: result)
    }
}
