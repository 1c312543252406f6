import CSQLite
package import FaultlineModel
import FaultlineTrace
package import Foundation
import Glibc

/// Large values stored in files beside the store, in `.NAME_SUPPORT/_EXTERNAL_DATA`.
///
/// A column contains a byte 1 followed by the value, or a byte 2 followed by the file's name, which is a UUID.
package struct ExternalData: Sendable {
    let folder: URL
    let threshold: Int
    /// The store's identifier, which distinguishes its files from those of a store in the same folder.
    let store: String

    /// The store's support folder, the parent of `folder`.
    var support: URL { folder.deletingLastPathComponent() }

    package init(storeURL: URL, store: String, threshold: Int) {
        self.store = store
        folder = PersistentStore.supportFolder(of: storeURL)
            .appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
        self.threshold = threshold
    }

    /// Reads the value that a column's bytes contain or refer to.
    package func value(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> Data {
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
    package static func inlineColumn(_ value: Data) -> Data { Data([1]) + value }

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

/// The files of large values that a transaction creates and replaces.
///
/// An ``UnsavedFiles`` lists them until the outcome of the transaction is known.
struct ExternalWrites {
    private let external: ExternalData
    private var new: [URL] = []
    private var old: [URL] = []
    private var unsaved: UnsavedFiles?

    init(_ external: ExternalData) {
        self.external = external
    }

    /// Returns the column's bytes for a value, after writing a large value to a new file.
    mutating func column(_ value: Data) throws(StoreError) -> Data {
        guard value.count >= external.threshold else { return ExternalData.inlineColumn(value) }
        let name = UUID().uuidString
        note([name])
        new.append(try external.write(value, as: name))
        return ExternalData.column(name)
    }

    /// Registers a file whose value is replaced or whose row is deleted.
    mutating func replace(_ file: URL) { old.append(file) }

    /// Lists the replaced files before the commit, after which they are no longer needed.
    mutating func willCommit() {
        if !old.isEmpty { note(old.map(\.lastPathComponent)) }
    }

    /// Removes the new files, after a rollback.
    mutating func undo() {
        ExternalData.remove(new)
        (new, old) = ([], [])
        unsaved?.finish()
        unsaved = nil
    }

    /// Removes the replaced files, after the commit.
    mutating func finish() {
        ExternalData.remove(old)
        (new, old) = ([], [])
        unsaved?.finish()
        unsaved = nil
    }

    /// If listing fails and the program is killed, files are left behind, which only costs disk space.
    private mutating func note(_ names: [String]) {
        if unsaved == nil { unsaved = UnsavedFiles(external) }
        unsaved?.note(names)
    }
}

/// A file beside the store that lists the files of large values that a save is about to create or remove.
///
/// The save removes it when it ends. A list that is left over belongs to a program that was killed; it is recognized by
/// its lock, which the kernel releases with the process. The first line is the store's identifier, because stores with
/// the same name share a folder; each further line is a file name.
package final class UnsavedFiles {
    static let prefix = "unsaved-"
    /// The maximum size in bytes: more than a million file names.
    private static let most = 64 << 20

    private let path: String
    private let descriptor: Int32

    /// Returns `nil` if the file cannot be created.
    package init?(_ external: ExternalData) {
        let folder = external.support
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appendingPathComponent(Self.prefix + UUID().uuidString).path
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        // A program that opens the store before the lock is taken finds an empty list.
        flock(descriptor, LOCK_EX)
        note([external.store])
    }

    deinit { close(descriptor) }

    package func note(_ names: [String]) {
        let text = names.map { $0 + "\n" }.joined()
        _ = text.utf8.withContiguousStorageIfAvailable { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Removes the list.
    func finish() { unlink(path) }

    /// Passes the files that an interrupted save listed to a closure, then removes the list.
    ///
    /// Ignores the lists of saves that may still be running, and those of other stores.
    static func take(_ note: URL, of store: String, _ body: ([String]) throws -> Void) {
        guard let descriptor = try? RegularFile.open(note.path) else { return }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0,
            let bytes = try? RegularFile.bytes(of: note.path, atMost: most)
        else { return }
        // An incomplete last line means that its file was not begun.
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.first.map(String.init) == store, lines.count > 1 else {
            if bytes.isEmpty { unlink(note.path) }
            return
        }
        do {
            try body(lines.dropFirst().dropLast().map(String.init))
            unlink(note.path)
        } catch {
            // The store cannot be read now; the next time it is opened, this is tried again.
        }
    }
}

/// Removes the files of large values that interrupted saves left behind.
///
/// Only removes files that such a save listed, that have names as the store assigns them, and that no row refers to.
package struct ExternalCollection {
    private let external: ExternalData
    private let schema: ModelSchema
    private let connection: SQLConnection

    package init(_ external: ExternalData, _ schema: ModelSchema, _ connection: SQLConnection) {
        self.external = external
        self.schema = schema
        self.connection = connection
    }

    /// Removes the files.
    ///
    /// - Complexity: One directory listing; after an interrupted save, O(rows of the tables with large values).
    func collect() {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: external.support.path) else { return }
        for name in names where name.hasPrefix(UnsavedFiles.prefix) {
            UnsavedFiles.take(external.support.appendingPathComponent(name), of: external.store) { files in
                let needed = try referred()
                for file in files where UUID(uuidString: file) != nil && !needed.contains(file) {
                    ExternalData.remove([external.folder.appendingPathComponent(file)])
                }
            }
        }
    }

    /// The names of the files that rows refer to.
    package func referred() throws(StoreError) -> Set<String> {
        var names: Set<String> = []
        var seen: Set<String> = []
        for entity in schema.entities {
            for column in entity.columns where entity.properties[column.property].isExternal {
                guard seen.insert("\(entity.table).\(column.name)").inserted else { continue }
                try external.eachFile(
                    "SELECT \(column.name) FROM \(entity.table) WHERE substr(\(column.name), 1, 1) = x'02'", connection
                ) { names.insert($0) }
            }
        }
        return names
    }
}

extension ExternalData {
    /// Passes the names of the files to which a query's columns refer to a closure.
    ///
    /// - Parameter query: A query for one column with large values.
    package func eachFile(_ query: String, _ connection: SQLConnection, _ body: (String) -> Void) throws(StoreError) {
        let statement = try connection.prepare(query)
        var result = sqlite3_step(statement.handle)
        while result == SQLITE_ROW {
            let bytes = UnsafeRawBufferPointer(
                start: sqlite3_column_blob(statement.handle, 0), count: Int(sqlite3_column_bytes(statement.handle, 0)))
            if let file = file(bytes) { body(file.lastPathComponent) }
            result = sqlite3_step(statement.handle)
        }
        guard result == SQLITE_DONE else { throw connection.error(result, doing: "Looking for large values") }
    }
}
