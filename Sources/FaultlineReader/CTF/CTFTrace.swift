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
        guard let first = found.first else {
            // LTTng makes the folder when a session starts, and what is in it when a program registers.
            let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
            let isLTTng = names == ["ust"] && Self.isDirectory(path + "/ust")
            let isEmpty =
                isLTTng && (try? FileManager.default.contentsOfDirectory(atPath: path + "/ust"))?.isEmpty == true
            throw isEmpty ? .emptyRecording(path) : .noCTF(path)
        }
        directories = found.filter { CTFMetadata(of: $0).declaresEvents }.sorted()
        if let broken = directories.first(where: { !CTFMetadata(of: $0).isWhole }) {
            throw .damagedCTF(path, "\"\(broken)/metadata\" breaks off")
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

    /// The files of a trace's streams, in alphabetical order.
    static func streams(of directory: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.sorted().filter {
            !$0.hasPrefix(".") && $0 != "metadata" && isRegularFile(directory + "/" + $0)
        }
    }

    /// Whether the headers of all packets are sound, as far as it is known how they are laid out.
    ///
    /// libbabeltrace2 ends the program where some of their numbers are impossible.
    var hasSoundPackets: Bool {
        directories.allSatisfy { directory in
            guard CTFMetadata(of: directory).hasPacketsOfLTTng else { return true }
            return Self.streams(of: directory).allSatisfy { CTFStream(directory + "/" + $0)?.isSound ?? true }
        }
    }
}
