import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation

/// A copy of a store, on which things can be tried: the store itself is never opened.
final class StoreCopy {
    /// The store as it was named.
    private let name: String
    private let folder: ScratchFolder
    private let path: String

    /// Copies a store with its log and the files of its large values.
    ///
    /// - Parameters:
    ///   - path: Without links (``StorePath``).
    ///   - name: What errors call it.
    /// - Throws: ``ReplayError`` if there is no room, or the store cannot be read.
    init(of path: String, named name: String) throws(ReplayError) {
        self.name = name
        folder = try ScratchFolder()
        self.path = try folder.copyStore(path)
        try folder.copySupport(of: path)
    }

    /// The model that the store keeps.
    ///
    /// - Throws: ``ReplayError`` if it is no SQLite file or no store, or what it keeps is no model.
    func keptModel() throws(ReplayError) -> StoredModel? {
        let file = try DatabaseFile(writing: path, named: name)
        guard try file.hasTable("Z_METADATA") else { throw .noStore(name) }
        return try StoredModel.read(file)
    }

    /// Makes sure that the copy opens with a model.
    ///
    /// - Throws: ``ReplayError`` with the differences between the store's model and the other one.
    func check(_ model: StoredModel) throws(ReplayError) { try Self.check(path, model, named: name) }

    /// Makes sure that a copy of a store opens with a model.
    ///
    /// - Parameter name: The store's own, for errors.
    /// - Throws: ``ReplayError`` with the differences between the store's model and the other one.
    static func check(_ path: String, _ model: StoredModel, named name: String) throws(ReplayError) {
        do {
            _ = try open(path, model, .off()) { _ in }
        } catch {
            let reason = Untriable(error, copyOf: name).reason
            guard (error as? StoreError)?.code == .incompatibleModel else {
                throw ReplayError.cannotOpen(name, reason)
            }
            // What the store says of itself names its copy, and what to do with a store that is one's own.
            let differences = reason.firstMatch(of: /was made with another model: (.*?)(; open it with the model.*)?$/)
            throw ReplayError.otherModel(name, differences.map { String($0.1) } ?? reason)
        }
    }

    /// Opens the copy, with nothing in memory yet.
    func open(_ model: StoredModel, _ recorder: Recorder = .off()) throws -> PersistentContainer {
        try open(model, recorder) { _ in }
    }

    /// Has SQLite gather its statistics of the copy anew, by a connection that knows the order of the store's texts.
    func analyze(_ model: StoredModel) throws {
        _ = try open(model, .off()) { $0.analyzesWhenAdded = true }
    }

    private func open(
        _ model: StoredModel, _ recorder: Recorder, _ configure: (inout PersistentStoreDescription) -> Void
    ) throws -> PersistentContainer {
        try Self.open(path, model, recorder, configure)
    }

    private static func open(
        _ path: String, _ model: StoredModel, _ recorder: Recorder,
        _ configure: (inout PersistentStoreDescription) -> Void
    ) throws -> PersistentContainer {
        var description = PersistentStoreDescription(url: URL(fileURLWithPath: path))
        configure(&description)
        description.configuration = model.configuration
        // Nobody follows what happens to a copy.
        description.ignoresPersistentHistory = true
        return try PersistentContainer(
            name: "Copy", managedObjectModel: model.model, storeDescription: description, recorder: recorder)
    }

    /// Changes the copy with statements of SQL.
    func change(_ statements: [String]) throws(ReplayError) {
        let file = try DatabaseFile(writing: path, named: name)
        for statement in statements { try file.run(statement) }
    }
}
