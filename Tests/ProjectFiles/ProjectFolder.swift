package import Foundation

/// The folder of the project, in which tests find its sources, its articles and its sample traces.
package enum ProjectFolder {
    package static let url: URL = {
        var folder = URL(fileURLWithPath: #filePath)
        while folder.path != "/", !FileManager.default.fileExists(atPath: folder.path + "/Sources/Command/faultline") {
            folder.deleteLastPathComponent()
        }
        return folder
    }()
}
