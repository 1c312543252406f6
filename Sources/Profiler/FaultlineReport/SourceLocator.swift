internal import FaultlineFindings
internal import FaultlineTrace
internal import Foundation

/// Finds the source files that a trace names by their path on the machine that built the program, or by module and name.
///
/// A trace can come from anywhere, and can name any file. One that is not a source, or is outside the folder with the
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
    /// The folders of `Sources`, in which modules can be grouped.
    private let groups: [String]

    /// - Parameter root: The folder with the sources. Files outside it are not read.
    package init(root: String) {
        self.root = root
        realRoot = Self.resolved(root).map { $0 == "/" ? "/" : $0 + "/" }
        let names = try? FileManager.default.contentsOfDirectory(atPath: Self.path("Sources", in: root))
        groups = (names ?? []).sorted().map { "Sources/\($0)/" }
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
        // Compilers end a line at these characters alone. A file with a null character is not a source.
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
                for folder in ["", "Sources/", "Tests/"] + groups {
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

    private func inRoot(_ path: String) -> String { Self.path(path, in: root) }

    private static func path(_ path: String, in root: String) -> String {
        root == "." ? path : (root as NSString).appendingPathComponent(path)
    }

    /// The path of a file that is named by its module, in any folder of the module.
    ///
    /// Two files of a Swift module cannot share a name.
    private func inModule(_ file: String) -> String? {
        let parts = file.split(separator: "/")
        guard parts.count == 2, !file.hasPrefix("/") else { return nil }
        for folder in ["Sources/", "Tests/", ""] + groups {
            let folder = folder + parts[0]
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

/// Lines of a source file around the places that a finding names.
package struct SourceExcerpt: Sendable, Equatable {
    /// The reason why a line is shown.
    package enum Mark: Sendable, Equatable {
        /// The line to change.
        case change
        /// A line at which the problem was observed.
        case seen

        /// The character before the line.
        fileprivate var sign: String { self == .change ? "→" : "•" }
    }

    /// The number of lines shown above and below a place.
    private static let context = 3

    /// The path of the file.
    let path: String
    /// The number of the first line.
    let first: Int
    let lines: [String]
    /// The reasons, by the number of the line.
    let marks: [Int: Mark]

    /// Returns the excerpts of a file, the first line first.
    ///
    /// Places that are close to each other share an excerpt. Lines that the file does not have are left out.
    package static func around(_ marks: [Int: Mark], in lines: [Substring], path: String) -> [SourceExcerpt] {
        var ranges: [ClosedRange<Int>] = []
        for line in marks.keys.sorted() where line >= 1 && line <= lines.count {
            let range = max(1, line - context)...min(lines.count, line + context)
            if let last = ranges.last, range.lowerBound <= last.upperBound + 1 {
                ranges[ranges.count - 1] = last.lowerBound...range.upperBound
            } else {
                ranges.append(range)
            }
        }
        return ranges.map { range in
            var shown = lines[(range.lowerBound - 1)..<range.upperBound].map(String.init)
            while shown.last?.allSatisfy(\.isWhitespace) == true, marks[range.lowerBound + shown.count - 1] == nil {
                shown.removeLast()
            }
            return SourceExcerpt(
                path: path, first: range.lowerBound, lines: shown, marks: marks.filter { range.contains($0.key) })
        }
    }

    /// Returns the excerpt for a terminal: the path, and the numbered lines with their marks.
    ///
    /// - Parameter continues: Whether an excerpt of the same file precedes it, so that the path is known.
    func text(_ ink: Ink, _ width: Int, continues: Bool = false) -> [String] {
        let digits = max(4, String(first + lines.count).count)
        let dots = String(repeating: " ", count: digits + 3) + "⋮"
        let title = continues ? dots : "  " + TextTable.shortened(path, to: width - 2, losing: .beginning)
        return [ink(.dim, title)]
            + lines.enumerated().map { index, line in
                let mark = marks[first + index]
                let number = TextTable.pad(String(first + index), to: digits, .right)
                let code = line.split(separator: "\t", omittingEmptySubsequences: false).joined(separator: "    ")
                let cut = Phrase.printable(code)
                let room = width - digits - 6
                let shown = cut.count > room ? cut.prefix(room - 1) + "…" : cut
                let text = "  \(mark?.sign ?? " ") \(number)" + (shown.isEmpty ? "" : "  \(shown)")
                return mark == nil ? text : ink(.bold, text)
            }
    }
}

/// The source files of a program, for formats whose readers look for the paths of a repository.
///
/// A trace names a file as the compiler did, `Groceries/List.swift` after its module, or by a path of the machine that
/// built the program. In the repository it may be `Sources/Groceries/Screens/List.swift`.
package struct RepositoryPaths: Sendable {
    /// The paths and their parts, by the name of the file.
    private let files: [Substring: [(path: String, parts: [Substring])]]

    /// - Parameter paths: The paths as the format shall print them.
    package init(paths: some Sequence<String>) {
        let files = paths.map { (path: $0, parts: $0.split(separator: "/")) }.filter { !$0.parts.isEmpty }
        self.files = Dictionary(grouping: files) { $0.parts[$0.parts.count - 1] }
    }

    /// Returns the path of a file of a trace, or the trace's own if no file matches, or several match equally well.
    func path(of recorded: String) -> String {
        let parts = recorded.split(separator: "/")
        guard let name = parts.last, let candidates = files[name] else { return recorded }
        // After a module's name, the folders are not known.
        let isModule = parts.count == 2 && !recorded.hasPrefix("/")
        let ranked = candidates.map { candidate in
            let common = zip(candidate.parts.reversed(), parts.reversed()).prefix { $0 == $1 }.count
            let isOfModule = isModule && candidate.parts.dropLast().contains(parts[0])
            return (path: candidate.path, rank: isOfModule ? max(common, 2) : common)
        }
        let best = ranked.map(\.rank).max() ?? 0
        let found = ranked.filter { $0.rank == best }
        // A name alone proves nothing, unless the trace has no more.
        guard found.count == 1, best >= min(2, parts.count) else { return recorded }
        return found[0].path
    }
}

extension Finding {
    /// The finding with the paths of source files, as far as they are known.
    func located(in sources: RepositoryPaths?) -> Finding {
        guard let sources else { return self }
        var finding = self
        if let site = finding.change { finding.change?.file = sources.path(of: site.file) }
        for index in finding.seenAt.indices {
            guard let site = finding.seenAt[index].site else { continue }
            finding.seenAt[index].site?.file = sources.path(of: site.file)
        }
        return finding
    }
}
