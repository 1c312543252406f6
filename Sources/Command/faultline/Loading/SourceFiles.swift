import FaultlineFindings
import FaultlineReport
import FaultlineTrace
import Foundation

/// The source files that call sites name.
struct SourceFiles {
    /// The maximum number of places that a finding shows besides the line to change.
    private static let most = 3

    private let locator: SourceLocator
    /// The paths that the trace's debugging information names.
    private let paths: Set<String>

    init(root: String, paths: Set<String>) {
        (locator, self.paths) = (SourceLocator(root: root), paths)
    }

    /// - Throws: ``CommandFailure`` if there is no such folder.
    static func check(_ folder: String) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw CommandFailure.usage("There is no folder \"\(folder)\"; name the one with the sources.")
        }
    }

    /// Returns the lines around the line to change and the places where a finding was observed.
    ///
    /// - Parameter date: The time of the recording in seconds since 1970, or `nil` if it is unknown.
    /// - Returns: The excerpts, and sentences about files that cannot be shown or may have changed.
    func excerpts(of finding: Finding, recorded date: Double?) -> (excerpts: [SourceExcerpt], remarks: [String]) {
        var files: [(name: String, marks: [Int: SourceExcerpt.Mark])] = []
        func add(_ site: CallSite, _ mark: SourceExcerpt.Mark) {
            guard !site.file.isEmpty, site.line > 0 else { return }
            let index = files.firstIndex { Phrase.fileName($0.name) == site.fileName } ?? files.count
            if index == files.count { files.append((site.file, [:])) }
            if files[index].marks[site.line] == nil { files[index].marks[site.line] = mark }
        }
        if let change = finding.change { add(change, .change) }
        let others = finding.seenAt.compactMap(\.site).filter { $0 != finding.change }
        for site in others.prefix(Self.most) { add(site, .seen) }
        var excerpts: [SourceExcerpt] = []
        var remarks: [String] = []
        for file in files {
            // A trace can name any file, and only sources below the folder are shown.
            guard let (path, lines) = locator.lines(of: file.name, known: paths) else {
                remarks.append(
                    "\(Phrase.fileName(file.name)) was not found; --sources names the folder with the program's sources."
                )
                continue
            }
            excerpts += SourceExcerpt.around(file.marks, in: lines, path: path)
            if let date, let change = Self.lastChange(of: path), change > date {
                remarks.append("\(Phrase.fileName(path)) is newer than the trace, so its lines may have moved.")
            }
        }
        return (excerpts, remarks)
    }

    /// The time of a file's last change in seconds since 1970.
    private static func lastChange(of path: String) -> Double? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970
    }
}

/// A folder with the sources of a program.
struct SourceFolder {
    /// The folder's path as the user named it.
    let path: String
    /// The paths of its files, below the folder and in order, without what SwiftPM builds.
    let files: [String]

    /// - Throws: ``CommandFailure`` if there is no such folder.
    init(_ path: String) throws {
        try SourceFiles.check(path)
        self.path = path
        var files: [String] = []
        let paths = FileManager.default.enumerator(atPath: path)
        while let paths, let file = paths.nextObject() as? String {
            if file.hasPrefix(".build") || file == ".git" { paths.skipDescendants() } else { files.append(file) }
        }
        self.files = files.sorted()
    }

    /// The files with their paths from the current folder, if they are below it.
    var repositoryPaths: RepositoryPaths {
        let root = URL(fileURLWithPath: path).standardizedFileURL.path
        let here = URL(fileURLWithPath: ".").standardizedFileURL.path
        let prefix = root == here ? "" : root.hasPrefix(here + "/") ? root.dropFirst(here.count + 1) + "/" : root + "/"
        return RepositoryPaths(paths: files.map { prefix + $0 })
    }
}
