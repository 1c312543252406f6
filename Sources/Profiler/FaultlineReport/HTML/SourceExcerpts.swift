internal import FaultlineDocuments
internal import FaultlineFindings
internal import FaultlineTrace

/// The source around the lines that a page shows, as far as the files are there.
struct SourceExcerpts {
    /// The number of lines before and after each line.
    private static let margin = 8
    /// The number of lines that all excerpts have at most.
    private static let most = 40_000

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
        for (path, wanted) in lines.ordered(on: \.key) {
            guard let text = locator.lines(of: path, known: lines.keys)?.lines else { continue }
            let shown = Set(wanted.flatMap { $0 - Self.margin...$0 + Self.margin })
                .filter { $0 > 0 && $0 <= text.count }
            guard shown.count <= left else { continue }
            left -= shown.count
            files[path] = Dictionary(uniqueKeysWithValues: shown.map { ($0, String(text[$0 - 1].prefix(400))) })
        }
    }

    /// The excerpts: for each file, runs of consecutive lines, each with the number of its first line.
    var json: JSONValue {
        .object(
            files.ordered(on: \.key).map { path, lines in
                var runs: [(first: Int, lines: [JSONValue])] = []
                for (number, text) in lines.ordered(on: \.key) {
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
