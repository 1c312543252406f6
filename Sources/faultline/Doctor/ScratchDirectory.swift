import Foundation
import Synchronization

/// A temporary directory for a check.
struct ScratchDirectory {
    let path: String

    /// The directory for temporary files, without a trailing slash.
    static var temporary: String {
        let path = NSTemporaryDirectory()
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Creates a directory in another one.
    ///
    /// - Throws: ``SystemError`` if nothing can be created there.
    init(in directory: String) throws(SystemError) {
        var template = Array("\(directory)/.faultline-doctor-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError(code: errno) }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        Self.present.withLock { _ = $0.insert(path) }
        self.path = path
    }

    /// The existing scratch directories.
    private static let present = Mutex<Set<String>>([])

    /// Removes the directories of work that has not ended, and may never end.
    static func removeAll() {
        for path in present.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
    }

    func file(_ name: String) -> String {
        path + "/" + name
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: path)
        Self.present.withLock { _ = $0.remove(path) }
    }

    /// Runs `body` with a new directory, and removes the directory.
    static func with<Result>(
        in directory: String, _ body: (ScratchDirectory) throws -> Result
    ) throws -> Result {
        let scratch = try ScratchDirectory(in: directory)
        defer { scratch.remove() }
        return try body(scratch)
    }
}
