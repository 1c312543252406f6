internal import FaultlineAnalysis
internal import Foundation

/// Finds the source files that a trace names by their path on the machine that built the program, or by module and name.
package struct SourceLocator: Sendable {
    /// The maximum number of files of a module that are searched.
    private static let mostFiles = 20_000

    /// The folder with the sources.
    private let root: String

    /// - Parameter root: The folder in which files are looked for that are not where the trace says.
    package init(root: String) {
        self.root = root
    }

    /// Returns the path of an existing file, or `nil` if there is none.
    ///
    /// - Parameters:
    ///   - file: A path, or a module and a file: `Groceries/List.swift`.
    ///   - known: The paths that the trace's debugging information names.
    package func path(of file: String, known: some Collection<String>) -> String? {
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
