import Foundation
import Glibc

/// Where a store really is.
enum StorePath {
    /// The path without links: what lies beside a store lies beside the file itself.
    ///
    /// - Throws: ``ReplayError`` if there is no such file, or it is none.
    static func resolved(_ path: String) throws(ReplayError) -> String {
        guard let real = realpath(path, nil) else { throw ReplayError.unreadable(path) }
        defer { free(real) }
        let resolved = String(cString: real)
        var status = stat()
        // A pipe would wait for somebody, and a device has no end.
        guard stat(resolved, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw ReplayError.noFile(path) }
        guard access(resolved, R_OK) == 0 else { throw ReplayError.unreadable(path) }
        return resolved
    }

    /// The ends of the names of what lies beside a store and belongs to it: its write-ahead log and its rollback journal.
    static func companions(of path: String) -> [String] {
        ["-wal", "-journal"].filter { size(of: path + $0) > 0 }
    }

    /// The bytes of a file; 0: none, or nobody may look.
    static func size(of path: String) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
    }
}
