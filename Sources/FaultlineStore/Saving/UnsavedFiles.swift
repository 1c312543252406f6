import FaultlineTrace
import Foundation
import Glibc

/// A note beside the store of the files of large values that a save is about to make or to remove.
///
/// It goes with the save. One that is left is that of a program which was killed: it is told from others by its lock, which
/// goes with its process. Its first line is the store's identifier, since stores of one name share a folder; each
/// further line is a file's name.
final class UnsavedFiles {
    static let prefix = "unsaved-"
    /// The most bytes of a note: a million files.
    private static let most = 64 << 20

    private let path: String
    private let descriptor: Int32

    /// `nil` if it cannot be made.
    init?(_ external: ExternalData) {
        let folder = external.support
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent(Self.prefix + UUID().uuidString).path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        // Somebody who opens the store may look into it before this, and finds nothing in it.
        flock(descriptor, LOCK_EX)
        note([external.store])
    }

    deinit { close(descriptor) }

    func note(_ names: [String]) {
        let text = names.map { $0 + "\n" }.joined()
        _ = text.utf8.withContiguousStorageIfAvailable { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Removes the note.
    func finish() { unlink(path) }

    /// Hands over the files that the save of a program made or was to remove which is gone, and removes the note.
    ///
    /// Nothing is handed over of a save that may still run, or of another store.
    static func take(_ note: URL, of store: String, _ body: ([String]) throws -> Void) {
        guard let descriptor = try? RegularFile.open(note.path) else { return }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0,
            let bytes = try? RegularFile.bytes(of: note.path, atMost: most)
        else { return }
        // A last line without an end was not written whole, and its file not begun.
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.first.map(String.init) == store, lines.count > 1 else {
            if bytes.isEmpty { unlink(note.path) }
            return
        }
        do {
            try body(lines.dropFirst().dropLast().map(String.init))
            unlink(note.path)
        } catch {
            // The store cannot be read now; the next opening tries again.
        }
    }
}
