import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation

/// A store under examination: a consistent copy, and a second copy for changes.
final class SurveyedStore {
    /// The store's name as given, and its resolved path.
    let name: String
    let path: String
    /// The copy to examine.
    let file: DatabaseFile
    /// `nil` if there is no space for a copy, and the store is read in place.
    private let folder: ScratchFolder?
    private var changed: DatabaseFile?

    private static let twinName = "twin.sqlite"

    /// - Throws: ``ReplayError`` if the file is not an SQLite file or cannot be read.
    init(path: String) throws(ReplayError) {
        name = path
        self.path = try StorePath.resolved(path)
        let folder = try ScratchFolder()
        do {
            let filePath = try folder.copyStore(self.path)
            file = try DatabaseFile(copy: filePath, named: path)
            self.folder = folder
        } catch {
            // A file with a log or a journal is incomplete without it.
            guard error.isLackOfRoom, StorePath.companions(of: self.path).isEmpty else { throw error }
            file = try DatabaseFile(inPlace: self.path, named: path)
            self.folder = nil
        }
    }

    /// Returns the first model that is the store's.
    ///
    /// - Throws: ``ReplayError`` with the differences from the first, if none is.
    func first(of models: [ManagedObjectModel], configuration: String?) throws(ReplayError) -> ManagedObjectModel {
        guard try file.hasTable("Z_METADATA"), try file.hasTable("Z_PRIMARYKEY") else { throw .modelOfNoStore(name) }
        guard let folder else { throw ReplayError.cannotCopy(name, "no room") }
        let copy = try folder.duplicateStore(as: "model.sqlite")
        defer { for end in ["", "-wal", "-shm"] { unlink(copy + end) } }
        let versions = models.map { StoredModel(model: $0, configuration: configuration) }
        return try StoredModel.first(of: versions) { [name] (model) throws(ReplayError) in
            try StoreCopy.check(copy, model, named: name)
        }.model
    }

    /// Returns the copy for changes, which keeps them.
    ///
    /// - Throws: ``ReplayError`` if there is no space for it.
    func twin() throws(ReplayError) -> DatabaseFile {
        if let changed { return changed }
        guard let folder else { throw ReplayError.cannotCopy(name, "no room") }
        let twin = try DatabaseFile(copy: try folder.duplicateStore(as: Self.twinName), named: name)
        for row in try twin.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'") {
            try twin.run("DROP TRIGGER \(DatabaseFile.quoted(row[0].text))")
        }
        changed = twin
        return twin
    }

    /// Opens another connection to the copy to examine.
    func secondConnection() throws(ReplayError) -> DatabaseFile {
        guard let folder else { throw ReplayError.cannotCopy(name, "no room") }
        return try DatabaseFile(copy: folder.storeURL.path, named: name)
    }

    /// The size of the file after VACUUM.
    ///
    /// - Parameter isTwin: Whether to vacuum the copy for changes.
    /// - Throws: ``ReplayError`` if there is no space.
    func sizeAfterVacuum(ofTwin isTwin: Bool = false) throws(ReplayError) -> UInt64 {
        guard let folder else { throw ReplayError.cannotCopy(name, "no room") }
        let filePath = folder.filePath(of: "vacuumed.sqlite")
        defer { unlink(filePath) }
        let quoted = filePath.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
        try (isTwin ? try twin() : file).run("VACUUM INTO '\(quoted)'")
        return StorePath.size(of: filePath)
    }
}
