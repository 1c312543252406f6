import Foundation
import Glibc

/// The CTF traces that lie below a directory, as `lttng create --output` makes it: each a directory with a file
/// `metadata` and the files of its streams.
struct CTFTrace {
    /// The directory, as it was given.
    let path: String
    /// Those below it whose metadata knows events of Faultline, in alphabetical order.
    let directories: [String]

    /// Finds the traces below a directory.
    ///
    /// - Throws: ``ReaderError`` if there are none, or none that holds events of Faultline.
    init(path: String) throws(ReaderError) {
        self.path = path
        var found: [String] = []
        Self.find(in: path, &found)
        guard let first = found.first else { throw .noCTF(path) }
        directories = found.filter(Self.knowsEvents).sorted()
        if directories.isEmpty { throw .foreignCTF(path, producer: Self.producer(of: first)) }
    }

    private static func find(in directory: String, _ found: inout [String]) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else { return }
        if names.contains("metadata"), isRegularFile(directory + "/metadata") { found.append(directory) }
        let parent = (directory as NSString).lastPathComponent
        for name in names.sorted() where isPart(name, of: parent) {
            let path = directory + "/" + name
            if isDirectory(path) { find(in: path, &found) }
        }
    }

    /// Whether a directory is one of those that LTTng makes below another: `ust/uid/1000/64-bit`, `ust/pid/app-4711-…`,
    /// and before them `snapshot-1-…` or `archives/…` of a session with snapshots or rotations.
    ///
    /// Others are passed over, so that a directory which holds all the world is not searched for traces.
    private static func isPart(_ name: String, of parent: String) -> Bool {
        if ["ust", "uid", "pid", "archives"].contains(name) || ["archives", "pid"].contains(parent) { return true }
        return name.hasPrefix("snapshot-") || name.hasSuffix("-bit") || name.allSatisfy(\.isNumber)
    }

    /// Whether a path leads to a directory.
    static func isDirectory(_ path: String) -> Bool { kind(of: path) == S_IFDIR }

    private static func isRegularFile(_ path: String) -> Bool { kind(of: path) == S_IFREG }

    private static func kind(of path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : 0
    }

    // MARK: - Metadata

    /// Whether a trace's metadata declares an event of one of Faultline's providers.
    private static func knowsEvents(_ directory: String) -> Bool {
        guard let metadata = FileManager.default.contents(atPath: directory + "/metadata") else { return false }
        return ["\"faultline:", "\"faultline_"].contains { metadata.range(of: Data($0.utf8)) != nil }
    }

    /// What the metadata says that it was written by: `tracer_name = "lttng-modules"`.
    private static func producer(of directory: String) -> String? {
        guard let metadata = FileManager.default.contents(atPath: directory + "/metadata"),
            let key = metadata.range(of: Data("tracer_name = \"".utf8))
        else { return nil }
        let name = metadata[key.upperBound...].prefix { $0 != UInt8(ascii: "\"") }
        // A name that would not fit into a sentence is none.
        guard (1...64).contains(name.count), name.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return nil }
        return String(decoding: name, as: UTF8.self)
    }
}
