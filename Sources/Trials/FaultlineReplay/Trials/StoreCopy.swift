import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation

/// A copy of a store for trials.
///
/// The store itself is never opened.
final class StoreCopy {
    /// The store's name as given.
    private let name: String
    private let folder: ScratchFolder
    private let path: String

    /// Copies a store with its log and the files of its large values.
    ///
    /// - Parameters:
    ///   - path: The store's path, without links (``StorePath``).
    ///   - name: The name used in errors.
    /// - Throws: ``ReplayError`` if there is no space, or the store cannot be read.
    init(of path: String, named name: String) throws(ReplayError) {
        self.name = name
        folder = try ScratchFolder()
        self.path = try folder.copyStore(path)
        try folder.copySupport(of: path)
    }

    /// Returns the model that the store keeps.
    ///
    /// - Throws: ``ReplayError`` if the file is not an SQLite file or not a store, or the kept model is invalid.
    func keptModel() throws(ReplayError) -> StoredModel? {
        let file = try DatabaseFile(writing: path, named: name)
        guard try file.hasTable("Z_METADATA") else { throw .noStore(name) }
        return try StoredModel.read(file)
    }

    /// Checks that the copy can be opened with a model.
    ///
    /// - Throws: ``ReplayError`` with the differences between the store's model and the other one.
    func check(_ model: StoredModel) throws(ReplayError) { try Self.check(path, model, named: name) }

    /// Checks that a copy of a store can be opened with a model.
    ///
    /// - Parameter name: The store's own name, for errors.
    /// - Throws: ``ReplayError`` with the differences between the store's model and the other one.
    static func check(_ path: String, _ model: StoredModel, named name: String) throws(ReplayError) {
        do {
            _ = try open(path, model, .off()) { _ in }
        } catch {
            let reason = Untriable(error, copyOf: name).reason
            guard let error = error as? StoreError, error.code == .incompatibleModel else {
                throw ReplayError.cannotOpen(name, String(reason.trimmingPrefix(Untriable.copyPrefix)))
            }
            // The store's message names the copy, and has advice that does not apply to a copy.
            let mismatch = try? PersistentStoreCoordinator.mismatch(
                of: model.model, configuration: model.configuration, withStoreAt: URL(fileURLWithPath: path))
            throw ReplayError.otherModel(name, mismatch ?? reason)
        }
    }

    /// Opens the copy, with empty caches.
    func open(_ model: StoredModel, _ recorder: Recorder = .off()) throws -> PersistentContainer {
        try open(model, recorder) { _ in }
    }

    /// Runs `ANALYZE` on the copy, with a connection that has the store's collations.
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
        description.shouldMigrateStoreAutomatically = false
        // Nothing tracks the changes of a copy.
        description.ignoresPersistentHistory = true
        return try PersistentContainer(
            name: "Copy", managedObjectModel: model.model, storeDescription: description, recorder: recorder)
    }

    /// Changes the copy with SQL statements.
    func change(_ statements: [String]) throws(ReplayError) {
        let file = try DatabaseFile(writing: path, named: name)
        for statement in statements { try file.run(statement) }
    }
}
