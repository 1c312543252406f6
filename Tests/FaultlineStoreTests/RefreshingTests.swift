import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation
import Testing

@Suite("Staleness, object lifetime and permanent IDs")
struct RefreshingTests {
    @Test("The staleness interval limits the age of rows in memory")
    func staleness() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 1)
        let item = try store.context.fetch(FetchRequest<Item>())[0]
        #expect(item.amount == 1)
        // Another process writes, so the rows in memory become stale.
        _ = try store.sql("UPDATE ZITEM SET ZAMOUNT = 5, Z_OPT = 2")
        store.context.refreshAllObjects()
        #expect(item.amount == 1, "a row of any age will do")
        store.context.stalenessInterval = 3600
        store.context.refreshAllObjects()
        #expect(item.amount == 1)
        store.context.stalenessInterval = 0
        #expect(item.amount == 1, "what is no fault stays as it is")
        store.context.refreshAllObjects()
        #expect(item.amount == 5)
        let before = store.statements().count
        store.context.refresh(item, mergeChanges: false)
        #expect(item.amount == 5)
        #expect(store.statements().count == before + 1, "every fault goes to the store")
        item.amount = 6
        try store.context.save()
        #expect(try store.sql("SELECT ZAMOUNT, Z_OPT FROM ZITEM") == ["6|3"])
    }

    @Test("A context keeps its registered objects alive if requested")
    func retaining() throws {
        let store = try TestStore()
        try store.fill(items: 3, categories: 0)
        let context = store.context
        func read() throws { #expect(try context.fetch(FetchRequest<Item>()).map(\.name).count == 3) }
        try read()
        #expect(context.registeredObjects.isEmpty)
        context.retainsRegisteredObjects = true
        try read()
        #expect(context.registeredObjects.count == 3)
        do {
            let new = Item(context: context)
            new.name = "new"
            try context.save()
        }
        #expect(context.registeredObjects.count == 4)
        context.delete(context.registeredObjects[0])
        try context.save()
        #expect(context.registeredObjects.count == 3)
        context.retainsRegisteredObjects = false
        #expect(context.registeredObjects.isEmpty)
        do {
            let held = try context.fetch(FetchRequest<Item>()).map { $0 }
            context.retainsRegisteredObjects = true
            #expect(held.count == 3)
        }
        #expect(context.registeredObjects.count == 3, "those that are here already as well")
        context.reset()
        #expect(context.registeredObjects.isEmpty)
    }

    @Test("New objects can get permanent IDs before they are saved")
    func permanentIDs() throws {
        let store = try TestStore()
        try store.fill(items: 2)
        let context = store.context
        let (first, second, third) = (Item(context: context), Item(context: context), Item(context: context))
        for (item, name) in [(first, "a"), (second, "b"), (third, "c")] { item.name = name }
        let category = Category(context: context)
        second.category = category
        second.tags.add(Tag(context: context))
        try context.obtainPermanentIDs(for: [second, category])
        #expect(second.objectID.uriRepresentation().path == "/Item/p3")
        #expect(first.objectID.isTemporaryID && !category.objectID.isTemporaryID)
        #expect(second.isInserted && context.object(with: second.objectID) === second)
        #expect(try store.sql("SELECT COUNT(*) FROM ZITEM") == ["2"])
        let id = second.objectID
        try context.obtainPermanentIDs(for: [second])
        #expect(second.objectID == id)
        try context.save()
        #expect(second.objectID == id && Array(category.items) == [second] && second.tags.count == 1)
        #expect(
            try store.sql("SELECT Z_PK, ZNAME FROM ZITEM WHERE Z_PK > 2 ORDER BY Z_PK") == ["3|b", "4|a", "5|c"])
        #expect(try store.sql("SELECT ZCATEGORY FROM ZITEM WHERE Z_PK = 3") == ["2"])
        // A rolled-back object leaves its key unused.
        let fourth = Item(context: context)
        try context.obtainPermanentIDs(for: [fourth])
        context.rollback()
        let fifth = Item(context: context)
        fifth.name = "e"
        try context.save()
        #expect(fifth.objectID.uriRepresentation().path == "/Item/p7")
    }

    @Test("Relating objects of different contexts ends the program with a message")
    func otherContext() async throws {
        let toOne = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let store = try TestStore()
            Item(context: store.context).category = Category(context: store.container.newBackgroundContext())
        }
        #expect(
            String(decoding: try #require(toOne).standardErrorContent, as: UTF8.self).contains(
                "'Item.category' was set to an object of another context; fetch it in this one."))
        let toMany = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let (store, other) = (try TestStore(), try TestStore())
            Item(context: store.context).tags.add(Tag(context: other.context))
        }
        #expect(
            String(decoding: try #require(toMany).standardErrorContent, as: UTF8.self).contains(
                "'Item.tags' was set to an object of another context; fetch it in this one."))
        let entity = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let context = try TestStore().context
            Item(context: context).setValue(Tag(context: context), forKey: "category")
        }
        #expect(
            String(decoding: try #require(entity).standardErrorContent, as: UTF8.self).contains(
                "'Item.category' cannot refer to an object of Tag."))
    }
}
