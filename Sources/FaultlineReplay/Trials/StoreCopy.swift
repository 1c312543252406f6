import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation

/// A copy of a store, on which things can be tried: the store itself is never opened.
final class StoreCopy {
    private let model: StoredModel
    private let folder: ScratchFolder
    private let path: String

    /// Copies a store with its log and the files of its large values.
    ///
    /// - Parameter path: Without links (``StorePath``).
    /// - Throws: ``ReplayError`` if there is no room, or the store cannot be read.
    init(of path: String, _ model: StoredModel) throws(ReplayError) {
        self.model = model
        folder = try ScratchFolder()
        self.path = try folder.copyStore(path)
        try folder.copySupport(of: path)
    }

    /// Opens the copy, with nothing in memory yet.
    func open(_ recorder: Recorder = .off()) throws -> PersistentContainer {
        var description = PersistentStoreDescription(url: URL(fileURLWithPath: path))
        description.configuration = model.configuration
        // Nobody follows what happens to a copy.
        description.ignoresPersistentHistory = true
        return try PersistentContainer(
            name: "Copy", managedObjectModel: model.model, storeDescription: description, recorder: recorder)
    }

    /// Changes the copy with statements of SQL.
    func change(_ statements: [String]) throws(ReplayError) {
        let file = try DatabaseFile(writing: path)
        for statement in statements { try file.run(statement) }
    }
}
