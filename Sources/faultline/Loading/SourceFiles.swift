import FaultlineAnalysis
import FaultlineReport
import FaultlineTrace
import Foundation

/// Finds the source files that call sites name.
///
/// A trace names a file by the path on the machine that built the program, or by its module and name.
struct SourceFiles {
    /// The maximum number of places that a finding shows besides the line to change.
    private static let most = 3

    /// The folder with the sources.
    private let root: String
    /// The paths that the trace's debugging information names.
    private let paths: Set<String>

    init(root: String, paths: Set<String>) {
        (self.root, self.paths) = (root, paths)
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
            guard let path = path(of: file.name),
                let bytes = try? RegularFile.bytes(of: path, atMost: InputFile.most),
                let text = String(validating: bytes, as: UTF8.self)
            else {
                remarks.append(
                    "\(Phrase.fileName(file.name)) was not found; --sources names the folder with the program's sources."
                )
                continue
            }
            excerpts += SourceExcerpt.around(file.marks, in: text, path: path)
            if let date, let change = Self.lastChange(of: path), change > date {
                remarks.append("\(Phrase.fileName(path)) is newer than the trace, so its lines may have moved.")
            }
        }
        return (excerpts, remarks)
    }

    /// The path of an existing file, or `nil` if there is none.
    private func path(of file: String) -> String? {
        var names = [file]
        if !file.hasPrefix("/") {
            // "Groceries/List.swift" names a module and a file; the debugging information knows the file's path.
            let name = "/" + Phrase.fileName(file)
            let known = paths.filter { $0.hasSuffix(name) }
            if known.count == 1 { names += known }
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
        let direct = inRoot(Phrase.fileName(file))
        return Self.exists(direct) ? direct : nil
    }

    private func inRoot(_ path: String) -> String {
        root == "." ? path : (root as NSString).appendingPathComponent(path)
    }

    private static func exists(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
    }

    /// The time of a file's last change in seconds since 1970.
    private static func lastChange(of path: String) -> Double? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970
    }
}
