import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("An in-memory store works like any other while it lasts")
struct InMemoryStoreTests {
    private static func makeStore(isRecording: Bool = false) throws -> TestStore {
        try TestStore(isRecording: isRecording) { $0.type = .inMemory }
    }

    @Test("A context finds what another context saved")
    func saving() throws {
        let store = try Self.makeStore()
        try store.fill(items: 20, categories: 2, tags: 3)
        let items = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("price")]))
        #expect(items.map(\.name) == (0..<20).map { "Item \($0)" })
        #expect(items[3].category?.name == "Category 1")
        #expect(items[3].tags.count == 1)
        items[0].name = "Milk"
        store.context.delete(items[1])
        try store.context.save()
        let names = try store.container.newBackgroundContext().fetch(
            FetchRequest<Item>(sortDescriptors: [.ascending("price")], fetchLimit: 2)
        ).map(\.name)
        #expect(names == ["Milk", "Item 2"])
    }

    @Test("Nothing is written to disk")
    func noFile() throws {
        let store = try Self.makeStore()
        try store.fill(items: 5)
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.path).isEmpty)
    }

    @Test("Each coordinator has an in-memory store of its own, which goes away with it")
    func lifetime() throws {
        let store = try Self.makeStore()
        try store.fill(items: 5)
        var description = PersistentStoreDescription()
        #expect(description.url.path == "/dev/null")
        for type in [PersistentStore.StoreType.sqlite, .inMemory] {
            description.type = type
            let container = try PersistentContainer(
                name: "Other", managedObjectModel: store.container.managedObjectModel, storeDescription: description,
                classes: Groceries.classes)
            let context = container.newBackgroundContext()
            #expect(try context.count(for: FetchRequest<Item>()) == 0)
            Item(context: context).name = "x"
            try context.save()
            #expect(try context.count(for: FetchRequest<Item>()) == 1)
            let stores = container.persistentStoreCoordinator.persistentStores
            #expect(stores.map(\.type) == [type])
            #expect(stores[0].identifier != store.container.persistentStoreCoordinator.storeUUID)
        }
        #expect(try store.context.count(for: FetchRequest<Item>()) == 5)
    }

    @Test("A failed save leaves the store as it was")
    func failedSave() throws {
        let store = try Self.makeStore()
        try store.fill(items: 2)
        let other = store.container.newBackgroundContext()
        let mine = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        let theirs = try other.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        mine[0].name = "Mine"
        theirs[0].name = "Theirs"
        Item(context: other).name = "New"
        try store.context.save()
        #expect(performing { try other.save() }.hasPrefix("Saving Item "))
        let names = try store.container.newBackgroundContext().fetch(
            FetchRequest<Item>(sortDescriptors: [.ascending("name")])
        ).map(\.name)
        #expect(names == ["Item 1", "Mine"])
    }

    @Test("Large values are kept in memory")
    func largeValues() throws {
        let store = try TestStore(Household.entities, classes: Household.classes) {
            $0.type = .inMemory
            $0.externalStorageThreshold = 1000
        }
        let person = Person(context: store.context)
        let photo = Data((0..<5000).map { UInt8(truncatingIfNeeded: $0) })
        person.photo = photo
        try store.context.save()
        #expect(try store.container.newBackgroundContext().fetch(FetchRequest<Person>())[0].photo == photo)
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.path).isEmpty)
    }

    @Test("A recording of an in-memory store has the same statements and plans as one of a file")
    func sameEvents() throws {
        func trace(_ store: TestStore) throws -> ([String], [String], [TraceEvent.Fetch]) {
            try store.fill(items: 10, categories: 2)
            let request = FetchRequest<Item>(
                predicate: PropertyPath("name") == "Item 3", sortDescriptors: [.ascending("price")])
            let item = try store.context.fetch(request)[0]
            _ = (item.name, item.category?.name, item.category?.items.count)
            let dictionary = store.dictionary
            let plans = store.events.compactMap { event -> String? in
                guard case .sql(let statement) = event.detail, statement.plan != 0 else { return nil }
                return dictionary.plan(statement.plan)?.rows.map(\.detail).joined(separator: "; ")
            }
            let fetches = store.events.compactMap { event -> TraceEvent.Fetch? in
                guard case .fetch(let fetch) = event.detail else { return nil }
                return fetch
            }
            let writes = store.statements(ofType: .write)
            // A file has a metadata table, which is read first, and stores the model.
            let all = (store.statements() + writes).filter { !$0.contains("Z_METADATA") && !$0.contains("Z_FAULTLINE") }
            return (all, plans, fetches)
        }
        let file = try trace(TestStore(isRecording: true))
        let memory = try trace(Self.makeStore(isRecording: true))
        #expect(!file.0.isEmpty && file.0 == memory.0)
        #expect(file.1 == memory.1)
        #expect(memory.2.map(\.rows) == file.2.map(\.rows) && !memory.2.isEmpty)
    }

    @Test("Opening it read-only and reading its metadata throw errors")
    func refusals() throws {
        #expect(
            performing {
                _ = try TestStore {
                    $0.type = .inMemory
                    $0.isReadOnly = true
                }
            }
                == "An in-memory store is empty when it is opened, so it cannot be read-only; leave isReadOnly unset."
        )
        #expect(
            performing {
                _ = try PersistentStoreCoordinator.metadataForPersistentStore(
                    type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
            } == "An in-memory store has no file to read metadata from; ask the coordinator that opened it.")
    }

    @Test("Contexts on several threads take turns")
    func sideBySide() async throws {
        let store = try Self.makeStore()
        try store.fill(items: 50)
        let container = store.container
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let context = container.newBackgroundContext()
                    return try await context.perform {
                        Item(context: context).name = "New \(number)"
                        try context.save()
                        return try context.fetch(FetchRequest<Item>()).count { $0.name.hasPrefix("Item") }
                    }
                }
            }
            for try await count in group { #expect(count == 50) }
        }
        #expect(try store.context.count(for: FetchRequest<Item>()) == 58)
    }
}
