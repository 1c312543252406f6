package import Foundation

/// The traces in the folder `Traces`, each in a folder with its report and the script that recorded it.
package enum SampleTraces {
    package static let folder = ProjectFolder.url.appendingPathComponent("Traces")

    package static let stories: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0 != "record" }.sorted()
    }()

    /// The stories whose trace is a timeline.
    package static let timelines = stories.filter {
        FileManager.default.fileExists(atPath: folder.appendingPathComponent("\($0)/trace.json").path)
    }

    package struct Missing: Error {}

    /// Returns a story's trace: a timeline, or the directory of a CTF trace.
    package static func trace(_ story: String) throws -> URL {
        let folder = folder.appendingPathComponent(story)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("trace") }
        guard let name = names.first, names.count == 1 else { throw Missing() }
        return folder.appendingPathComponent(name)
    }
}
