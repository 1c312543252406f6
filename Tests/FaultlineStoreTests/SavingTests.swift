import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("A save is atomic")
struct SavingTests {
    @Test("Another writer's change makes a save fail with a conflict, changes nothing, and allows a retry")
    func conflict() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 2)
        let items = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        #expect(items.map(\.amount) == [1, 1])
        let other = store.container.newBackgroundContext()
        try other.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))[1].amount = 5
        try other.save()

        items[0].amount = 7
        items[1].amount = 8
        let new = Item(context: store.context)
        new.name = "New"
        let error = try #require(throws: StoreError.self) { try store.context.save() }
        #expect(error.code == .conflict)
        #expect(error.objectID == items[1].objectID)
        #expect(
            error.message
                == "Saving Item \(items[1].objectID): another writer changed or deleted it since it was read (version 1); refresh it and make the change again."
        )
        #expect(try store.sql("SELECT ZAMOUNT FROM ZITEM ORDER BY Z_PK") == ["1", "5"])
        #expect(new.objectID.isTemporaryID)
        #expect(store.context.insertedObjects == [new])
        #expect(store.context.updatedObjects.count == 2)
        guard case .save(let event) = try #require(store.events.last { $0.kind == .save }).detail else {
            Issue.record("The event is no save.")
            return
        }
        #expect(event.conflicts == 1)
        #expect(event.error != 0)

        store.context.refresh(items[1], mergeChanges: true)
        try store.context.save()
        #expect(try store.sql("SELECT ZAMOUNT, Z_OPT FROM ZITEM ORDER BY Z_PK") == ["7|2", "8|3", "1|1"])
    }

    @Test("Deleting an object that another writer changed is a conflict")
    func deletionConflict() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let item = try store.context.fetch(FetchRequest<Item>())[0]
        #expect(item.name == "Item 0")
        _ = try store.sql("UPDATE ZITEM SET Z_OPT = 9")
        store.context.delete(item)
        #expect(performing { try store.context.save() }.contains("another writer changed or deleted it"))
        #expect(try store.sql("SELECT COUNT(*) FROM ZITEM") == ["1"])
        store.context.rollback()
        #expect(!item.isDeleted)
    }

    @Test("Required values are checked before anything is written")
    func validation() throws {
        let store = try TestStore(
            [
                EntityDescription(
                    "A", attributes: [AttributeDescription("x", .string, isOptional: false)],
                    relationships: [
                        RelationshipDescription("b", to: "B", inverse: "a", isOptional: false),
                        RelationshipDescription("many", to: "B", inverse: "one", isToMany: true, isOptional: false),
                    ]),
                EntityDescription(
                    "B",
                    relationships: [
                        RelationshipDescription("a", to: "A", inverse: "b"),
                        RelationshipDescription("one", to: "A", inverse: "many"),
                    ]),
            ], classes: [])
        let a = store.context.insertNewObject(forEntityName: "A")
        let id = a.objectID
        #expect(
            performing { try store.context.save() }
                == "Saving is refused for 3 reasons, all listed in detailedErrors; the first: Saving A \(id): 'x' has no value and is not optional; set it, or make it optional in the model."
        )
        a["x"] = "set"
        #expect(
            performing { try store.context.save() }
                == "Saving is refused for 2 reasons, all listed in detailedErrors; the first: Saving A \(id): 'b' has no value and is not optional; set it, or make it optional in the model."
        )
        let b = store.context.insertNewObject(forEntityName: "B")
        a["b"] = b
        #expect(
            performing { try store.context.save() }
                == "Saving A \(id): 'many' has no objects and is not optional; add one, or make it optional in the model."
        )
        a["many"] = [b]
        try store.context.save()
        a["x"] = nil
        #expect(performing { try store.context.save() }.contains("'x' has no value"))
        a["x"] = "again"
        b["a"] = nil
        #expect(performing { try store.context.save() }.contains("'b' has no value"))
    }

    @Test("A full disk leaves the store and the context as they were")
    func fullDisk() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let coordinator = store.container.persistentStoreCoordinator
        try coordinator.run("pragma max_page_count=1")
        let item = Item(context: store.context)
        item.name = String(repeating: "x", count: 100_000)
        let error = try #require(throws: StoreError.self) { try store.context.save() }
        #expect(error.code == .full)
        #expect(
            error.message
                == "Saving Item in '\(store.url.path)' failed because the disk is full; free some space and try again.")
        #expect(item.objectID.isTemporaryID)
        #expect(try store.sql("SELECT COUNT(*) FROM ZITEM") == ["1"])
        try coordinator.run("pragma max_page_count=100000")
        try store.context.save()
        #expect(
            try store.sql("SELECT Z_PK, length(ZNAME) FROM ZITEM ORDER BY Z_PK") == ["1|6", "3|100000"],
            "a reserved key is not used again")
    }

    @Test("A save waits for another connection's lock up to the busy timeout")
    func locked() throws {
        let store = try TestStore { $0.busyTimeout = 0 }
        try store.fill(items: 1)
        let item = try store.context.fetch(FetchRequest<Item>())[0]
        item.amount = 2
        let other = try OpenConnection(store.url)
        try other.run("BEGIN IMMEDIATE")
        let error = try #require(throws: StoreError.self) { try store.context.save() }
        #expect(error.code == .busy)
        #expect(
            error.message
                == "Saving in '\(store.url.path)' timed out after 0.0 s because another connection holds the store's lock; let it finish, or raise busyTimeout."
        )
        try other.run("COMMIT")
        try store.context.save()
        #expect(try store.sql("SELECT ZAMOUNT FROM ZITEM") == ["2"])
    }

    @Test("Saving one of n objects costs the same for any n", arguments: [10, 1000])
    func costFollowsChanges(_ count: Int) throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: count)
        let items = try store.context.fetch(FetchRequest<Item>())
        #expect(items.map(\.amount).count == count)
        let before = store.statements(ofType: .write).count
        // The read transaction ends before the save, or after a few idle milliseconds: that is no trip of the save.
        if count > 10 { store.context.performAndWait {} }
        items[count / 2].amount = 99
        try store.context.save()
        #expect(store.statements(ofType: .write).count == before + 1)
        guard case .save(let event) = try #require(store.events.last { $0.kind == .save }).detail else {
            Issue.record("The event is no save.")
            return
        }
        #expect(event.trips == 3)
        #expect(event.updated == 1)
        #expect(event.changedColumns == 1)
    }

    @Test("Two containers on one file get different keys")
    func keys() throws {
        let store = try TestStore()
        let second = try PersistentContainer(
            name: "Second", managedObjectModel: store.container.managedObjectModel, storeURL: store.url,
            classes: Groceries.classes)
        for round in 0..<3 {
            for context in [store.context, second.newBackgroundContext()] {
                Item(context: context).name = "\(round)"
                try context.save()
            }
        }
        #expect(try store.sql("SELECT COUNT(DISTINCT Z_PK) FROM ZITEM") == ["6"])
        #expect(try store.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item'") == ["6"])
    }
}
