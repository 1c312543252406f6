import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("A read-only store can be read, and refuses every write before it starts")
struct ReadOnlyStoreTests {
    private let store: TestStore
    private let container: PersistentContainer
    private let context: ManagedObjectContext

    init() throws {
        store = try TestStore()
        try store.fill(items: 3)
        var description = store.container.persistentStoreDescription
        description.isReadOnly = true
        container = try PersistentContainer(
            name: "Test", managedObjectModel: store.container.managedObjectModel, storeDescription: description,
            classes: Groceries.classes)
        context = container.newBackgroundContext()
    }

    private func refusal(_ doing: String) -> String {
        "\(doing) in '\(store.url.path)' is refused because the store was opened read-only; open it without isReadOnly, or assign new objects to another store."
    }

    @Test func reading() throws {
        #expect(container.persistentStoreCoordinator.persistentStores[0].isReadOnly)
        #expect(try context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")])).map(\.name).count == 3)
    }

    @Test("Changes stay unsaved")
    func saving() throws {
        let item = try context.fetch(FetchRequest<Item>())[0]
        item.name = "Changed"
        #expect(performing { try context.save() } == refusal("Saving"))
        #expect(context.hasChanges && item.name == "Changed")
        context.rollback()
        context.delete(item)
        #expect(performing { try context.save() } == refusal("Saving"))
        #expect(try store.sql("SELECT count(*) FROM ZITEM WHERE ZNAME LIKE 'Item%'") == ["3"])
    }

    @Test func permanentIDs() throws {
        let item = Item(context: context)
        #expect(
            performing { try context.obtainPermanentIDs(for: [item]) } == refusal("Obtaining permanent IDs"))
        #expect(item.objectID.isTemporaryID && item.objectID.persistentStore == nil)
    }

    @Test func batchRequests() throws {
        #expect(
            performing { _ = try context.execute(BatchDeleteRequest(fetchRequest: FetchRequest<Item>())) }
                == refusal("Running a batch request"))
    }

    @Test func metadata() throws {
        let coordinator = container.persistentStoreCoordinator
        #expect(
            performing { try coordinator.setMetadata(["a": 1], for: coordinator.persistentStores[0]) }
                == refusal("Setting metadata"))
    }
}
