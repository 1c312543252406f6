import FaultlineTrace
import Foundation

/// Large values stored in files beside the store, in `.NAME_SUPPORT/_EXTERNAL_DATA`.
///
/// A column contains a byte 1 followed by the value, or a byte 2 followed by the file's name, which is a UUID.
struct ExternalData: Sendable {
    let folder: URL
    let threshold: Int
    /// The store's identifier, which distinguishes its files from those of a store in the same folder.
    let store: String

    /// The store's support folder, the parent of `folder`.
    var support: URL { folder.deletingLastPathComponent() }

    init(storeURL: URL, store: String, threshold: Int) {
        self.store = store
        folder = PersistentStore.supportFolder(of: storeURL)
            .appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
        self.threshold = threshold
    }

    /// Reads the value that a column's bytes contain or refer to.
    func value(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> Data {
        guard let tag = bytes.first else { return Data() }
        let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        guard tag == 2 else { return Data(rest) }
        let name = Self.name(rest)
        do {
            // A store from an untrusted source can refer to any path.
            guard Self.isFileName(name) else { throw RegularFile.Failure.notRegular }
            return Data(try RegularFile.bytes(of: folder.appendingPathComponent(name).path, atMost: .max))
        } catch {
            throw StoreError(
                .externalData,
                "Reading a large value failed because the file '\(folder.appendingPathComponent(name).path)' cannot be read; put it back from a copy of the store.",
                cause: error)
        }
    }

    /// The file that a column's bytes refer to.
    func file(_ bytes: UnsafeRawBufferPointer) -> URL? {
        guard bytes.first == 2 else { return nil }
        let name = Self.name(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()))
        return Self.isFileName(name) ? folder.appendingPathComponent(name) : nil
    }

    /// Whether a name is a plain file name, without a path.
    private static func isFileName(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(UInt8(ascii: "/"))
    }

    // Core Data terminates the name with a zero byte.
    private static func name(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The column's bytes for a value that the column holds itself.
    static func inlineColumn(_ value: Data) -> Data { Data([1]) + value }

    /// The column's bytes for a large value in a file with a name.
    static func column(_ name: String) -> Data { Data([2]) + Data(name.utf8) + Data([0]) }

    /// Writes a large value to a new file.
    func write(_ value: Data, as name: String) throws(StoreError) -> URL {
        let file = folder.appendingPathComponent(name)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try value.write(to: file)
        } catch {
            // Remove what was written before the disk was full.
            try? FileManager.default.removeItem(at: file)
            throw StoreError(
                .externalData,
                "Saving a large value failed because the file '\(file.path)' cannot be written; make the folder writable and free some space.",
                cause: error)
        }
        return file
    }

    static func remove(_ files: [URL]) {
        for file in files { try? FileManager.default.removeItem(at: file) }
    }
}
