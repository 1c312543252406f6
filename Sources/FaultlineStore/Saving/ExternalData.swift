import FaultlineTrace
import Foundation

/// Large values that are kept in files beside the store, in `.NAME_SUPPORT/_EXTERNAL_DATA`.
///
/// A column holds a first byte of 1 and the value, or a first byte of 2 and the file's name, which is a UUID.
struct ExternalData: Sendable {
    let folder: URL
    let threshold: Int
    /// The store's own name, by which its files are told from those of a store beside it.
    let store: String

    /// The folder of the store, which that of its values is in.
    var support: URL { folder.deletingLastPathComponent() }

    init(storeURL: URL, store: String, threshold: Int) {
        self.store = store
        folder = PersistentStore.supportFolder(of: storeURL)
            .appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
        self.threshold = threshold
    }

    /// The value behind a column's bytes.
    func value(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> Data {
        guard let tag = bytes.first else { return Data() }
        let rest = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        guard tag == 2 else { return Data(rest) }
        let name = Self.name(rest)
        do {
            // A store of unknown origin can refer to any file.
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

    /// Whether a name is one of a file in the folder and leads nowhere else.
    private static func isFileName(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(UInt8(ascii: "/"))
    }

    // Core Data ends the name with a zero.
    private static func name(_ bytes: UnsafeRawBufferPointer) -> String {
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// What the column holds of a large value, whose file is to have a name.
    static func column(_ name: String) -> Data { Data([2]) + Data(name.utf8) + Data([0]) }

    /// Writes a large value to a new file.
    func write(_ value: Data, as name: String) throws(StoreError) -> URL {
        let file = folder.appendingPathComponent(name)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try value.write(to: file)
        } catch {
            // What was written before the disk was full.
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
