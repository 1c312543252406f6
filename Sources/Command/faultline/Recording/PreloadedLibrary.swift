import Foundation

/// A library that is loaded into the program that is recorded.
///
/// Its file is beside this command after a build, and in `lib/faultline` after an installation.
struct PreloadedLibrary {
    /// The file's name.
    let name: String

    /// The library that records the SQLite calls of programs that do not use the store.
    static let recorder = PreloadedLibrary(name: "libFaultlinePreload.so")
    /// The library that passes events to LTTng, which that one loads.
    static let lttng = PreloadedLibrary(name: "libFaultlineLTTng.so")
    /// The library that samples allocations.
    static let heap = PreloadedLibrary(name: "libFaultlineHeap.so")

    /// The library in front of the functions that read columns.
    static let columns = PreloadedLibrary(name: "libFaultlineColumns.so")

    /// The library's file, or `nil` if it is neither beside the command nor installed.
    var path: String? {
        guard let command = try? FileManager.default.pathOfThisProgram() else { return nil }
        let directory = URL(fileURLWithPath: command).deletingLastPathComponent()
        return [directory, directory.deletingLastPathComponent().appendingPathComponent("lib/faultline")]
            .map { $0.appendingPathComponent(name).path }
            .first(where: FileManager.default.isReadableFile)
    }

    /// The environment variables that preload libraries into a command, before those that the user preloads.
    ///
    /// The loader separates paths by spaces and colons and knows no escapes, so a path that contains one is replaced by
    /// a link.
    ///
    /// - Parameter directory: A directory for that link, which is removed after the recording.
    static func environment(_ libraries: [PreloadedLibrary], linkedIn directory: String) -> [String: String] {
        var paths = libraries.compactMap { $0.safePath(linkedIn: directory) }
        guard !paths.isEmpty else { return [:] }
        if let others = ProcessInfo.processInfo.environment["LD_PRELOAD"], !others.isEmpty { paths.append(others) }
        // GCC's AddressSanitizer does not start if a preloaded library precedes its runtime, unless that check is off
        // (https://github.com/google/sanitizers/wiki/AddressSanitizerFlags). The order does no harm here, because these
        // libraries pass every call on.
        let options = [ProcessInfo.processInfo.environment["ASAN_OPTIONS"] ?? "", "verify_asan_link_order=0"]
        return [
            "LD_PRELOAD": paths.joined(separator: ":"),
            "ASAN_OPTIONS": options.filter { !$0.isEmpty }.joined(separator: ":"),
        ]
    }

    private func safePath(linkedIn directory: String) -> String? {
        guard let path else { return nil }
        guard path.contains(where: { $0 == " " || $0 == ":" }) else { return path }
        let link = "\(directory)/\(name)"
        return symlink(path, link) == 0 ? link : nil
    }
}
