import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation

/// Several grocery stores behind one coordinator, in a folder of their own.
final class SeveralStores {
    let folder: URL
    let container: PersistentContainer
    let context: ManagedObjectContext
    let recorder: Recorder

    var coordinator: PersistentStoreCoordinator { container.persistentStoreCoordinator }
    var stores: [PersistentStore] { coordinator.persistentStores }

    /// - Parameter types: One per store; the stores are named `a`, `b` and so on.
    init(
        _ types: [PersistentStore.StoreType] = [.sqlite, .sqlite],
        entities: [EntityDescription] = Groceries.entities(), configurations: [ConfigurationDescription] = [],
        classes: [ManagedObject.Type] = Groceries.classes, isRecording: Bool = false,
        configure: (Int, inout PersistentStoreDescription) -> Void = { _, _ in }
    ) throws {
        folder = try TestStore.makeFolder()
        recorder = isRecording ? .memory() : .shared
        var descriptions: [PersistentStoreDescription] = []
        for (number, type) in types.enumerated() {
            var description = PersistentStoreDescription(url: Self.url(folder, number), type: type)
            description.synchronization = .off
            configure(number, &description)
            descriptions.append(description)
        }
        container = try PersistentContainer(
            name: "Several", managedObjectModel: ManagedObjectModel(entities: entities, configurations: configurations),
            storeDescriptions: descriptions, classes: classes, recorder: recorder)
        context = container.newBackgroundContext()
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private static func url(_ folder: URL, _ number: Int) -> URL {
        folder.appendingPathComponent("\(["a", "b", "c", "d"][number]).store")
    }

    func url(_ number: Int) -> URL { Self.url(folder, number) }

    /// Inserts an item into one of the stores.
    @discardableResult
    func add(_ name: String, to number: Int, in context: ManagedObjectContext? = nil) throws -> Item {
        let context = context ?? self.context
        let item = Item(context: context)
        item.name = name
        try context.assign(item, to: stores[number])
        return item
    }

    /// Returns the names of a store's items, as the file has them.
    func names(_ number: Int) throws -> [String] {
        try SQLShell.run("SELECT ZNAME FROM ZITEM ORDER BY ZNAME", url(number))
    }

    var events: [TraceEvent] {
        recorder.messages().compactMap { if case .event(let event) = $0 { event } else { nil } }
    }
}
