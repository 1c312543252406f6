import CSQLite
import FaultlineModel
import FaultlineRecorder
import Foundation

/// Makes the newer version of a store beside it, and then replaces the store by it at once.
///
/// Until the last step the store is only read. A program that is killed leaves the store as it was, and files that the next
/// migration removes.
struct StoreReplacement {
    let description: PersistentStoreDescription
    /// The version that the store has.
    let sourceModel: ManagedObjectModel
    let recorder: Recorder
    let log: SQLDebugLog

    /// Migrates the store object by object.
    ///
    /// - Parameter backup: Where to put a copy of the older store; `nil` for none.
    func run(_ manager: MigrationManager, _ mapping: MappingModel, backup: URL?) throws {
        try replace(backup) { (setup, new) in
            // Nobody writes to the store from here on.
            try setup.session.run("BEGIN IMMEDIATE", doing: StoreMigration.doing)
            try manager.migrateStore(from: description.url, mapping: mapping, to: new)
        }
    }

    /// Migrates a copy of the store.
    ///
    /// - Parameters:
    ///   - backup: Where to put another copy of the older store; `nil` for none.
    ///   - change: Is passed the copy, and may replace it.
    func run(backup: URL?, changingCopy change: (URL) throws -> Void) throws {
        try replace(backup) { (setup, new) in
            try setup.lock()
            try StoreFiles(description.url).copy(setup.session.connection, to: new)
            try change(new)
        }
    }

    private func replace(_ backup: URL?, make: (StoreSetup, URL) throws -> Void) throws {
        // A link is followed, and stays.
        let url = description.url.resolvingSymlinksInPath()
        let folder = url.deletingLastPathComponent()
        let prefix = ".\(url.lastPathComponent).migration-"
        let session = try StoreOpening.connect(description, recorder: recorder, log: log)
        defer { session.connection.close() }
        let setup = StoreSetup(session, path: description.path, doing: StoreMigration.doing)
        // As for a migration in place, nobody else may have the store open.
        try setup.setJournal("delete")
        defer { if !session.connection.isAutocommit { _ = try? session.run("ROLLBACK", doing: StoreMigration.doing) } }
        removeLeftovers(in: folder, prefix)
        try checkSpace(of: url, in: folder)
        let new = folder.appendingPathComponent(prefix + UUID().uuidString)
        defer { StoreFiles(new).remove() }
        try make(setup, new)
        if let backup { try StoreFiles(description.url).keep(as: backup) }
        try replace(url, by: new, setup)
    }

    /// Removes the files of migrations that were killed; no other one can be running.
    private func removeLeftovers(in folder: URL, _ prefix: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
            guard name.hasPrefix(prefix), UUID(uuidString: String(name.dropFirst(prefix.count))) != nil else {
                continue
            }
            StoreFiles(folder.appendingPathComponent(name)).remove()
        }
    }

    private func checkSpace(of url: URL, in folder: URL) throws(StoreError) {
        let files = [url] + StoreFiles(description.url).externalFiles
        let size = files.reduce(UInt64(0)) { $0 + StoreFiles.size(of: $1) }
        try StoreFiles.checkSpace(size, in: folder, path: description.path)
    }

    /// Puts the new store in the place of the older one.
    private func replace(_ url: URL, by new: URL, _ setup: StoreSetup) throws(StoreError) {
        let (old, made) = (StoreFiles(description.url), StoreFiles(new))
        // What only the older store refers to is removed when the new one is opened.
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
            let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions]
            if let mode { try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: new.path) }
            try StoreFiles.synchronize(new)
        } catch {
            throw StoreError(
                .cannotOpen,
                "Migrating '\(description.path)' failed because a file beside it cannot be written (\(error)); make its folder writable.",
                cause: error)
        }
        guard rename(new.path, url.path) == 0 else {
            throw StoreError(
                .cannotOpen,
                "Migrating '\(description.path)' failed because the new store cannot take its place (\(String(cString: strerror(errno)))); make its folder writable."
            )
        }
        try? StoreFiles.synchronize(url.deletingLastPathComponent())
        withExtendedLifetime(list) {}
    }
}
