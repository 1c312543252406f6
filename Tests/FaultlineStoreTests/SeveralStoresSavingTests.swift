import CSQLite
import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("One save writes every store whose objects have changed")
struct SeveralStoresSavingTests {
    @Test("New objects go to their assigned store, or else to the first store")
    func insertion() throws {
        let several = try SeveralStores()
        try several.add("B", to: 1)
        try several.add("A", to: 0)
        let free = Item(context: several.context)
        free.name = "Free"
        #expect(free.objectID.persistentStore == nil)
        try several.context.save()
        #expect(try several.names(0) == ["A", "Free"])
        #expect(try several.names(1) == ["B"])
        #expect(free.objectID.persistentStore == several.stores[0])
        #expect(free.objectID.persistentStore?.url == several.url(0))
    }

    @Test("Rows with the same key in different stores are different objects in every context")
    func identities() throws {
        let several = try SeveralStores([.sqlite, .inMemory, .binary])
        let made = try (0..<3).map { try several.add("Item \($0)", to: $0) }
        try several.context.save()
        #expect(Set(made.map { $0.objectID.uriRepresentation().lastPathComponent }) == ["p1"])
        #expect(Set(made.map(\.objectID)).count == 3)
        let other = several.container.newBackgroundContext()
        var held: [Item] = []
        for (number, item) in made.enumerated() {
            let url = item.objectID.uriRepresentation()
            let id = try #require(several.coordinator.managedObjectID(forURIRepresentation: url))
            #expect(id == item.objectID && id.persistentStore == several.stores[number])
            let found = try #require(try other.existingObject(with: id) as? Item)
            #expect(found.name == "Item \(number)")
            held.append(found)
            #expect(other.registeredObject(for: id) === found)
        }
        #expect(Set(other.registeredObjects) == Set(held) && held.count == 3)
    }

    @Test("Changes and deletions reach each object's store and the caches of other contexts")
    func changes() throws {
        let several = try SeveralStores()
        let (a, b) = (try several.add("A", to: 0), try several.add("B", to: 1))
        try several.add("Gone", to: 1)
        try several.context.save()
        let other = several.container.newBackgroundContext()
        let request = FetchRequest<Item>(sortDescriptors: [.ascending("name")])
        let theirs = try other.fetch(request)
        #expect(theirs.map(\.name) == ["A", "B", "Gone"])
        other.delete(theirs[2])
        theirs[0].name = "A2"
        theirs[1].name = "B2"
        try other.save()
        #expect(try several.names(0) == ["A2"])
        #expect(try several.names(1) == ["B2"])
        several.context.refreshAllObjects()
        #expect(a.name == "A2" && b.name == "B2")
    }

    @Test("A failure in one store leaves all stores and the context as they were")
    func failure() throws {
        let several = try SeveralStores()
        let b = try several.add("B", to: 1)
        try several.context.save()
        try SQLShell.run("UPDATE ZITEM SET Z_OPT = Z_OPT + 1", several.url(1))
        let new = try several.add("New", to: 0)
        b.name = "Changed"
        #expect(performing { try several.context.save() }.hasPrefix("Saving Item "))
        #expect(try several.names(0).isEmpty)
        #expect(new.objectID.isTemporaryID && several.context.hasChanges)
        // The conflict belongs to its own store.
        several.context.mergePolicy = .mergeByPropertyObjectTrump
        try several.context.save()
        #expect(try several.names(0) == ["New"])
        #expect(try several.names(1) == ["Changed"])
    }

    @Test("Validation comes before anything is written to any store")
    func validation() throws {
        let several = try SeveralStores()
        try several.add("A", to: 0)
        let nameless = Item(context: several.context)
        try several.context.assign(nameless, to: several.stores[1])
        #expect(performing { try several.context.save() }.contains("'name' has no value"))
        #expect(try several.names(0).isEmpty)
    }

    @Test("After one store's commit fails, the error lists the saved stores, and the rest can be saved later")
    func partialCommit() throws {
        let several = try SeveralStores()
        let (a, b) = (try several.add("A", to: 0), try several.add("B", to: 1))
        try several.context.save()
        (a.name, b.name) = ("A2", "B2")
        // A hook that turns every commit into a rollback (https://www.sqlite.org/c3ref/commit_hook.html).
        try several.coordinator.withConnection(to: several.stores[1]) { _ = sqlite3_commit_hook($0, { _ in 1 }, nil) }
        var failure: StoreError?
        do { try several.context.save() } catch { failure = error as? StoreError }
        let error = try #require(failure)
        #expect(error.savedStores == [several.stores[0]])
        #expect(
            error.message.hasPrefix(
                "The changes to '\(several.url(0).path)' were saved, but the others were not: Saving in '\(several.url(1).path)' failed"
            ))
        #expect(try several.names(0) == ["A2"])
        #expect(try several.names(1) == ["B"])
        #expect(several.context.updatedObjects == [b] && !a.hasChanges)
        try several.coordinator.withConnection(to: several.stores[1]) { _ = sqlite3_commit_hook($0, nil, nil) }
        try several.context.save()
        #expect(try several.names(1) == ["B2"])
    }

    @Test("A binary store whose file cannot be written keeps the other stores from being saved")
    func binary() throws {
        let several = try SeveralStores([.sqlite, .binary])
        let (a, b) = (try several.add("A", to: 0), try several.add("B", to: 1))
        try several.context.save()
        (a.name, b.name) = ("A2", "B2")
        let away = several.folder.appendingPathComponent("away")
        try FileManager.default.moveItem(at: several.url(1), to: away)
        try FileManager.default.createDirectory(at: several.url(1), withIntermediateDirectories: true)
        #expect(performing { try several.context.save() }.hasPrefix("Saving in '\(several.url(1).path)' is refused"))
        #expect(try several.names(0) == ["A"])
        try FileManager.default.removeItem(at: several.url(1))
        try FileManager.default.moveItem(at: away, to: several.url(1))
        try several.context.save()
        #expect(try several.names(0) == ["A2"])
        #expect(try several.names(1) == ["B2"])
    }

    @Test("A relationship to an object in another store is refused")
    func relationships() throws {
        let several = try SeveralStores()
        let item = try several.add("A", to: 0)
        let category = FaultlineStoreTests.Category(context: several.context)
        category.name = "Food"
        try several.context.assign(category, to: several.stores[1])
        item.category = category
        let tag = Tag(context: several.context)
        #expect(
            performing { try several.context.save() }
                == "Saving Item \(item.objectID): 'category' refers to a Category in the store '\(several.url(1).path)', but the object is in '\(several.url(0).path)'; assign both to one store, or use a fetched property."
        )
        #expect(try several.names(0).isEmpty)
        try several.context.assign(category, to: several.stores[0])
        try several.context.assign(tag, to: several.stores[1])
        item.tags.add(tag)
        let message = performing { try several.context.save() }
        #expect(message.contains(" refers to a ") && message.contains("'\(several.url(1).path)'"))
        try several.context.assign(tag, to: several.stores[0])
        try several.context.save()
        let read = try several.container.newBackgroundContext().fetch(FetchRequest<Item>())[0]
        #expect(read.category?.name == "Food" && read.tags.count == 1)
    }

    @Test("An object with a permanent ID stays in its store")
    func assignment() throws {
        let several = try SeveralStores([.sqlite, .sqlite, .sqlite]) { number, description in
            if number == 2 { description.isReadOnly = false }
        }
        let item = try several.add("A", to: 0)
        try several.context.save()
        #expect(
            performing { try several.context.assign(item, to: several.stores[1]) }
                == "Assigning Item \(item.objectID) to the store '\(several.url(1).path)' is refused because it belongs to '\(several.url(0).path)' already; make a new object there and delete this one."
        )
        // Assigning it to its own store again is allowed.
        try several.context.assign(item, to: several.stores[0])
        let early = try several.add("B", to: 1)
        try several.context.obtainPermanentIDs(for: [early])
        #expect(early.objectID.persistentStore == several.stores[1])
        #expect(throws: StoreError.self) { try several.context.assign(early, to: several.stores[0]) }
        let foreign = try SeveralStores()
        #expect(
            performing { try several.context.assign(several.add("C", to: 0), to: foreign.stores[0]) }.hasSuffix(
                "is refused because the coordinator does not have the store; add it first."))
    }

    @Test("Typed and named access, undo and rollback work in every store")
    func undo() throws {
        let several = try SeveralStores()
        several.context.undoManager = UndoManager()
        let (a, b) = (try several.add("A", to: 0), try several.add("B", to: 1))
        try several.context.save()
        several.context.undoManager?.removeAllActions()
        several.context.undoManager?.beginUndoGrouping()
        (a.name, b.name) = ("A2", "B2")
        b.setValue(7, forKey: "amount")
        several.context.undoManager?.endUndoGrouping()
        #expect(b.amount == 7)
        several.context.undoManager?.undo()
        #expect(a.name == "A" && b.name == "B" && b.amount == 1)
        several.context.delete(b)
        several.context.rollback()
        #expect(b.name == "B" && !several.context.hasChanges)
    }

    @Test("Other contexts merge the saves of each store")
    func merging() throws {
        let several = try SeveralStores()
        let (a, b) = (try several.add("A", to: 0), try several.add("B", to: 1))
        try several.context.save()
        let list = several.container.newBackgroundContext()
        let request = FetchRequest<Item>(sortDescriptors: [.ascending("name")])
        let items = try list.fetch(request)
        #expect(items.map(\.name) == ["A", "B"])
        list.automaticallyMergesChangesFromParent = true
        (a.name, b.name) = ("A2", "B2")
        try several.context.save()
        list.performAndWait { #expect(items.map(\.name) == ["A2", "B2"]) }
    }

    @Test("A save of two stores is one event with the trips of both")
    func events() throws {
        let several = try SeveralStores(isRecording: true)
        try several.add("A", to: 0)
        try several.add("B", to: 1)
        try several.context.save()
        let saves = several.events.compactMap { event -> TraceEvent.Save? in
            guard case .save(let save) = event.detail else { return nil }
            return save
        }
        #expect(saves.count == 1)
        #expect(saves.first?.inserted == 2)
        #expect(saves.first?.entities.map(\.inserted) == [2])
        let statements = several.events.filter { event in
            guard case .sql = event.detail else { return false }
            return event.start >= several.events.first { if case .save = $0.detail { true } else { false } }!.start
        }
        #expect(Int(saves.first?.trips ?? 0) == statements.count)
    }

    @Test("Batch requests change all stores or none")
    func batches() throws {
        let several = try SeveralStores()
        for number in 0..<2 { for name in ["x", "y"] { try several.add("\(name)\(number)", to: number) } }
        try several.context.save()
        let x = FetchRequest<Item>(predicate: FetchPredicate.comparison(.keyPath("name"), .beginsWith, .value("x")))
        let updated = try several.context.execute(
            BatchUpdateRequest(fetchRequest: x, propertiesToUpdate: ["amount": .value(9)]))
        #expect(updated.count == 2 && Set(updated.objectIDs.map(\.persistentStore)).count == 2)
        #expect(try SQLShell.run("SELECT ZNAME FROM ZITEM WHERE ZAMOUNT = 9", several.url(1)) == ["x1"])
        var one = FetchRequest<Item>()
        one.affectedStores = [several.stores[1]]
        #expect(try several.context.execute(BatchDeleteRequest(fetchRequest: one)).count == 2)
        #expect(try several.names(0) == ["x0", "y0"])
        #expect(try several.names(1).isEmpty)
        var insertion = BatchInsertRequest(entityName: "Item", objects: [["name": .string("new")]])
        insertion.affectedStores = [several.stores[1]]
        try several.context.execute(insertion)
        try several.context.execute(BatchInsertRequest(entityName: "Item", objects: [["name": .string("z")]]))
        #expect(try several.names(0) == ["x0", "y0", "z"])
        #expect(try several.names(1) == ["new"])
        // All stores or none.
        try SQLShell.run(
            "CREATE TRIGGER no BEFORE DELETE ON ZITEM BEGIN SELECT RAISE(ABORT, 'no'); END", several.url(1))
        #expect(throws: StoreError.self) {
            try several.context.execute(BatchDeleteRequest(fetchRequest: FetchRequest<Item>()))
        }
        #expect(try several.names(0) == ["x0", "y0", "z"])
        #expect(
            performing {
                try several.context.execute(BatchDeleteRequest(fetchRequest: FetchRequest<Item>(fetchLimit: 1)))
            }
                == "Deleting Item: fetchLimit and fetchOffset cannot be applied across several stores; set affectedStores to one store, or remove them."
        )
    }

    @Test("A read-only store next to a writable one keeps its objects, and new ones go to the other")
    func readOnly() throws {
        let seed = try SeveralStores([.sqlite])
        try seed.add("Seed", to: 0)
        try seed.context.save()
        let url = seed.url(0)
        let several = try SeveralStores([.sqlite, .sqlite]) { number, description in
            guard number == 0 else { return }
            description.url = url
            description.isReadOnly = true
        }
        let new = Item(context: several.context)
        new.name = "New"
        try several.context.save()
        #expect(try several.names(1) == ["New"])
        let items = try several.context.fetch(FetchRequest<Item>(sortDescriptors: [.descending("name")]))
        #expect(items.map(\.name) == ["Seed", "New"])
        items[0].name = "Changed"
        items[1].name = "Changed"
        #expect(
            performing { try several.context.save() }
                == "Saving in '\(url.path)' is refused because the store was opened read-only; open it without isReadOnly, or assign new objects to another store."
        )
        #expect(try several.names(1) == ["New"])
        #expect(
            performing { try several.context.assign(Item(context: several.context), to: several.stores[0]) }.hasSuffix(
                "is refused because it was opened read-only; open it with isReadOnly unset, or name another store."))
        withExtendedLifetime(seed) {}
    }
}
