import Foundation
import Glibc

/// Resolves the location of a store.
package enum StorePath {
    /// Returns the path without links, because companion files are next to the file itself.
    ///
    /// - Throws: ``ReplayError`` if the file does not exist, is not a regular file or cannot be read.
    static func resolved(_ path: String) throws(ReplayError) -> String {
        guard let real = realpath(path, nil) else { throw ReplayError.unreadable(path, errno) }
        defer { free(real) }
        let resolved = String(cString: real)
        var status = stat()
        // Reading a pipe could block, and a device has no end.
        guard stat(resolved, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw ReplayError.noFile(path) }
        guard access(resolved, R_OK) == 0 else { throw ReplayError.unreadable(path, errno) }
        return resolved
    }

    /// The suffixes of a store's companion files that exist: its write-ahead log and its rollback journal.
    static func companions(of path: String) -> [String] {
        ["-wal", "-journal"].filter { size(of: path + $0) > 0 }
    }

    /// The bytes of a file, or 0 if there is none or it is not accessible.
    package static func size(of path: String) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
    }

    /// The pages of a database file and the bytes of one, or `nil` if it is no such file.
    ///
    /// See https://www.sqlite.org/fileformat2.html#page_size.
    package static func pages(of path: String) -> (count: UInt64, size: UInt64)? {
        guard let path = try? resolved(path), let file = FileHandle(forReadingAtPath: path),
            let header = try? file.read(upToCount: 18), header.count == 18, header.starts(with: "SQLite format 3".utf8)
        else { return nil }
        let stored = UInt64(header[16]) << 8 | UInt64(header[17])
        let size = stored == 1 ? 65536 : stored
        return size == 0 ? nil : (self.size(of: path) / size, size)
    }
}
