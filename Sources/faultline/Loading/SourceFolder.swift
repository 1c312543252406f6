import FaultlineReport
import Foundation

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
