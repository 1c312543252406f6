import Foundation
import Synchronization

/// A directory of the doctor's own, for as long as it tries something.
struct ScratchDirectory {
    let path: String

    /// The directory for temporary files, without a slash at its end.
    static var temporary: String {
        let path = NSTemporaryDirectory()
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Makes one in another directory.
    ///
    /// - Throws: ``SystemError`` if nothing can be made there.
    init(in directory: String) throws(SystemError) {
        var template = Array("\(directory)/.faultline-doctor-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemError(code: errno) }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        Self.present.withLock { _ = $0.insert(path) }
        self.path = path
    }

    /// Those that are there.
    private static let present = Mutex<Set<String>>([])

    /// Removes those of work that has not ended, and may never end.
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

    /// Does something in a directory of its own and removes it.
    static func with<Result>(
        in directory: String, _ body: (ScratchDirectory) throws -> Result
    ) throws -> Result {
        let scratch = try ScratchDirectory(in: directory)
        defer { scratch.remove() }
        return try body(scratch)
    }
}
