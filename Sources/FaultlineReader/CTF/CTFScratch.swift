import Foundation
import Glibc

/// Directories that look like CTF traces and hold part of them, as links; they go with their owner.
final class CTFScratch {
    private let root: String
    private let path: String

    /// Makes an empty one.
    ///
    /// - Parameter path: the trace, for messages.
    /// - Throws: ``ReaderError`` if there is no room.
    init(path: String) throws(ReaderError) {
        self.path = path
        var template = Array((NSTemporaryDirectory() + "/faultline-ctf-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw .cannotSalvage(path, errno) }
        root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: root)
    }

    /// A new directory with a trace's metadata.
    func makeDirectory(_ name: String, for trace: String) throws(ReaderError) -> String {
        let directory = root + "/" + name
        guard mkdir(directory, 0o700) == 0 else { throw .cannotSalvage(path, errno) }
        try link(trace + "/metadata", at: directory + "/metadata")
        return directory
    }

    /// Links to a file.
    func link(_ file: String, at place: String) throws(ReaderError) {
        guard symlink(URL(fileURLWithPath: file).path, place) == 0 else { throw .cannotSalvage(path, errno) }
    }
}
