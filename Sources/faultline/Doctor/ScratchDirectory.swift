import FaultlineTrace
import Foundation
import Synchronization

/// A temporary directory for a check.
struct ScratchDirectory {
    private let directory: OwnedDirectory
    var path: String { directory.path }

    /// The directory for temporary files, without a trailing slash.
    static var temporary: String {
        let path = NSTemporaryDirectory()
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Creates a directory in another one.
    ///
    /// - Throws: ``SystemError`` if nothing can be created there.
    init(in directory: String) throws(SystemError) {
        guard let made = OwnedDirectory.make(in: directory, purpose: .doctor, content: "") else {
            throw SystemError(code: errno)
        }
        Self.present.withLock { _ = $0.insert(made.path) }
        self.directory = made
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
        directory.remove()
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
