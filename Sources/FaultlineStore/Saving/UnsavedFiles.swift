import FaultlineTrace
import Foundation
import Glibc

/// A file beside the store that lists the files of large values that a save is about to create or remove.
///
/// The save removes it when it ends. A list that is left over belongs to a program that was killed; it is recognized by
/// its lock, which the kernel releases with the process. The first line is the store's identifier, because stores with
/// the same name share a folder; each further line is a file name.
final class UnsavedFiles {
    static let prefix = "unsaved-"
    /// The maximum size in bytes: more than a million file names.
    private static let most = 64 << 20

    private let path: String
    private let descriptor: Int32

    /// Returns `nil` if the file cannot be created.
    init?(_ external: ExternalData) {
        let folder = external.support
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent(Self.prefix + UUID().uuidString).path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        // A program that opens the store before the lock is taken finds an empty list.
        flock(descriptor, LOCK_EX)
        note([external.store])
    }

    deinit { close(descriptor) }

    func note(_ names: [String]) {
        let text = names.map { $0 + "\n" }.joined()
        _ = text.utf8.withContiguousStorageIfAvailable { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Removes the list.
    func finish() { unlink(path) }

    /// Passes the files that an interrupted save listed to a closure, then removes the list.
    ///
    /// Ignores the lists of saves that may still be running, and those of other stores.
    static func take(_ note: URL, of store: String, _ body: ([String]) throws -> Void) {
        guard let descriptor = try? RegularFile.open(note.path) else { return }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0,
            let bytes = try? RegularFile.bytes(of: note.path, atMost: most)
        else { return }
        // An incomplete last line means that its file was not begun.
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.first.map(String.init) == store, lines.count > 1 else {
            if bytes.isEmpty { unlink(note.path) }
            return
        }
        do {
            try body(lines.dropFirst().dropLast().map(String.init))
            unlink(note.path)
        } catch {
            // The store cannot be read now; the next time it is opened, this is tried again.
        }
    }
}
