import FaultlineDigest
import FaultlineTrace
import Foundation

/// The sections of a fetch, kept in a file from one run of the program to the next.
///
/// A cache is valid for one request and one state of the stores. A file that is damaged, or was written for anything
/// else, is not used, and the next write replaces it.
struct SectionCache {
    /// A section: its name, and the number of its objects.
    struct Section: Codable, Equatable {
        var name: String
        var count: Int
    }

    private struct Content: Codable {
        var request: String
        var state: String
        var sections: [Section]
    }

    /// The maximum size of a file that is read.
    private static let maximumBytes = 64 << 20

    let directory: URL
    private let path: String
    private let request: String

    /// Creates the cache with a name for a request.
    ///
    /// - Parameters:
    ///   - request: Everything in the request that determines its sections.
    ///   - directory: The folder of the program's caches; by default ``defaultDirectory``.
    init(_ name: String, for request: String, in directory: URL?) {
        self.directory = directory ?? Self.defaultDirectory
        path = Self.path(of: name, in: self.directory)
        self.request = Self.digest(request)
    }

    /// The folder of the program's caches, in `$XDG_CACHE_HOME` or else `~/.cache`.
    static var defaultDirectory: URL {
        var caches = FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".cache", isDirectory: true)
        if let path = ProcessInfo.processInfo.environment["XDG_CACHE_HOME"], !path.isEmpty {
            caches = URL(fileURLWithPath: path, isDirectory: true)
        }
        return caches.appendingPathComponent("Faultline/Sections/\(ProcessInfo.processInfo.processName)")
    }

    // Names are the program's own, and can contain anything.
    private static func path(of name: String, in directory: URL) -> String {
        directory.appendingPathComponent("\(digest(name)).json").path
    }

    private static func digest(_ text: String) -> String { hexadecimal(SHA256.hash(text)) }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Deletes the cache with a name, or all of the program's caches.
    static func delete(_ name: String?, in directory: URL?) {
        let directory = directory ?? defaultDirectory
        guard let name else {
            try? FileManager.default.removeItem(at: directory)
            return
        }
        unlink(path(of: name, in: directory))
    }

    // MARK: - The file

    // A line with the digest of the rest, and JSON.

    /// The sections, if the file was written for the request and a state of the stores.
    func sections(in state: String) -> [Section]? {
        guard let bytes = try? RegularFile.bytes(of: path, atMost: Self.maximumBytes),
            let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        let json = Array(bytes[(end + 1)...])
        guard String(decoding: bytes[..<end], as: UTF8.self) == Self.hexadecimal(SHA256.hash(json)),
            let content = try? JSONDecoder().decode(Content.self, from: Data(json)),
            content.request == request, content.state == state
        else { return nil }
        return content.sections
    }

    /// Replaces the file.
    ///
    /// A cache that cannot be written is not there the next time, which is no error.
    func write(_ sections: [Section], in state: String) {
        let content = Content(request: request, state: state, sections: sections)
        guard let json = try? JSONEncoder().encode(content) else { return }
        let text = Self.hexadecimal(SHA256.hash(Array(json))) + "\n"
        // Section names are values of rows, which only their owner may read.
        try? FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let temporary = directory.appendingPathComponent(".\(UUID().uuidString)").path
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: false)
        let isWritten = (try? handle.write(contentsOf: Data(text.utf8) + json)) != nil
        guard close(file) == 0, isWritten, rename(temporary, path) == 0 else {
            unlink(temporary)
            return
        }
    }
}
