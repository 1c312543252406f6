import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Stores can be added and removed while contexts are in use")
struct StoreRemovalTests {
    @Test("Existing contexts use a store that is added later")
    func adding() throws {
        let several = try SeveralStores([.sqlite])
        try several.add("A", to: 0)
        try several.context.save()
        let other = try SeveralStores([.sqlite])
        try other.add("B", to: 0)
        try other.context.save()
        let url = other.url(0)
        #expect(several.coordinator.persistentStore(for: url) == nil)
        let added = try several.coordinator.addPersistentStore(with: PersistentStoreDescription(url: url))
        #expect(several.stores.count == 2 && several.stores[1] == added)
        #expect(several.coordinator.persistentStore(for: url) == added)
        let request = FetchRequest<Item>(sortDescriptors: [.ascending("name")])
        #expect(try several.context.fetch(request).map(\.name) == ["A", "B"])
        #expect(
            performing { try several.coordinator.addPersistentStore(with: PersistentStoreDescription(url: url)) }
                == "'\(url.path)' is already open; use the store that persistentStore(for:) returns for it.")
        withExtendedLifetime(other) {}
    }

    @Test("A fetch without any store throws an error, and a save does nothing")
    func empty() throws {
        let coordinator = try PersistentStoreCoordinator(
            managedObjectModel: ManagedObjectModel(entities: Groceries.entities()), classes: Groceries.classes)
        let several = try SeveralStores([.inMemory])
        #expect(coordinator.persistentStores.isEmpty)
        try several.coordinator.remove(several.stores[0])
        #expect(
            performing { _ = try several.context.fetch(FetchRequest<Item>()) }
                == "Fetching Item: the coordinator has no store; add one first.")
        #expect(
            performing { _ = try several.context.execute(BatchDeleteRequest(fetchRequest: FetchRequest<Item>())) }
                == "Deleting Item: the coordinator has no store; add one first.")
        try several.context.save()
    }

    @Test("Contexts forget the objects of a removed store, and held objects read as their defaults")
    func removing() throws {
        let several = try SeveralStores()
        let (a, b) = (try several.add("A", to: 0), try several.add("B", to: 1))
        try several.context.save()
        let unsaved = try several.add("Unsaved", to: 1)
        b.name = "Changed"
        a.name = "A2"
        let id = b.objectID
        let removed = several.stores[1]
        try several.coordinator.remove(removed)
        #expect(several.stores.count == 1)
        let items = try several.context.fetch(FetchRequest<Item>())
        #expect(items.map(\.name) == ["A2"])
        #expect(b.name == "" && b.price == nil && b.category == nil && b.tags.count == 0 && !b.hasChanges)
        #expect(unsaved.name == "" && b.objectID == id && b.entityName == "Item")
        #expect(several.context.registeredObject(for: id) == nil)
        #expect(several.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == nil)
        try several.context.save()
        #expect(try several.names(0) == ["A2"])
        #expect(try several.names(1) == ["B"])
        #expect(
            performing { try several.coordinator.remove(removed) }
                == "'\(several.url(1).path)' cannot be removed because the coordinator does not have it; remove a store once, from the coordinator that opened it."
        )
    }

    @Test("Reading an object of a store removed in the meantime is an error, not a crash")
    func unnoticed() throws {
        let several = try SeveralStores()
        for number in 0..<2 { try several.add("\(number)", to: number) }
        try several.context.save()
        let context = several.container.newBackgroundContext()
        let ids = try context.fetchObjectIDs(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        let faults = ids.map { context.object(with: $0) as! Item }
        several.coordinator.removeUnusedRows()
        several.context.reset()
        several.coordinator.removeUnusedRows()
        try several.coordinator.remove(several.stores[1])
        #expect(faults[1].name == "" && faults[1].isInaccessible)
        #expect(faults[0].name == "0")
        #expect(
            performing { try context.save() }
                == "The store '\(several.url(1).path)' was removed from its coordinator, so it can no longer be read or saved to; add it again, and fetch its objects again."
        )
        #expect(try context.fetch(FetchRequest<Item>()).map(\.name) == ["0"])
        #expect(context.registeredObjects == [faults[0]])
    }

    @Test("Removing a store closes its file, and adding it again makes new objects")
    func again() throws {
        let several = try SeveralStores()
        let item = try several.add("B", to: 1)
        try several.context.save()
        let old = several.stores[1]
        try several.coordinator.remove(old)
        // The last connection to a database deletes its write-ahead log (https://www.sqlite.org/wal.html).
        #expect(!FileManager.default.fileExists(atPath: several.url(1).path + "-wal"))
        let new = try several.coordinator.addPersistentStore(with: PersistentStoreDescription(url: several.url(1)))
        #expect(new != old && new.identifier == old.identifier)
        let found = try several.context.fetch(FetchRequest<Item>())[0]
        #expect(found.name == "B" && found !== item && found.objectID != item.objectID)
        #expect(found.objectID.uriRepresentation() == item.objectID.uriRepresentation())
        #expect(
            performing { _ = try several.container.newBackgroundContext().existingObject(with: item.objectID) }
                .hasSuffix("belongs to a store that the context's coordinator does not have; add the store first."))
    }

    @Test("Removing a store while other threads read it causes errors in them, but never a crash")
    func sideBySide() async throws {
        for _ in 0..<5 {
            let several = try SeveralStores()
            for number in 0..<40 { try several.add("\(number)", to: number % 2) }
            try several.context.save()
            let (container, coordinator, store) = (several.container, several.coordinator, several.stores[1])
            await withTaskGroup(of: Void.self) { group in
                for reader in 0..<4 {
                    group.addTask {
                        let context = container.newBackgroundContext()
                        for _ in 0..<30 {
                            try? await context.perform {
                                let items = try? context.fetch(FetchRequest<Item>(fetchBatchSize: 5))
                                for item in items.map({ Array($0) }) ?? [] { _ = (item.name, item.tags.count) }
                                if reader == 0 {
                                    Item(context: context).name = "New"
                                    // The first save may throw the error of an earlier failed read.
                                    do { try context.save() } catch { try context.save() }
                                }
                            }
                        }
                    }
                }
                group.addTask { try? coordinator.remove(store) }
            }
            #expect(coordinator.persistentStores.count == 1)
            let names = try several.context.fetch(FetchRequest<Item>()).map(\.name)
            #expect(names.filter { $0 != "New" }.count == 20 && names.filter { $0 == "New" }.count == 30)
        }
    }
}
