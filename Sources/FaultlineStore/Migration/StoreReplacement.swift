import CSQLite
import FaultlineModel
import FaultlineRecorder
import Foundation

/// Migrates a store with a mapping model beside itself, and then replaces it by the new one at once.
///
/// Until the last step the store is only read. A program that is killed leaves the store as it was, and files that the next
/// migration removes.
struct StoreReplacement {
    private let description: PersistentStoreDescription
    private let manager: MigrationManager
    private let mapping: MappingModel

    init(_ description: PersistentStoreDescription, _ manager: MigrationManager, _ mapping: MappingModel) {
        (self.description, self.manager, self.mapping) = (description, manager, mapping)
    }

    /// - Parameter backup: Where to put a copy of the older store; `nil` for none.
    func run(backup: URL?) throws {
        // A link is followed, and stays.
        let url = description.url.resolvingSymlinksInPath()
        let folder = url.deletingLastPathComponent()
        let prefix = ".\(url.lastPathComponent).migration-"
        let session = try StoreOpening.connect(description, recorder: manager.recorder, log: manager.log)
        defer { session.connection.close() }
        let setup = StoreSetup(session, path: description.path, doing: StoreMigration.doing)
        // As for a migration in place: nobody else has the store open, and nobody writes to it from here on.
        try setup.setJournal("delete")
        try session.run("BEGIN IMMEDIATE", doing: StoreMigration.doing)
        defer { if !session.connection.isAutocommit { _ = try? session.run("ROLLBACK", doing: StoreMigration.doing) } }
        removeLeftovers(in: folder, prefix)
        try checkSpace(of: url, in: folder)
        let new = folder.appendingPathComponent(prefix + UUID().uuidString)
        defer { StoreFiles(new).remove() }
        try manager.migrateStore(from: description.url, mapping: mapping, to: new)
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
        let before = try ExternalCollection(external, manager.sourceModel.schema, setup.session.connection).referred()
        let list = before.isEmpty ? nil : UnsavedFiles(external)
        list?.note(before.sorted())
        do {
            // The names are UUIDs, so the files of both stores can be in one folder.
            let files = made.externalFiles
            if !files.isEmpty {
                try FileManager.default.createDirectory(at: old.external, withIntermediateDirectories: true)
            }
            for file in files {
                try StoreFiles.synchronize(file)
                try FileManager.default.moveItem(
                    at: file, to: old.external.appendingPathComponent(file.lastPathComponent))
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
