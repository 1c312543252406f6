public import Foundation

/// A folder that is gone when it is no longer needed.
public final class ScratchFolder {
    /// The folder.
    public let url: URL

    /// Makes it in the temporary directory.
    public init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("truth-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The path of a file in it.
    public func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}
