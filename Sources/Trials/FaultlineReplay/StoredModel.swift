package import FaultlineModel
import FaultlineStore

/// The model of a store at rest, and the part of it that the store uses.
struct StoredModel {
    var model: ManagedObjectModel
    /// The name of the configuration, or `nil` if the store has all entities.
    var configuration: String?

    /// Returns the first model that passes a check.
    ///
    /// - Throws: The error of the first check, if no model passes.
    static func first(
        of models: [StoredModel], check: (StoredModel) throws(ReplayError) -> Void
    ) throws(ReplayError) -> StoredModel {
        var failure: ReplayError?
        for model in models {
            do {
                try check(model)
                return model
            } catch {
                failure = failure ?? error
            }
        }
        throw failure ?? ReplayError.badModel("it is empty.")
    }

    /// Reads the model that a store keeps next to its rows.
    ///
    /// Returns `nil` for stores of older versions of Faultline, and if Core Data's copy cannot be read.
    ///
    /// - Parameter unreadable: Called with the reason if Core Data's copy cannot be read.
    /// - Throws: ``ReplayError`` if the model that Faultline keeps is invalid.
    static func read(
        _ file: DatabaseFile, unreadable: ((ModelError) -> Void)? = nil
    ) throws(ReplayError) -> StoredModel? {
        let table = PersistentStore.modelTable
        guard try file.hasTable(table) else { return try archived(file, unreadable: unreadable) }
        guard let row = try file.rows("SELECT Z_MODEL, Z_CONFIGURATION FROM \(table)").first, !row[0].text.isEmpty
        else { return nil }
        let configuration = row[1].text
        do {
            return StoredModel(
                model: try ManagedObjectModel(contents: row[0].text, name: "\(table) of the store"),
                configuration: configuration.isEmpty ? nil : configuration)
        } catch {
            throw .badModel("\(error)")
        }
    }

    /// Reads the copy that Core Data keeps in its stores, if it can be read.
    private static func archived(
        _ file: DatabaseFile, unreadable: ((ModelError) -> Void)?
    ) throws(ReplayError) -> StoredModel? {
        let table = PersistentStore.archiveTable
        guard try file.hasTable(table),
            let content = try? file.bytes("SELECT Z_CONTENT FROM \(table) LIMIT 1"), !content.isEmpty
        else { return nil }
        do {
            return StoredModel(model: try ManagedObjectModel.cached(content, in: "the store"), configuration: nil)
        } catch {
            unreadable?(error)
            return nil
        }
    }
}

extension ManagedObjectModel {
    /// The model that a store was written with, if the store has a readable copy of it.
    ///
    /// Writes neither to the store nor beside it. A store with a log is copied first.
    ///
    /// - Throws: ``ReplayError`` if the file is not a store, or has a copy that cannot be read.
    package static func kept(inStoreAt path: String) throws(ReplayError) -> ManagedObjectModel? {
        let resolved = try StorePath.resolved(path)
        var folder: ScratchFolder?
        let file: DatabaseFile
        if StorePath.companions(of: resolved).isEmpty {
            file = try DatabaseFile(inPlace: resolved, named: path)
        } else {
            let scratch = try ScratchFolder()
            folder = scratch
            file = try DatabaseFile(copy: try scratch.copyStore(resolved), named: path)
        }
        defer { withExtendedLifetime(folder) {} }
        guard try file.hasTable("Z_METADATA") else { throw .noStore(path) }
        var failure: ModelError?
        let model = try StoredModel.read(file) { failure = $0 }?.model
        if let failure { throw .unreadableModel(path, failure.message) }
        return model
    }
}
