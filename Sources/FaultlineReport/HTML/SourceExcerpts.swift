internal import FaultlineAnalysis
internal import FaultlineTrace
internal import Glibc

/// The source around the lines that a page shows, as far as the files are there.
struct SourceExcerpts {
    /// The number of lines before and after each line.
    private static let margin = 8
    /// The size of the largest source file that is read, in bytes.
    private static let largest = 4 << 20
    /// The number of lines that all excerpts have at most.
    private static let most = 40_000

    /// The endings of files that are read.
    ///
    /// A trace can come from anywhere, and can name any file. One that is no source, or is outside the folder with the
    /// sources, must not get into a page that its reader passes on.
    private static let endings: Set<Substring> = [
        "swift", "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "m", "mm", "py", "pyx", "rs", "go", "zig", "rb", "js", "ts",
        "java", "kt",
    ]

    /// The lines of each file, by number.
    private(set) var files: [String: [Int: String]] = [:]

    /// Reads the source around the program's own lines of call paths.
    ///
    /// Files that cannot be read are left out.
    ///
    /// - Parameter folder: The folder with the sources. Files outside it are not read.
    init(_ tables: PageTables, findings: [Finding], folder: String) {
        var lines: [String: Set<Int>] = [:]
        for frame in tables.frames.values where frame.line > 0 && frame.function.part == .program {
            lines[frame.function.file, default: []].insert(frame.line)
        }
        // A call site that the compiler recorded names its file by module, and a frame by path.
        let paths = Dictionary(lines.keys.map { (Phrase.fileName($0), $0) }, uniquingKeysWith: { min($0, $1) })
        let sites =
            tables.sites.values
            + findings.flatMap { finding in
                ([finding.change] + finding.seenAt.map(\.site)).compactMap(\.self)
                    .map { PageTables.Site(file: $0.file, line: $0.line, function: $0.function) }
            }
        for site in sites where site.line > 0 {
            let path = site.file.hasPrefix("/") ? site.file : paths[Phrase.fileName(site.file)]
            if let path { lines[path, default: []].insert(site.line) }
        }
        var left = Self.most
        let locator = SourceLocator(root: folder)
        let root = Self.resolved(folder).map { $0 == "/" ? "/" : $0 + "/" }
        for (path, wanted) in lines.sorted(by: { $0.key < $1.key }) where Self.isSource(path) {
            guard let found = locator.path(of: path, known: lines.keys), let real = Self.resolved(found),
                let root, real.hasPrefix(root), Self.isSource(real),
                let bytes = try? RegularFile.bytes(of: real, atMost: Self.largest)
            else { continue }
            // Compilers end a line at these characters alone. A file with a null character is no source.
            guard !bytes.contains(0) else { continue }
            let text = String(decoding: bytes, as: UTF8.self).split(
                omittingEmptySubsequences: false, whereSeparator: { ["\n", "\r", "\r\n"].contains($0) })
            let shown = Set(wanted.flatMap { $0 - Self.margin...$0 + Self.margin })
                .filter { $0 > 0 && $0 <= text.count }
            guard shown.count <= left else { continue }
            left -= shown.count
            files[path] = Dictionary(uniqueKeysWithValues: shown.map { ($0, String(text[$0 - 1].prefix(400))) })
        }
    }

    /// A path without links, or `nil` if there is no such file.
    private static func resolved(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    private static func isSource(_ path: String) -> Bool {
        path.lastIndex(of: ".").map { endings.contains(path[path.index(after: $0)...]) } ?? false
    }

    /// The excerpts: for each file, runs of consecutive lines, each with the number of its first line.
    var json: JSONValue {
        .object(
            files.sorted { $0.key < $1.key }.map { path, lines in
                var runs: [(first: Int, lines: [JSONValue])] = []
                for (number, text) in lines.sorted(by: { $0.key < $1.key }) {
                    if let last = runs.last, last.first + last.lines.count == number {
                        runs[runs.count - 1].lines.append(.string(text))
                    } else {
                        runs.append((number, [.string(text)]))
                    }
                }
                return (key: path, value: .array(runs.map { .array([.integer(Int64($0.first)), .array($0.lines)]) }))
            })
    }
}
