import Foundation

/// A folder that is gone when nobody holds it any more.
final class ScratchFolder {
    private let url: URL

    /// - Throws: ``ReplayError`` if it cannot be made.
    init() throws(ReplayError) {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("faultline-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            throw ReplayError.cannotCopy(url.path, error.localizedDescription)
        }
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Copies a store with what belongs to it, and returns the path of the copy.
    ///
    /// - Throws: ``ReplayError`` if there is no room, or the file cannot be read.
    func copyStore(_ path: String) throws(ReplayError) -> String {
        let place = try copy(path, as: "store.sqlite")
        for end in Self.companions(of: path) { _ = try copy(path + end, as: "store.sqlite" + end) }
        return place
    }

    /// Copies the files that hold a store's large values, for the store that ``copyStore(_:)`` has copied.
    func copySupport(of path: String) throws(ReplayError) {
        let store = URL(fileURLWithPath: path)
        let name = ".\(store.deletingPathExtension().lastPathComponent)_SUPPORT"
        let support = store.deletingLastPathComponent().appendingPathComponent(name).path
        if FileManager.default.fileExists(atPath: support) { _ = try copy(support, as: ".store_SUPPORT") }
    }

    /// The ends of the names of what lies beside a store and belongs to it: its write-ahead log and its rollback journal.
    static func companions(of path: String) -> [String] {
        ["-wal", "-journal"].filter { size(of: path + $0) > 0 }
    }

    /// The bytes of a file; 0: none, or nobody may look.
    static func size(of path: String) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.uint64Value ?? 0
    }

    /// Copies a file, and returns the path of the copy.
    private func copy(_ path: String, as name: String) throws(ReplayError) -> String {
        let place = url.appendingPathComponent(name)
        do {
            try FileManager.default.copyItem(at: URL(fileURLWithPath: path), to: place)
        } catch {
            throw ReplayError.cannotCopy(path, error.localizedDescription)
        }
        return place.path
    }
}
