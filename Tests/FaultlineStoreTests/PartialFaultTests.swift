import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("A fetch of some properties returns partial faults")
struct PartialFaultTests {
    private func makeStore(items: Int = 3) throws -> TestStore {
        let store = try TestStore(isRecording: true)
        try store.fill(items: items, categories: 2)
        store.container.persistentStoreCoordinator.removeUnusedRows()
        return store
    }

    private func request(_ properties: ExpressionDescription...) -> FetchRequest<Item> {
        var request = FetchRequest<Item>(sortDescriptors: [.ascending("name")])
        request.propertiesToFetch = properties
        return request
    }

    private func faults(_ store: TestStore) -> Int { store.events.count { $0.kind == .fault } }

    @Test("The fetched properties cost no trip, and any other property fires the fault")
    func reading() throws {
        let store = try makeStore()
        let items = try store.context.fetch(request("name", "category"))
        #expect(
            store.statements().last
                == "SELECT 0, t0.Z_PK, t0.ZNAME, t0.ZCATEGORY FROM ZITEM t0 ORDER BY t0.ZNAME")
        let before = faults(store)
        #expect(items.map(\.name) == ["Item 0", "Item 1", "Item 2"])
        #expect(items.map { $0.value(forKey: "name") as? String } == ["Item 0", "Item 1", "Item 2"])
        #expect(items.map { $0.category?.objectID.uriRepresentation().lastPathComponent } == ["p1", "p2", "p1"])
        #expect(items.allSatisfy { $0.isFault })
        #expect(faults(store) == before)
        #expect(items[1].price == 1)
        #expect(faults(store) == before + 1)
        #expect(!items[1].isFault && items[0].isFault)
        #expect(items[1].name == "Item 1" && items[1].category === items[1].category)
        #expect(faults(store) == before + 1)
    }

    @Test("The use summary counts only the fetched properties as loaded")
    func loadedProperties() throws {
        let store = try makeStore()
        _ = try store.context.fetch(request("name", "category")).map(\.name)
        let uses = store.events.compactMap { event -> TraceEvent.Use? in
            if case .use(let use) = event.detail { use } else { nil }
        }
        let use = try #require(uses.last)
        #expect(use.loadedRows == 3)
        #expect(use.properties.count { $0.rowsLoaded > 0 } == 2)
        #expect(use.properties.allSatisfy { $0.rowsLoaded == 0 || $0.rowsLoaded == 3 })
    }

    @Test("The values are those of the fetch until the object is refreshed")
    func age() throws {
        let store = try makeStore()
        let item = try store.context.fetch(request("name"))[0]
        try store.sql("UPDATE ZITEM SET ZNAME = 'Changed', Z_OPT = Z_OPT + 1 WHERE ZNAME = 'Item 0'")
        #expect(item.name == "Item 0")
        store.context.refresh(item, mergeChanges: true)
        #expect(item.name == "Changed")
    }

    @Test("Partial faults can be changed and deleted like other objects")
    func changing() throws {
        let store = try makeStore()
        let items = try store.context.fetch(request("name", "category"))
        items[0].name = "Changed"
        #expect(items[0].name == "Changed" && items[0].price == 0)
        items[1].price = 7
        #expect(items[1].name == "Item 1")
        let category = try #require(items[1].category)
        let others = try #require(items[0].category)
        items[1].category = others
        store.context.delete(items[2])
        try store.context.save()
        #expect(
            try store.sql("SELECT ZNAME || ' ' || ZPRICE || ' ' || ZCATEGORY FROM ZITEM ORDER BY ZNAME")
                == ["Changed 0.0 1", "Item 1 7.0 1"])
        store.context.refreshAllObjects()
        #expect(category.items.count == 0 && others.items.count == 2)
    }

    @Test("A NULL value reads as nil, and so does a relationship to a deleted object")
    func emptyValues() throws {
        let store = try makeStore()
        try store.sql("UPDATE ZITEM SET ZPRICE = NULL, ZCATEGORY = NULL WHERE ZNAME = 'Item 0'")
        let items = try store.context.fetch(request("price", "category"))
        let before = faults(store)
        #expect(items[0].price == nil && items[0].category == nil)
        #expect(faults(store) == before)
        let category = try #require(items[1].category)
        store.context.delete(category)
        #expect(items[1].category == nil)
    }

    @Test("Partial faults work in batches, with prefetching and among unsaved changes")
    func batches() throws {
        let store = try makeStore(items: 10)
        var batched = request("name")
        batched.fetchBatchSize = 4
        batched.relationshipKeyPathsForPrefetching = ["category"]
        let new = Item(context: store.context)
        new.name = "Item 00"
        let items = try store.context.fetch(batched)
        #expect(items.count == 11 && items[1] === new)
        let before = faults(store)
        #expect(items[5].name == "Item 4" && items[5].category?.name == "Category 0")
        #expect(
            Set(store.statements().suffix(3)) == [
                "SELECT 0, t0.Z_PK, t0.ZNAME, t0.ZCATEGORY FROM ZITEM t0 WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)   LIMIT 4",
                "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZNAME, t0.ZSECTION FROM ZCATEGORY t0 WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)",
            ])
        #expect(faults(store) == before + 1, "the category's, from the row cache")
        batched.fetchBatchSize = 0
        #expect(try store.context.fetch(batched).map(\.name).first == "Item 0")
    }

    @Test("Objects that already have their values stay as they are")
    func realized() throws {
        let store = try makeStore()
        let whole = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        #expect(whole[0].price == 0)
        let items = try store.context.fetch(request("name"))
        #expect(items[0] === whole[0] && !items[0].isFault)
        #expect(items[0].price == 0)
    }

    @Test("The fetch records the properties it reads, and counts their bytes")
    func events() throws {
        let store = try makeStore()
        let items = try store.context.fetch(request("name", "price"))
        _ = items.map(\.name)
        guard case .fetch(let fetch)? = store.events.last(where: { $0.kind == .fetch })?.detail else {
            Issue.record("no fetch")
            return
        }
        #expect(fetch.rows == 3 && fetch.bytes == 3 * 6 + 3 * 8 && fetch.cacheMisses == 3)
        #expect(store.dictionary.shape(fetch.shape)?.expressions == ["name", "price"])
    }

    @Test(
        "A property that an object cannot hold makes the fetch throw an error",
        arguments: [
            ExpressionDescription("nothing"), ExpressionDescription("tags"), "category.name",
            ExpressionDescription("sum", .function(.sum, "price")),
        ])
    func errors(property: ExpressionDescription) throws {
        let store = try makeStore()
        #expect(
            performing { _ = try store.context.fetch(request(property)) }
                == "Fetching Item: '\(property.name)' in propertiesToFetch is not a stored attribute or to-one relationship of the entity, and objects hold nothing else; remove it, or set resultType to dictionary."
        )
    }

    @Test("Partial faults work with subentities and with values in external files")
    func inheritance() throws {
        let store = try Household.makeStore(isRecording: true)
        let dog = Dog(context: store.context)
        (dog.name, dog[Dog.breed]) = ("Rex", "Poodle")
        let person = Person(context: store.context)
        person.name = "Ann"
        person.photo = Data(repeating: 7, count: 5000)
        try store.context.save()
        let context = store.container.newBackgroundContext()
        var animals = FetchRequest<Animal>()
        animals.propertiesToFetch = ["name"]
        let found = try context.fetch(animals)
        #expect(store.statements().last == "SELECT t0.Z_ENT, t0.Z_PK, t0.ZNAME FROM ZANIMAL t0")
        let before = faults(store)
        #expect(found[0].name == "Rex" && faults(store) == before)
        #expect((found[0] as? Dog)?[Dog.breed] == "Poodle" && faults(store) == before + 1)
        var people = FetchRequest<Person>()
        people.propertiesToFetch = ["photo"]
        let photo = try context.fetch(people)[0].photo
        #expect(photo == Data(repeating: 7, count: 5000) && faults(store) == before + 1)
        #expect(people.propertiesToFetch.count == 1)
        context.reset()
        people.includesPropertyValues = false
        #expect(try context.fetch(people)[0].name == "Ann")
    }
}
