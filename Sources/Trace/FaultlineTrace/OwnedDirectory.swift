internal import Foundation

/// A temporary directory that other processes can recognize as abandoned once its owner was killed.
///
/// It is named `faultline-XXXXXX` and accessible only to its user. It contains a file `owner`, which states the
/// directory's purpose and stays locked while the process lives.
package struct OwnedDirectory: Sendable {
    /// The purpose of a directory, the first word of its file `owner`.
    package enum Purpose: String, Sendable, CaseIterable {
        /// Rings of programs that `faultline record` runs; the path of their trace follows the word.
        case rings
        /// Files in which programs that `faultline record` records to LTTng describe themselves.
        case lttng
        /// Copies of stores.
        case copies
        /// The stores and traces of a demo.
        case demo
        /// Links to the parts of a CTF trace that is read.
        case ctf
        /// Files of the trials of "faultline doctor".
        case doctor
    }

    package let path: String
    /// The descriptor of the locked file; -1 if it could not be created.
    private let lock: Int32

    private static let prefix = "faultline-"
    package static let ownerName = "owner"

    /// Creates a directory; `nil` with `errno` set if that fails.
    ///
    /// - Parameter content: The text after the purpose in the file `owner`. If it cannot be written, the directory is
    ///   merely not found after this process was killed.
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

    /// Removes the directory with its contents.
    package func remove() {
        try? FileManager.default.removeItem(atPath: path)
        if lock >= 0 { close(lock) }
    }

    /// Whether the last component of a path is a name of such a directory.
    package static func isName(_ path: String) -> Bool {
        let name = (path as NSString).lastPathComponent
        return name.hasPrefix(prefix) && name.count == prefix.count + 6
    }

    // MARK: - Those of processes that were killed

    /// A directory whose process has ended.
    package struct Abandoned: Sendable, Hashable {
        package let path: String
        package let purpose: Purpose
        /// The text after the purpose in its file `owner`.
        package let content: String
    }

    /// Returns this user's abandoned directories in a directory, by name.
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
