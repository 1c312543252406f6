package import Foundation

/// Real files that are shared by several projects and are no part of this one: `shared/data` beside the package's
/// folder, or beside one of the folders that it is in.
package enum SharedData {
    package static let folder: URL? = {
        var folder = URL(fileURLWithPath: #filePath)
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            let found = folder.appendingPathComponent("shared/data", isDirectory: true)
            if FileManager.default.fileExists(atPath: found.path) { return found }
        }
        return nil
    }()

    package static var exists: Bool { folder != nil }

    /// Why a test was skipped.
    package static let need = "needs the shared data: put it into shared/data beside the package's folder"

    package struct Missing: Error {}

    package static func url(_ path: String) throws -> URL {
        guard let folder else { throw Missing() }
        return folder.appendingPathComponent(path)
    }

    /// Paths of everything whose name ends so, in alphabetical order.
    package static func paths(endingIn suffix: String) -> [String] {
        guard let folder, let all = FileManager.default.enumerator(atPath: folder.path) else { return [] }
        return all.compactMap { $0 as? String }.filter { $0.hasSuffix(suffix) }.sorted()
    }
}
