import FaultlineTrace
import Foundation
import Glibc

/// Temporary directories with links to parts of CTF traces, deleted with the object.
final class CTFScratch {
    private let directory: OwnedDirectory
    private let path: String

    /// Creates an empty temporary directory.
    ///
    /// - Parameter path: The trace, for error messages.
    /// - Throws: ``ReaderError`` if there is no room.
    init(path: String) throws(ReaderError) {
        self.path = path
        guard let directory = OwnedDirectory.make(in: NSTemporaryDirectory(), purpose: .ctf, content: path) else {
            throw .cannotSalvage(path, errno)
        }
        self.directory = directory
    }

    deinit {
        directory.remove()
    }

    /// Creates a directory with a trace's metadata.
    func makeDirectory(_ name: String, for trace: String) throws(ReaderError) -> String {
        let directory = self.directory.path + "/" + name
        guard mkdir(directory, 0o700) == 0 else { throw .cannotSalvage(path, errno) }
        try link(trace + "/metadata", at: directory + "/metadata")
        return directory
    }

    /// Creates a link to a file.
    func link(_ file: String, at target: String) throws(ReaderError) {
        guard symlink(URL(fileURLWithPath: file).path, target) == 0 else { throw .cannotSalvage(path, errno) }
    }
}
