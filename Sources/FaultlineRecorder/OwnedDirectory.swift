internal import Foundation

/// A temporary directory of this process, which another one can tell from a directory whose process was killed.
///
/// It is named `faultline-XXXXXX`, can be entered by its user alone, and holds a file `owner`, which is locked as long as
/// the process lives and says what the directory is for.
package struct OwnedDirectory: Sendable {
    /// What a directory is for: the first word of its file `owner`.
    package enum Purpose: String, Sendable, CaseIterable {
        /// Rings of programs that `faultline record` runs; behind the word stands the trace that they go to.
        case rings
        /// Copies of stores.
        case copies
        /// The stores and traces of a demo.
        case demo
    }

    package let path: String
    /// The descriptor of the locked file; -1: it could not be made.
    private let lock: Int32

    private static let prefix = "faultline-"
    package static let ownerName = "owner"

    /// Makes one; `nil` with `errno` set.
    ///
    /// - Parameter content: What the file `owner` says beside the purpose. What cannot be written costs only that the
    ///   directory is not found when this process is killed.
    package static func make(in directory: String, purpose: Purpose, content: String) -> OwnedDirectory? {
        let slash = directory.hasSuffix("/") ? "" : "/"
        var template = Array("\(directory)\(slash)\(prefix)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { return nil }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let lock = open("\(path)/\(ownerName)", O_CREAT | O_EXCL | O_CLOEXEC | O_WRONLY, 0o600)
        if lock >= 0 {
            flock(lock, LOCK_EX | LOCK_NB)
            _ = "\(purpose.rawValue) \(content)".withCString { write(lock, $0, strlen($0)) }
        }
        return OwnedDirectory(path: path, lock: lock)
    }

    /// Removes it with all that it holds.
    package func remove() {
        try? FileManager.default.removeItem(atPath: path)
        if lock >= 0 { close(lock) }
    }

    /// Whether a path's last part is a name that such a directory has.
    package static func isName(_ path: String) -> Bool {
        let name = (path as NSString).lastPathComponent
        return name.hasPrefix(prefix) && name.count == prefix.count + 6
    }

    // MARK: - Those of processes that were killed

    /// A directory whose process has ended.
    package struct Abandoned: Sendable, Hashable {
        package let path: String
        package let purpose: Purpose
        /// What its file `owner` says beside the purpose.
        package let content: String
    }

    /// The abandoned directories of this user in a directory, by name.
    package static func abandoned(in directory: String) -> [Abandoned] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter(isName).sorted().compactMap { abandoned("\(directory)/\($0)") }
    }

    private static func abandoned(_ path: String) -> Abandoned? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
            return nil
        }
        let descriptor = open("\(path)/\(ownerName)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &bytes, bytes.count)
        let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(
            separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard let purpose = words.first.flatMap({ Purpose(rawValue: String($0)) }) else { return nil }
        return Abandoned(path: path, purpose: purpose, content: words.count > 1 ? String(words[1]) : "")
    }
}
