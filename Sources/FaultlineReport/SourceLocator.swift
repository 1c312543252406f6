internal import FaultlineAnalysis
internal import FaultlineTrace
internal import Foundation

/// Finds the source files that a trace names by their path on the machine that built the program, or by module and name.
///
/// A trace can come from anywhere, and can name any file. One that is no source, or is outside the folder with the
/// sources, must not get into a page or a text that its reader passes on.
package struct SourceLocator: Sendable {
    /// The maximum number of files of a module that are searched.
    private static let mostFiles = 20_000
    /// The size of the largest source file that is read, in bytes.
    private static let largest = 4 << 20

    /// The endings of files that are read.
    private static let endings: Set<Substring> = [
        "swift", "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "m", "mm", "py", "pyx", "rs", "go", "zig", "rb", "js", "ts",
        "java", "kt",
    ]

    /// The folder with the sources.
    private let root: String
    /// The folder's path without links, which ends with a slash; `nil` if there is no such folder.
    private let realRoot: String?

    /// - Parameter root: The folder with the sources. Files outside it are not read.
    package init(root: String) {
        self.root = root
        realRoot = Self.resolved(root).map { $0 == "/" ? "/" : $0 + "/" }
    }

    /// Whether a file's name is that of a source.
    package static func isSource(_ path: String) -> Bool {
        path.lastIndex(of: ".").map { endings.contains(path[path.index(after: $0)...]) } ?? false
    }

    /// The lines of a source file, or `nil` if there is none in the folder with the sources.
    ///
    /// - Parameters:
    ///   - file: A path, or a module and a file: `Groceries/List.swift`.
    ///   - known: The paths that the trace's debugging information names.
    package func lines(
        of file: String, known: some Collection<String>
    ) -> (path: String, lines: [Substring])? {
        guard Self.isSource(file), let found = path(of: file, known: known),
            let real = Self.resolved(found), let realRoot, real.hasPrefix(realRoot), Self.isSource(real),
            let bytes = try? RegularFile.bytes(of: real, atMost: Self.largest), !bytes.contains(0)
        else { return nil }
        // Compilers end a line at these characters alone. A file with a null character is no source.
        let lines = String(decoding: bytes, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: { ["\n", "\r", "\r\n"].contains($0) })
        return (found, lines)
    }

    /// A path without links, or `nil` if there is no such file.
    private static func resolved(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Returns the path of an existing file, or `nil` if there is none.
    private func path(of file: String, known: some Collection<String>) -> String? {
        var names = [file]
        if !file.hasPrefix("/") {
            let name = "/" + Phrase.fileName(file)
            let paths = known.filter { $0.hasSuffix(name) }
            if paths.count == 1 { names += paths }
        }
        for name in names {
            if name.hasPrefix("/"), Self.exists(name) { return name }
            // The same project can be in another folder here, so the ends of the path are tried, the longest first.
            var parts = name.split(separator: "/")[...]
            while parts.count > 1 {
                let end = parts.joined(separator: "/")
                for folder in ["", "Sources/", "Tests/"] {
                    let path = inRoot(folder + end)
                    if Self.exists(path) { return path }
                }
                parts = parts.dropFirst()
            }
        }
        if let path = inModule(file) { return path }
        let direct = inRoot(Phrase.fileName(file))
        return Self.exists(direct) ? direct : nil
    }

    private func inRoot(_ path: String) -> String {
        root == "." ? path : (root as NSString).appendingPathComponent(path)
    }

    /// The path of a file that is named by its module, in any folder of the module.
    ///
    /// Two files of a Swift module cannot share a name.
    private func inModule(_ file: String) -> String? {
        let parts = file.split(separator: "/")
        guard parts.count == 2, !file.hasPrefix("/") else { return nil }
        for folder in ["Sources/\(parts[0])", "Tests/\(parts[0])", String(parts[0])] {
            let below = FileManager.default.enumerator(atPath: inRoot(folder))?.lazy.compactMap { $0 as? String }
            let found = below?.prefix(Self.mostFiles).first { Phrase.fileName($0) == parts[1] }
            if let found { return inRoot(folder + "/" + found) }
        }
        return nil
    }

    private static func exists(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
    }
}
