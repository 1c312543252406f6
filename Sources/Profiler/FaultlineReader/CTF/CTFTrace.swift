import CElfutils
import FaultlineTrace
import Foundation
import Glibc

// The compiler attributes "stat" to whichever C module it loads first: this one or Glibc.

/// The CTF traces below a directory, in the layout of `lttng create --output`.
///
/// Each trace is a directory with a file `metadata` and the files of its streams.
struct CTFTrace {
    /// The directory, as it was given.
    let path: String
    /// The traces' directories whose metadata declares events of Faultline, in alphabetical order.
    let directories: [String]

    /// Finds the traces below a directory.
    ///
    /// - Throws: ``ReaderError`` if there are none, or none with events of Faultline.
    init(path: String) throws(ReaderError) {
        self.path = path
        var found: [String] = []
        Self.find(in: path, &found)
        guard let first = found.first else {
            // LTTng creates the folder when a session starts, and its contents when a program registers.
            let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            let isLTTng = names == ["ust"] && Self.isDirectory(path + "/ust")
            let isEmpty =
                isLTTng && (try? FileManager.default.contentsOfDirectory(atPath: path + "/ust"))?.isEmpty == true
            throw isEmpty ? .emptyRecording(path) : .noCTF(path)
        }
        directories = found.filter { CTFMetadata(of: $0).declaresEvents }.sorted()
        if let broken = directories.first(where: { !CTFMetadata(of: $0).isWhole }) {
            throw .damagedCTF(path, "\"\(broken)/metadata\" is truncated")
        }
        if directories.isEmpty { throw .foreignCTF(path, producer: CTFMetadata(of: first).producer) }
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

    /// Whether a directory is one that LTTng creates below another: `ust/uid/1000/64-bit` or `ust/pid/app-4711-…`,
    /// preceded by `snapshot-1-…` or `archives/…` in a session with snapshots or rotations.
    ///
    /// Others are skipped, to avoid searching a whole file system for traces.
    private static func isPart(_ name: String, of parent: String) -> Bool {
        if ["ust", "uid", "pid", "archives"].contains(name) || ["archives", "pid"].contains(parent) { return true }
        return name.hasPrefix("snapshot-") || name.hasSuffix("-bit") || name.allSatisfy(\.isNumber)
    }

    /// Whether the path names a directory.
    static func isDirectory(_ path: String) -> Bool { kind(of: path) == S_IFDIR }

    private static func isRegularFile(_ path: String) -> Bool { kind(of: path) == S_IFREG }

    private static func kind(of path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : 0
    }

    /// The files of a trace's streams, in alphabetical order.
    static func streams(of directory: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.sorted().filter {
            !$0.hasPrefix(".") && $0 != "metadata" && isRegularFile(directory + "/" + $0)
        }
    }

    /// Whether the headers of all packets are sound, where their layout is known.
    ///
    /// libbabeltrace2 ends the process on some impossible numbers.
    var hasSoundPackets: Bool {
        directories.allSatisfy { directory in
            guard CTFMetadata(of: directory).hasPacketsOfLTTng else { return true }
            return Self.streams(of: directory).allSatisfy { CTFStream(directory + "/" + $0)?.isSound ?? true }
        }
    }
}

/// The streams of CTF traces that hold dictionary entries.
///
/// If these have a channel of their own, there is much less to read than in the whole traces.
struct CTFNames {
    /// Traces with only the streams of entries, in the order of the originals.
    let directories: [String]
    /// The owner of the links.
    private let scratch: CTFScratch

    /// Finds the streams of entries; `nil` if they cannot be determined.
    ///
    /// - Throws: ``ReaderError`` if there is no room for links to them.
    init?(_ originals: [String], path: String) throws(ReaderError) {
        scratch = try CTFScratch(path: path)
        var directories: [String] = []
        for (number, original) in originals.enumerated() {
            let metadata = CTFMetadata(of: original)
            guard metadata.hasPacketsOfLTTng, let streams = metadata.streamsOfNames else { return nil }
            let directory = try scratch.makeDirectory("\(number)", for: original)
            for file in CTFTrace.streams(of: original) {
                guard let stream = CTFStream(original + "/" + file)?.number else { continue }
                if streams.contains(stream) { try scratch.link(original + "/" + file, at: directory + "/" + file) }
            }
            directories.append(directory)
        }
        self.directories = directories
    }
}

/// The streams of CTF traces, without LTTng's packet indexes.
///
/// libbabeltrace2 trusts an index and ends the process if it does not match its stream. Without an index it reads the
/// packets themselves, which takes no longer. It would also block on a pipe in an index's place.
struct CTFStreams {
    /// Traces of the same streams, in the order of the originals.
    let directories: [String]
    /// The owner of the links.
    private let scratch: CTFScratch

    /// - Throws: ``ReaderError`` if there is no room for links.
    init(_ originals: [String], path: String) throws(ReaderError) {
        scratch = try CTFScratch(path: path)
        var directories: [String] = []
        for (number, original) in originals.enumerated() {
            let directory = try scratch.makeDirectory("\(number)", for: original)
            for file in CTFTrace.streams(of: original) {
                try scratch.link(original + "/" + file, at: directory + "/" + file)
            }
            directories.append(directory)
        }
        self.directories = directories
    }
}

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
