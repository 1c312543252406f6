import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation

/// Makes the newer version of a store beside it, and then replaces the store's contents with it in one transaction.
///
/// Until the last step the store is only read. A program that is killed leaves the store as it was, and files that the next
/// migration removes. SQLite writes the contents, because programs that have a file open do not notice that another one takes its
/// name, and their next save would be lost or damage the other one
/// (https://www.sqlite.org/howtocorrupt.html#_unlinking_or_renaming_a_database_file_while_in_use).
struct StoreReplacement {
    let description: PersistentStoreDescription
    /// The version that the store has.
    let sourceModel: ManagedObjectModel
    let recorder: Recorder
    let log: SQLDebugLog
    /// A connection to try first, which is closed; `nil` to open one.
    let writer: SQLSession?

    /// Migrates the store object by object.
    ///
    /// - Parameter backup: The file for a copy of the older store; `nil` for none.
    func run(_ manager: MigrationManager, _ mapping: MappingModel, backup: URL?) throws {
        // The manager reads the store, but nobody writes to it.
        let lock = { (setup: StoreSetup) throws(StoreError) in
            _ = try setup.session.run("BEGIN IMMEDIATE", doing: StoreMigration.doing)
        }
        try replace(backup, lock: lock) { (setup, new) in
            try manager.migrateStore(from: description.url, mapping: mapping, to: new)
            // A write makes the lock exclusive, without a gap in which another program could take it, and the lock stays.
            try setup.pragma("locking_mode=exclusive")
            try setup.session.run("UPDATE Z_METADATA SET Z_VERSION = Z_VERSION", doing: StoreMigration.doing)
            try setup.session.run("COMMIT", doing: StoreMigration.doing)
        }
    }

    /// Migrates a copy of the store.
    ///
    /// - Parameters:
    ///   - backup: The file for another copy of the older store; `nil` for none.
    ///   - change: Is passed the copy, and may replace its contents.
    func run(backup: URL?, changingCopy change: (URL) throws -> Void) throws {
        try replace(backup, lock: { (setup) throws(StoreError) in try setup.lock() }) { (setup, new) in
            try StoreFiles(description.url).copy(setup.session.connection, to: new)
            try change(new)
        }
    }

    private func replace(
        _ backup: URL?, lock: (StoreSetup) throws(StoreError) -> Void, make: (StoreSetup, URL) throws -> Void
    ) throws {
        // A link is followed and kept.
        let url = description.url.resolvingSymlinksInPath()
        let setup = try StoreOpening.soleSession(description, recorder, log, trying: writer, lock: lock)
        let session = setup.session
        defer { session.connection.close() }
        guard try setup.unmigratedVersion(description, sourceModel) != nil else {
            throw StoreMigration.givenUp(description.path)
        }
        StoreFiles.removeTemporaries(for: url)
        try checkSpace(of: url)
        let new = StoreFiles.temporary(for: url)
        defer { StoreFiles(new).remove() }
        try make(setup, new)
        if description.tracksPersistentHistory { try continueHistory(setup, new) }
        let kept = try backup.map { try StoreFiles(description.url).backUp(session.connection, to: $0) }
        do {
            try replaceContents(by: new, setup)
        } catch {
            kept?.remove()
            throw error
        }
    }

    /// Begins the new store's history where that of the older one ends, unless the new one has it.
    private func continueHistory(_ setup: StoreSetup, _ new: URL) throws(StoreError) {
        let connection = try SQLConnection(path: new.path, isReadOnly: false, busyTimeout: 0)
        defer { connection.close() }
        let other = StoreSetup(
            SQLSession(connection, recorder: recorder, log: log), path: description.path, doing: StoreMigration.doing)
        try setup.continueHistory(in: other)
    }

    /// Checks that the disk has room for the newer store and, while it is copied, for the older one's pages.
    private func checkSpace(of url: URL) throws(StoreError) {
        let files = [url, url] + StoreFiles(description.url).externalFiles
        let size = files.reduce(UInt64(0)) { $0 + $1.fileSize }
        try StoreFiles.checkSpace(size, in: url.deletingLastPathComponent(), path: description.path)
    }

    /// Gives the store the contents of the new one, and its files.
    private func replaceContents(by new: URL, _ setup: StoreSetup) throws(StoreError) {
        let (old, made) = (StoreFiles(description.url), StoreFiles(new))
        // Files that only the older store refers to are removed when the new one is opened.
        let external = ExternalData(storeURL: description.url, store: try setup.readMetadata().uuid, threshold: 0)
        // Another store can have files in the same folder.
        let before = try ExternalCollection(external, sourceModel.schema, setup.session.connection).referred()
        let files = made.externalFiles
        let listed = before.union(files.map(\.lastPathComponent))
        let list = listed.isEmpty ? nil : UnsavedFiles(external)
        list?.note(listed.sorted())
        do {
            if !files.isEmpty {
                try FileManager.default.createDirectory(at: old.external, withIntermediateDirectories: true)
            }
            for file in files {
                // The names are UUIDs, so the files of both stores can be in one folder, and a file there is the same one.
                let place = old.external.appendingPathComponent(file.lastPathComponent)
                if FileManager.default.fileExists(atPath: place.path) { continue }
                try StoreFiles.synchronize(file)
                try FileManager.default.moveItem(at: file, to: place)
            }
            if !files.isEmpty { try StoreFiles.synchronize(old.external) }
        } catch {
            throw StoreError(
                .cannotOpen,
                "Migrating '\(description.path)' failed because a file beside it cannot be written (\(error)); make its folder writable.",
                cause: error)
        }
        let source = try SQLConnection(path: new.path, isReadOnly: true, busyTimeout: 0)
        defer { source.close() }
        try setup.session.connection.copyContents(of: source, doing: StoreMigration.doing)
        withExtendedLifetime(list) {}
    }
}
