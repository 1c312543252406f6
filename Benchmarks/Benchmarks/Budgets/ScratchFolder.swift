import Foundation

/// A temporary folder that is removed with this object.
final class ScratchFolder: Sendable {
    private let url = FileManager.default.temporaryDirectory.appendingPathComponent("faultline-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}
