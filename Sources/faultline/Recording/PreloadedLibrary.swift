import Foundation

/// The library that records the SQLite calls of programs that do not use the store.
enum PreloadedLibrary {
    /// The library's file, or `nil` if it is not beside the command.
    static let path: String? = {
        guard let command = try? FileManager.default.pathOfThisProgram() else { return nil }
        let path = URL(fileURLWithPath: command).deletingLastPathComponent().appendingPathComponent(name).path
        return FileManager.default.isReadableFile(atPath: path) ? path : nil
    }()

    static let name = "libFaultlinePreload.so"

    /// The environment variables that preload the library into a command, before the libraries that the user preloads.
    ///
    /// The loader separates paths by spaces and colons and knows no escapes, so a path that contains one is replaced by
    /// a link.
    ///
    /// - Parameter directory: A directory for that link, which is removed after the recording.
    static func environment(linkedIn directory: String) -> [String: String] {
        guard var path else { return [:] }
        if path.contains(where: { $0 == " " || $0 == ":" }) {
            let link = "\(directory)/\(name)"
            guard symlink(path, link) == 0 else { return [:] }
            path = link
        }
        let others = ProcessInfo.processInfo.environment["LD_PRELOAD"] ?? ""
        return ["LD_PRELOAD": others.isEmpty ? path : "\(path):\(others)"]
    }
}
