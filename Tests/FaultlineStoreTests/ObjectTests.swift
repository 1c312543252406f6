import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("Objects represent rows")
struct ObjectTests {
    @Test("Another context reads the saved values")
    func saveAndFetch() throws {
        let store = try TestStore()
        let item = Item(context: store.context)
        item.name = "Milk"
        item.price = 1.25
        #expect(item.objectID.isTemporaryID)
        #expect(store.context.hasChanges)
        try store.context.save()
        #expect(!item.objectID.isTemporaryID)
        #expect(!store.context.hasChanges)
        #expect(item.objectID.uriRepresentation().absoluteString.hasSuffix("/Item/p1"))

        let other = store.container.newBackgroundContext()
        let found = try other.fetch(FetchRequest<Item>())
        #expect(found.count == 1)
        #expect(found[0].isFault)
        #expect(found[0].name == "Milk")
        #expect(!found[0].isFault)
        #expect(found[0].price == 1.25)
        #expect(found[0].amount == 1)
        #expect(
            try store.sql("SELECT Z_PK, Z_ENT, Z_OPT, ZAMOUNT, ZCATEGORY, ZPRICE, ZNAME FROM ZITEM") == [
                "1|2|1|1|NULL|1.25|Milk"
            ])
        #expect(
            try store.sql("SELECT * FROM Z_PRIMARYKEY") == [
                "1|Category|0|0", "2|Item|0|1", "3|Section|0|0", "4|Tag|0|0",
            ])
    }

    @Test("A context has one object per row, however it is reached")
    func uniquing() throws {
        let store = try TestStore()
        try store.fill(items: 2)
        let items = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        let again = try store.context.fetch(FetchRequest<Item>(predicate: PropertyPath("name") == "Item 1"))
        #expect(items[1] === again[0])
        let category = try #require(items[0].category)
        #expect(category === items[1].category)
        #expect(Array(category.items).contains { $0 === items[0] })
        #expect(store.context.object(with: items[0].objectID) === items[0])
    }

    @Test("Objects without references are released, and created again on demand")
    func release() throws {
        let store = try TestStore()
        try store.fill(items: 3)
        do {
            let items = try store.context.fetch(FetchRequest<Item>())
            #expect(items.map(\.name).count == 3)
            #expect(store.context.registeredObjects.count == 3)
        }
        #expect(store.context.registeredObjects.isEmpty)
        let id = try store.context.fetchObjectIDs(FetchRequest<Item>())[0]
        #expect(try store.context.existingObject(with: id).objectID == id)
    }

    @Test("Values can be read and set by name")
    func keyValue() throws {
        let store = try TestStore()
        let item = store.context.insertNewObject(forEntityName: "Item")
        item.setValue("Bread", forKey: "name")
        item["amount"] = 3
        let category = store.context.insertNewObject(forEntityName: "Category")
        item.setValue(category, forKey: "category")
        #expect(item.value(forKey: "name") as? String == "Bread")
        #expect(item["amount"] as? Int64 == 3)
        #expect(item.value(forKey: "category") as? Category === category)
        #expect(item["price"] == nil)
        #expect((category.value(forKey: "items") as? ToMany<ManagedObject>)?.count == 1)
        try store.context.save()
        #expect(try store.sql("SELECT ZNAME, ZAMOUNT, ZCATEGORY FROM ZITEM") == ["Bread|3|1"])
    }

    @Test("An update writes only changed columns and increments the version")
    func update() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 1)
        let item = try store.context.fetch(FetchRequest<Item>())[0]
        item.amount = 5
        item.name = "Item 0"
        try store.context.save()
        #expect(try store.sql("SELECT Z_OPT, ZAMOUNT FROM ZITEM") == ["2|5"])
        #expect(
            store.statements(ofType: .write).last
                == "UPDATE OR FAIL ZITEM SET ZAMOUNT = ?, Z_OPT = ? WHERE Z_PK=? AND Z_OPT=?")
        let reads = store.statements().count
        let other = store.container.newBackgroundContext()
        #expect(try other.existingObject(with: item.objectID).value(forKey: "amount") as? Int64 == 5)
        #expect(store.statements().count == reads, "the row cache has the saved row")
    }

    @Test("A save without changes runs no statement")
    func emptySave() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 1)
        let before = store.recorder.messages().count
        try store.context.save()
        let item = Item(context: store.context)
        store.context.delete(item)
        #expect(!store.context.hasChanges)
        try store.context.save()
        #expect(store.recorder.messages().count == before)
    }

    @Test("Refreshing turns an object into a fault, with or without its unsaved changes")
    func refresh() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let item = try store.context.fetch(FetchRequest<Item>())[0]
        item.amount = 7
        _ = try store.sql("UPDATE ZITEM SET ZNAME = 'Other'")
        store.context.refresh(item, mergeChanges: true)
        #expect(item.isFault)
        #expect(item.amount == 7)
        store.context.refresh(item, mergeChanges: false)
        #expect(item.amount == 1)
        #expect(!store.context.hasChanges)
    }

    @Test("A rollback restores values, relationships, insertions and deletions")
    func rollback() throws {
        let store = try TestStore()
        try store.fill(items: 2)
        let items = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        let category = try #require(items[0].category)
        #expect(category.items.count == 2)
        items[0].name = "Changed"
        items[0].category = nil
        store.context.delete(items[1])
        let new = Item(context: store.context)
        new.category = category
        #expect(Array(category.items) == [new])
        store.context.rollback()
        #expect(!store.context.hasChanges)
        #expect(items[0].name == "Item 0")
        #expect(items[0].category === category)
        #expect(Array(category.items) == Array(items))
        #expect(!items[1].isDeleted)
    }

    @Test("After a reset, objects that are still held read as their defaults")
    func reset() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let item = try store.context.fetch(FetchRequest<Item>())[0]
        #expect(item.name == "Item 0")
        store.context.reset()
        #expect(item.name == "")
        #expect(item.amount == 1)
        #expect(item.category == nil)
        let again = try store.context.fetch(FetchRequest<Item>())[0]
        #expect(again !== item)
        #expect(again.name == "Item 0")
    }

    @Test("An object whose row is gone reads as its defaults, and the next fetch or save throws")
    func goneRow() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let id = try store.context.fetchObjectIDs(FetchRequest<Item>())[0]
        let other = store.container.newBackgroundContext()
        other.delete(try other.existingObject(with: id))
        try other.save()
        let item = try #require(store.context.object(with: id) as? Item)
        #expect(item.name == "")
        #expect(item.amount == 1)
        #expect(item.isInaccessible)
        let message =
            "Item \(id) is no longer in the store, because this context or another writer deleted it; release the object."
        #expect(performing { try item.fulfill() } == message)
        #expect(performing { _ = try store.context.fetch(FetchRequest<Item>()) } == message)
        #expect(try store.context.fetch(FetchRequest<Item>()).isEmpty)
    }

    @Test("perform returns the result of its work, whose unsaved objects are discarded with its context")
    func perform() async throws {
        let store = try TestStore()
        try store.fill(items: 4)
        let context = store.context
        let names = try await context.perform {
            try context.fetch(FetchRequest<Item>(sortDescriptors: [.descending("name")])).map(\.name)
        }
        #expect(names == ["Item 3", "Item 2", "Item 1", "Item 0"])
        let count = try await store.container.performBackgroundTask { context in
            _ = Item(context: context)
            return try context.count(for: FetchRequest<Item>())
        }
        #expect(count == 5)
        #expect(try store.context.count(for: FetchRequest<Item>()) == 4)
        #expect(
            try context.performAndWait { try context.performAndWait { try context.count(for: FetchRequest<Tag>()) } }
                == 0)
    }

    @Test("The error for an object that this context has deleted does not blame another writer")
    func deletedHere() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let item = try store.context.fetch(FetchRequest<Item>())[0]
        let id = item.objectID
        store.context.delete(item)
        try store.context.save()
        #expect(
            performing { _ = try store.context.existingObject(with: id) }
                == "Item \(id) is no longer in the store, because this context or another writer deleted it; release the object."
        )
    }

    @Test("An object ID survives conversion to a URI")
    func uri() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let id = try store.context.fetchObjectIDs(FetchRequest<Item>())[0]
        let coordinator = store.container.persistentStoreCoordinator
        #expect(coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)
        #expect(coordinator.managedObjectID(forURIRepresentation: URL(string: "x-coredata://other/Item/p1")!) == nil)
    }
}

/// Returns the message of the error that a closure throws.
func performing(_ work: () throws -> Void) -> String {
    do {
        try work()
        return "no error"
    } catch {
        return "\(error)"
    }
}
