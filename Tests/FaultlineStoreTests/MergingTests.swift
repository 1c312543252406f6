import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation
import Synchronization
import Testing

@Suite("A context merges what another one saved")
struct MergingTests {
    /// Returns the saves that a context makes while a closure runs.
    private func saves(of context: ManagedObjectContext, _ body: () throws -> Void) rethrows -> [SavedObjectIDs] {
        let saved = Mutex<[SavedObjectIDs]>([])
        let token = NotificationCenter.default.addObserver(
            forName: ManagedObjectContext.didSaveObjectIDsNotification, object: context, queue: nil
        ) { notification in
            if let ids = SavedObjectIDs(notification) { saved.withLock { $0.append(ids) } }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try body()
        return saved.withLock { $0 }
    }

    private func items(_ context: ManagedObjectContext) throws -> [Item] {
        Array(try context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")])))
    }

    @Test(
        "A merge applies values, relationships and deletions, and keeps unsaved changes"
    )
    func merge() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 4, categories: 2)
        let (here, other) = (store.context, store.container.newBackgroundContext())
        let mine = try items(here)
        let categories = Array(try here.fetch(FetchRequest<FaultlineStoreTests.Category>()))
        #expect(mine.map(\.amount) == [1, 1, 1, 1])
        #expect(categories.map { $0.items.count } == [2, 2])
        mine[1].price = 99

        let theirs = try items(other)
        let saved = try saves(of: other) {
            theirs[0].amount = 7
            theirs[1].amount = 8
            theirs[2].category = theirs[1].category
            other.delete(theirs[3])
            try other.save()
        }
        #expect(mine[0].amount == 1, "nothing is told yet")
        let line = #line + 1
        here.mergeChanges(fromContextDidSave: saved[0])
        let reads = store.statements().count
        #expect(mine[0].amount == 7)
        #expect(mine[1].amount == 8)
        #expect(mine[1].price == 99)
        #expect(mine[2].category === categories[1])
        #expect(store.statements().count == reads, "the row cache has the values")
        #expect(mine[3].managedObjectContext.registeredObject(for: mine[3].objectID) == nil)
        #expect(Set(categories[0].items) == [mine[0]])
        #expect(Set(categories[1].items) == [mine[1], mine[2]])
        #expect(here.updatedObjects == [mine[1]])
        try here.save()
        #expect(
            try store.sql("SELECT ZNAME, ZAMOUNT, ZPRICE, ZCATEGORY, Z_OPT FROM ZITEM ORDER BY ZNAME") == [
                "Item 0|7|0.0|1|2", "Item 1|8|99.0|2|3", "Item 2|1|2.0|2|2",
            ])

        let event = try #require(store.events.last { $0.kind == .merge })
        guard case .merge(let detail) = event.detail else {
            Issue.record("The event is no merge.")
            return
        }
        let dictionary = store.dictionary
        #expect(detail.trigger == .call)
        #expect(dictionary.context(detail.saver)?.name == other.name)
        #expect(dictionary.context(event.context)?.name == here.name)
        #expect([detail.inserted, detail.updated, detail.deleted, detail.conflicts] == [0, 5, 1, 1])
        #expect(detail.refreshed == 6)
        #expect(dictionary.site(event.site)?.line == line)
        #expect(
            detail.entities.map {
                "\(dictionary.entity($0.entity)?.name ?? "") \($0.inserted) \($0.updated) \($0.deleted)"
            } == ["Category 0 2 0", "Item 0 3 1"])
    }

    @Test("A value set to what it already was does not override the other context's value")
    func unchangedValue() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let (here, other) = (store.context, store.container.newBackgroundContext())
        let mine = try items(here)[0]
        mine.name = "Item 0"
        let saved = try saves(of: other) {
            try items(other)[0].name = "Renamed"
            try other.save()
        }
        here.mergeChanges(fromContextDidSave: saved[0])
        #expect(mine.name == "Renamed")
    }

    @Test("Relationships to an object that the other context deleted become nil and can be saved")
    func deletedDestination() throws {
        let store = try TestStore()
        try store.fill(items: 1, categories: 2)
        let (here, other) = (store.context, store.container.newBackgroundContext())
        let categories = Array(
            try here.fetch(FetchRequest<FaultlineStoreTests.Category>(sortDescriptors: [.ascending("name")])))
        let mine = try items(here)[0]
        mine.category = categories[1]
        let new = Item(context: here)
        new.name = "New"
        new.category = categories[1]
        let saved = try saves(of: other) {
            other.delete(try other.existingObject(with: categories[1].objectID))
            try other.save()
        }
        here.mergeChanges(fromContextDidSave: saved[0])
        #expect(mine.category == nil)
        #expect(new.category == nil)
        try here.save()
        #expect(try store.sql("SELECT ZNAME, ZCATEGORY FROM ZITEM ORDER BY Z_PK") == ["Item 0|NULL", "New|NULL"])
    }

    @Test("Automatic merging reaches private queues and a main queue without a run loop")
    func automatic() async throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 1)
        let (background, saver) = (store.context, store.container.newBackgroundContext())
        let main = store.container.viewContext
        #expect(!main.automaticallyMergesChangesFromParent)
        for context in [background, main] { context.automaticallyMergesChangesFromParent = true }
        let id = try saver.fetchObjectIDs(FetchRequest<Item>())[0]
        #expect(try background.performAndWait { try background.existingObject(with: id)["amount"] as? Int64 } == 1)
        let held = await MainActor.run {
            main.performAndWait {
                let item = main.object(with: id)
                #expect(item["amount"] as? Int64 == 1)
                return Unmanaged.passRetained(item).toOpaque().hashValue
            }
        }
        #expect(held != 0)
        try saver.performAndWait {
            try saver.existingObject(with: id)["amount"] = 9
            try saver.save()
        }
        #expect(background.performAndWait { background.object(with: id)["amount"] as? Int64 } == 9)
        let shown = await MainActor.run { main.performAndWait { main.object(with: id)["amount"] as? Int64 } }
        #expect(shown == 9)
        let merges = store.events.filter { $0.kind == .merge }.compactMap { event -> TraceEvent.Merge? in
            guard case .merge(let merge) = event.detail else { return nil }
            return merge
        }
        #expect(merges.map(\.trigger) == [.automatic, .automatic])
        main.automaticallyMergesChangesFromParent = false
        #expect(!main.automaticallyMergesChangesFromParent)
    }

    @Test("Every save reaches every context that merges automatically, under concurrency")
    func storm() async throws {
        let store = try TestStore()
        try store.fill(items: 8)
        let ids = try store.context.fetchObjectIDs(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        let contexts = (0..<4).map { _ in store.container.newBackgroundContext() }
        for context in contexts {
            context.automaticallyMergesChangesFromParent = true
            context.mergePolicy = .mergeByPropertyObjectTrump
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, context) in contexts.enumerated() {
                group.addTask {
                    for round in 0..<25 {
                        try await context.perform {
                            let items = try ids.map { try context.existingObject(with: $0) }
                            items[number * 2]["amount"] = round
                            items[(number * 2 + 3) % 8]["price"] = Double(round)
                            try context.save()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let stored = try store.sql("SELECT ZAMOUNT, ZPRICE FROM ZITEM ORDER BY ZNAME")
        for context in contexts {
            let seen = try context.performAndWait {
                try ids.map { id in
                    let item = try context.existingObject(with: id)
                    return "\(item["amount"] as? Int64 ?? 0)|\(item["price"] as? Double ?? 0)"
                }
            }
            #expect(seen == stored)
        }
    }

    @Test("Saves of another process, given as object IDs or URIs, are read again")
    func remote() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 3)
        let mine = try items(store.context)
        #expect(mine.map(\.amount) == [1, 1, 1])
        try store.sql("UPDATE ZITEM SET ZAMOUNT = 5, Z_OPT = 2 WHERE ZNAME = 'Item 0'")
        try store.sql("UPDATE ZITEM SET ZAMOUNT = 6, Z_OPT = 2 WHERE ZNAME = 'Item 1'")
        try store.sql("DELETE FROM ZITEM WHERE ZNAME = 'Item 2'")
        let foreign = try TestStore()
        try foreign.fill(items: 1)
        let stranger = try foreign.context.fetchObjectIDs(FetchRequest<Item>())[0]
        ManagedObjectContext.mergeChanges(
            fromRemoteContextSave: [
                "updated": [mine[0].objectID, stranger], "updated_objectIDs": Set([mine[1].objectID]),
                "deleted": [mine[2].objectID.uriRepresentation(), stranger.uriRepresentation()], "inserted": 7,
            ], into: [store.context])
        #expect(mine[0].amount == 5)
        #expect(mine[1].amount == 6)
        #expect(store.context.registeredObject(for: mine[2].objectID) == nil)
        guard case .merge(let merge) = try #require(store.events.last { $0.kind == .merge }).detail else {
            Issue.record("The event is no merge.")
            return
        }
        #expect(merge.trigger == .remote)
        #expect([merge.inserted, merge.updated, merge.deleted, merge.refreshed] == [0, 2, 1, 3])
    }

    @Test("Each refresh is recorded as one event, whatever the number of objects")
    func refresh() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 3)
        let mine = try items(store.context)
        mine[0].amount = 3
        store.context.refresh(mine[0], mergeChanges: true)
        store.context.refreshAllObjects()
        store.context.refresh(mine[0], mergeChanges: false)
        let dictionary = store.dictionary
        let refreshes = store.events.compactMap { event -> String? in
            guard case .refresh(let refresh) = event.detail else { return nil }
            let name = dictionary.entity(refresh.entity)?.name ?? "-"
            return "\(name) \(refresh.objects) \(refresh.changed) \(refresh.keepsChanges)"
        }
        #expect(refreshes == ["Item 1 1 true", "- 3 1 true", "Item 1 1 false"])
    }
}
