import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("Fetches run the SQL that Core Data would run")
struct FetchingTests {
    /// Runs a request and returns its SQL statement and the names it finds.
    private func run(_ store: TestStore, _ request: FetchRequest<Item>) throws -> (sql: String, names: [String]) {
        let before = store.statements().count
        let names = try store.context.fetch(request).map(\.name)
        return (store.statements()[before], names)
    }

    private static let head =
        "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZAMOUNT, t0.ZNAME, t0.ZPRICE, t0.ZCATEGORY FROM ZITEM t0"

    static let predicates: [(FetchPredicate, String, String, [String])] = [
        (PropertyPath("price") == 2.0, " WHERE  t0.ZPRICE = ?", "price == 2.0", ["Item 2"]),
        (
            PropertyPath("price") != 2, "( t0.ZPRICE <> ? OR  t0.ZPRICE IS NULL)", "price != 2",
            ["Item 0", "Item 1", "Item 3"]
        ),
        (PropertyPath("price") < 1, " WHERE  t0.ZPRICE < ?", "price < 1", ["Item 0"]),
        (PropertyPath("price") >= 3, " WHERE  t0.ZPRICE >= ?", "price >= 3", ["Item 3"]),
        (PropertyPath("price") == nil, " WHERE  t0.ZPRICE IS NULL", "price == nil", []),
        (
            PropertyPath("price") > 0 && PropertyPath("amount") == 1 && PropertyPath("name") != "Item 3",
            " WHERE (( t0.ZPRICE > ? AND  t0.ZAMOUNT = ?) AND  t0.ZNAME <> ?)",
            "(price > 0 AND amount == 1) AND name != \"Item 3\"", ["Item 1", "Item 2"]
        ),
        (
            PropertyPath("name") == "Item 1" || PropertyPath("name") == "Item 3",
            " WHERE ( t0.ZNAME = ? OR  t0.ZNAME = ?)", "name == \"Item 1\" OR name == \"Item 3\"", ["Item 1", "Item 3"]
        ),
        (!(PropertyPath("price") > 0), " WHERE  NOT (IFNULL( t0.ZPRICE > ?, 0))", "NOT price > 0", ["Item 0"]),
        (
            PropertyPath("price").between(1, and: 2), " WHERE  t0.ZPRICE BETWEEN ? AND ?", "price BETWEEN {1, 2}",
            ["Item 1", "Item 2"]
        ),
        (
            PropertyPath("name").isIn(["Item 0", "Item 2", "x"]), " WHERE  t0.ZNAME IN (?, ?, ?, ?, ?)",
            "name IN {\"Item 0\", \"Item 2\", \"x\"}", ["Item 0", "Item 2"]
        ),
        (
            PropertyPath("name").beginsWith("Item"), " WHERE ( t0.ZNAME >= ? AND  t0.ZNAME < ?)",
            "name BEGINSWITH \"Item\"", ["Item 0", "Item 1", "Item 2", "Item 3"]
        ),
        (
            PropertyPath("name").beginsWith("ITÈM", options: [.caseInsensitive, .diacriticInsensitive]),
            " WHERE  NSCoreDataStringSearch( t0.ZNAME, ?, 137, 0)", "name BEGINSWITH[cd] \"ITÈM\"",
            ["Item 0", "Item 1", "Item 2", "Item 3"]
        ),
        (
            PropertyPath("name").contains("EM 1", options: .caseInsensitive),
            " WHERE  NSCoreDataStringSearch( t0.ZNAME, ?, 1, 0)", "name CONTAINS[c] \"EM 1\"", ["Item 1"]
        ),
        (
            PropertyPath("name").contains("EM 1"), " WHERE  NSCoreDataStringSearch( t0.ZNAME, ?, 0, 0)",
            "name CONTAINS \"EM 1\"", []
        ),
        (
            PropertyPath("name").endsWith(" 2"), " WHERE  NSCoreDataStringSearch( t0.ZNAME, ?, 12, 0)",
            "name ENDSWITH \" 2\"", ["Item 2"]
        ),
        (
            PropertyPath("name").like("?tem *3"), " WHERE  FaultlineStringLike( t0.ZNAME, ?, 0)",
            "name LIKE \"?tem *3\"", ["Item 3"]
        ),
        (
            PropertyPath("name").matches("item [01]", options: .caseInsensitive),
            " WHERE  FaultlineStringMatch( t0.ZNAME, ?, 1)", "name MATCHES[c] \"item [01]\"", ["Item 0", "Item 1"]
        ),
        (
            .comparison("name", .equalTo, "ITEM 2", options: .caseInsensitive),
            " WHERE  FaultlineStringCompare( t0.ZNAME, ?, 1) = 0", "name ==[c] \"ITEM 2\"", ["Item 2"]
        ),
        (
            PropertyPath("category.name") == "Category 1",
            " JOIN ZCATEGORY t1 ON t0.ZCATEGORY = t1.Z_PK WHERE  t1.ZNAME = ?", "category.name == \"Category 1\"",
            ["Item 1", "Item 3"]
        ),
        (
            PropertyPath("category.section.title") == nil,
            " LEFT OUTER JOIN ZCATEGORY t1 ON t0.ZCATEGORY = t1.Z_PK LEFT OUTER JOIN ZSECTION t2 ON t1.ZSECTION = t2.Z_PK WHERE  t2.ZTITLE IS NULL",
            "category.section.title == nil", ["Item 0", "Item 1", "Item 2", "Item 3"]
        ),
        (
            PropertyPath("category") != nil, " WHERE  t0.ZCATEGORY IS NOT NULL", "category != nil",
            ["Item 0", "Item 1", "Item 2", "Item 3"]
        ),
        (.value(false), " WHERE  1 = 0", "FALSEPREDICATE", []),
    ]

    @Test("Predicates become WHERE clauses", arguments: predicates.indices)
    func predicate(_ index: Int) throws {
        let (predicate, clause, description, names) = Self.predicates[index]
        let store = try TestStore(isRecording: true)
        try store.fill(items: 4, categories: 2)
        let (sql, found) = try run(store, FetchRequest(predicate: predicate))
        #expect(sql.hasPrefix(Self.head))
        #expect(sql.hasSuffix(clause), "\(sql)")
        #expect(found.sorted() == names)
        #expect(predicate.description == description)
        #expect(!predicate.shape.contains("Item"))
    }

    @Test("Predicates compare objects by their keys, and lists of objects through an integer array")
    func objects() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 4, categories: 2)
        let categories = try store.context.fetch(FetchRequest<Category>(sortDescriptors: [.ascending("name")]))
        let one = try run(store, FetchRequest(predicate: PropertyPath("category") == categories[1]))
        #expect(one.sql == Self.head + " WHERE  t0.ZCATEGORY = ?")
        #expect(one.names == ["Item 1", "Item 3"])
        let ids = try store.context.fetchObjectIDs(FetchRequest<Item>()).prefix(2)
        let some = try run(store, FetchRequest(predicate: .isIn("self", objects: ids)))
        #expect(some.sql == Self.head + " WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)")
        #expect(some.names == ["Item 0", "Item 1"])
        let both = try run(
            store,
            FetchRequest(predicate: .isIn("self", objects: ids) && .isIn("category", objects: [categories[0].objectID]))
        )
        #expect(both.sql.hasSuffix("t0.ZCATEGORY IN (SELECT * FROM _Z_intarray1))"))
        #expect(both.names == ["Item 0"])
    }

    @Test("Sort descriptors, limits and offsets become ORDER BY, LIMIT and OFFSET")
    func order() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 5, categories: 2)
        let (sql, names) = try run(
            store,
            FetchRequest(
                predicate: PropertyPath("price") > 0,
                sortDescriptors: [.ascending("category.name"), .descending("price")], fetchLimit: 3, fetchOffset: 1))
        #expect(
            sql == Self.head
                + " LEFT OUTER JOIN ZCATEGORY t1 ON t0.ZCATEGORY = t1.Z_PK WHERE  t0.ZPRICE > ?  ORDER BY t1.ZNAME, t0.ZPRICE DESC LIMIT 3 OFFSET 1"
        )
        #expect(names == ["Item 2", "Item 3", "Item 1"])
        #expect(
            try run(store, FetchRequest(predicate: PropertyPath("price") > 3, fetchLimit: 9)).sql == Self.head
                + " WHERE  t0.ZPRICE > ?  LIMIT 9")
    }

    @Test("Fetches of counts and object IDs read no columns")
    func counts() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 5, categories: 2)
        let before = store.statements().count
        #expect(try store.context.count(for: FetchRequest<Item>()) == 5)
        #expect(
            try store.context.count(for: FetchRequest<Item>(predicate: PropertyPath("category.name") == "Category 0"))
                == 3)
        #expect(try store.context.count(for: FetchRequest<Item>(fetchLimit: 2)) == 2)
        #expect(try store.context.fetchObjectIDs(FetchRequest<Item>(sortDescriptors: [.ascending("name")])).count == 5)
        #expect(
            Array(store.statements()[before...]) == [
                "SELECT COUNT(*) FROM ZITEM",
                "SELECT COUNT(DISTINCT t0.Z_PK) FROM ZITEM t0 JOIN ZCATEGORY t1 ON t0.ZCATEGORY = t1.Z_PK WHERE  t1.ZNAME = ?",
                "SELECT COUNT(*) FROM (SELECT t0.Z_PK FROM ZITEM t0 LIMIT 2)",
                "SELECT 0, t0.Z_PK FROM ZITEM t0 ORDER BY t0.ZNAME",
            ])
    }

    @Test("A fetch of object IDs fills the row cache if requested")
    func warming() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 3)
        store.container.persistentStoreCoordinator.removeUnusedRows()
        let context = store.container.newBackgroundContext()
        let request = FetchRequest<Item>(sortDescriptors: [.ascending("name")])
        let before = store.statements().count
        let ids = try context.fetchObjectIDs(request, warmsRowCache: true)
        #expect(ids == (try context.fetchObjectIDs(request)))
        #expect(
            Array(store.statements()[before...]) == [
                Self.head + " ORDER BY t0.ZNAME", "SELECT 0, t0.Z_PK FROM ZITEM t0 ORDER BY t0.ZNAME",
            ])
        #expect(ids.map { (context.object(with: $0) as? Item)?.name } == ["Item 0", "Item 1", "Item 2"])
        #expect(store.statements().count == before + 2)
        Item(context: context).name = "Item 1b"
        #expect(try context.fetchObjectIDs(request, warmsRowCache: true).count == 4)
    }

    @Test("Requests can be created from a model's templates")
    func templates() throws {
        let model = try ManagedObjectModel(
            entities: Groceries.entities(),
            fetchRequestTemplates: [
                FetchRequestTemplate("dear", entity: "Item", predicate: "price > $LIMIT"),
                FetchRequestTemplate("all", entity: "Item"),
                FetchRequestTemplate("broken", entity: "Item", predicate: "price >"),
            ])
        let store = try TestStore()
        try store.fill(items: 4)
        let dear = try FetchRequest<Item>(templateNamed: "dear", in: model, substitutionVariables: ["LIMIT": 1])
        #expect(try store.context.count(for: dear) == 2)
        #expect(try store.context.count(for: FetchRequest<Item>(templateNamed: "all", in: model)) == 4)
        #expect(
            performing { _ = try FetchRequest<Item>(templateNamed: "none", in: model) }
                == "The model has no fetch request 'none'; correct the name, or add it to the model.")
        #expect(
            performing { _ = try FetchRequest<Item>(templateNamed: "broken", in: model) }
                == "The predicate format \"price >\" cannot be parsed: at character 8, expected a value but found the end; correct it."
        )
    }

    @Test("A batched fetch reads keys first, then each batch when one of its rows is accessed, in key order")
    func batches() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 100)
        let before = store.statements().count
        let items = try store.context.fetch(
            FetchRequest<Item>(sortDescriptors: [.descending("price")], fetchBatchSize: 10))
        #expect(items.count == 100)
        #expect(store.statements().count == before + 1)
        #expect(items[25].name == "Item 74")
        #expect(items[20].name == "Item 79")
        #expect(
            Array(store.statements()[before...]) == [
                "SELECT 0, t0.Z_PK FROM ZITEM t0 ORDER BY t0.ZPRICE DESC",
                "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZAMOUNT, t0.ZNAME, t0.ZPRICE, t0.ZCATEGORY FROM ZITEM t0 WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)   LIMIT 10",
            ])
        #expect(items.map(\.name) == (0..<100).reversed().map { "Item \($0)" })
        #expect(store.statements().count == before + 11, "every batch once")
        #expect(store.context.registeredObjects.count <= 10 * FetchResults<Item>.retainedBatches)
        try items.load()
    }

    @Test("The last batch loads, and an object deleted in the meantime is inaccessible unless cached")
    func incompleteBatch() throws {
        let store = try TestStore()
        try store.fill(items: 7)
        let items = try store.context.fetch(
            FetchRequest<Item>(sortDescriptors: [.ascending("price")], fetchBatchSize: 5))
        store.context.performAndWait {}
        _ = try store.sql("DELETE FROM ZITEM WHERE Z_PK IN (SELECT Z_PK FROM ZITEM WHERE ZPRICE = 6)")
        #expect(items[5].name == "Item 5")
        let gone = items[6]
        #expect(gone.name == "Item 6" || gone.isInaccessible, "the row cache may still have it")
    }

    @Test("Prefetching costs one trip per relationship and saves the trips of its faults")
    func prefetching() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 20, categories: 10, tags: 4)
        // A new container starts with an empty row cache.
        let fresh = try PersistentContainer(
            name: "Fresh", managedObjectModel: store.container.managedObjectModel, storeURL: store.url,
            classes: Groceries.classes, recorder: store.recorder)
        let context = fresh.newBackgroundContext()
        let before = store.statements().count
        let items = try context.fetch(
            FetchRequest<Item>(relationshipKeyPathsForPrefetching: ["category", "tags", "category.items"]))
        #expect(
            Array(store.statements()[before...]).map {
                $0.components(separatedBy: " FROM ").dropFirst().joined(separator: " FROM ")
            } == [
                "ZCATEGORY t0 WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)",
                "ZTAG t0 JOIN Z_2TAGS t1 ON t0.Z_PK = t1.Z_4TAGS WHERE  t1.Z_2ITEMS IN (SELECT * FROM _Z_intarray0)  ORDER BY t1.Z_2ITEMS",
                "ZITEM t0 WHERE  t0.ZCATEGORY IN (SELECT * FROM _Z_intarray0)  ORDER BY t0.ZCATEGORY", "ZITEM t0",
            ])
        let trips = store.statements().count
        #expect(items.map { $0.category?.name ?? "" }.count == 20)
        #expect(items.allSatisfy { $0.tags.map(\.label).count == 1 })
        #expect(items.allSatisfy { $0.category?.items.count == 2 })
        #expect(store.statements().count == trips)
        guard case .fetch(let event) = try #require(store.events.last { $0.kind == .fetch }).detail else {
            Issue.record("The event is no fetch.")
            return
        }
        #expect(event.trips == 4)
        #expect(event.rows == 20)
        // A tag that several items share is one row.
        #expect(event.prefetches.map(\.rows) == [10, 4, 20])
    }

    @Test("A prefetched relationship is read again after a save changes it")
    func stalePrefetch() throws {
        let store = try TestStore()
        try store.fill(items: 2)
        let category = try store.context.fetch(
            FetchRequest<Category>(relationshipKeyPathsForPrefetching: ["items"]))[0]
        let other = store.container.newBackgroundContext()
        let item = Item(context: other)
        item.name = "New"
        item.category = other.object(with: category.objectID) as? Category
        try other.save()
        #expect(category.items.count == 3)
    }

    @Test("A fetch of a set of objects fires all of their faults at once")
    func faultsTogether() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 8, categories: 2)
        let categories = Array(try store.context.fetch(FetchRequest<Category>()))
        let items = try store.context.fetchObjectIDs(FetchRequest<Item>()).prefix(5).map(store.context.object(with:))
        #expect((items + categories).allSatisfy { $0.isFault })
        let before = store.statements().count
        _ = try store.context.fetch(
            FetchRequest<Item>(predicate: .isIn("self", objects: items.map(\.objectID)), returnsObjectsAsFaults: false))
        #expect(items.allSatisfy { !$0.isFault })
        #expect(categories.allSatisfy { $0.isFault })
        #expect(items.map { $0["name"] as? String } == (0..<5).map { "Item \($0)" })
        #expect(store.statements().count == before + 1)
    }

    @Test("A fetch without property values reads only keys, and one without faults returns realized objects")
    func options() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 3)
        let keys = try run(store, FetchRequest(includesPropertyValues: false))
        #expect(keys.sql == "SELECT 0, t0.Z_PK FROM ZITEM t0")
        store.context.reset()
        let items = try store.context.fetch(FetchRequest<Item>(returnsObjectsAsFaults: false))
        #expect(items.allSatisfy { !$0.isFault })
    }

    static var wrong: [(FetchRequest<Item>, String)] {
        [
            (
                FetchRequest(entityName: "Nothing"),
                "Fetching Nothing: the model has no such entity; correct the name, or add it to the model."
            ),
            (
                FetchRequest(predicate: PropertyPath("nmae") == "x"),
                "Fetching Item: 'nmae' is not a valid key path because Item has no property 'nmae'; correct the key path."
            ),
            (
                FetchRequest(predicate: PropertyPath("tags.label") == "x"),
                "Fetching Item: 'tags.label' goes through 'tags', which is to-many; put ANY or ALL before the comparison, or aggregate the values with @count, @sum, @min, @max or @avg."
            ),
            (
                FetchRequest(predicate: PropertyPath("name") == 3),
                "Fetching Item: 'name' of type String cannot be compared with 3; compare it with a value of its type."
            ),
            (
                FetchRequest(predicate: PropertyPath("name").matches("[")),
                "Fetching Item: \"[\" is not a valid regular expression; correct it."
            ),
            (
                FetchRequest(sortDescriptors: [.ascending("category")]),
                "Fetching Item: 'category' is a relationship and has no order; sort by an attribute of its destination."
            ),
            (
                FetchRequest(relationshipKeyPathsForPrefetching: ["category.name"]),
                "Fetching Item: 'category.name' cannot be prefetched because Category has no stored relationship 'name'; correct the key path."
            ),
            (
                FetchRequest(entityName: "Tag"),
                "Fetching Tag: its objects are of class Tag, not Item; pass the class to the container."
            ),
        ]
    }

    @Test("A batch that cannot be read returns faults, and the next fetch throws the reason")
    func unreadableBatch() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 3)
        let items = try store.context.fetch(FetchRequest<Item>(fetchBatchSize: 2))
        let coordinator = store.container.persistentStoreCoordinator
        coordinator.removeUnusedRows()
        try coordinator.run("ALTER TABLE ZITEM RENAME TO ZOTHER")
        #expect(items[0].name == "")
        #expect(items[0].isInaccessible)
        let message =
            "Preparing \"SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZAMOUNT, t0.ZNAME, t0.ZPRICE, t0.ZCATEGORY FROM ZITEM t0 WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)   LIMIT 2\" in '\(store.url.path)' failed: SQLite reports \"no such table: ZITEM\" (code 1)."
        #expect(performing { _ = try store.context.fetch(FetchRequest<Item>()) } == message)
        #expect(performing { try items.load() } == message)
        guard case .batch(let batch) = try #require(store.events.last { $0.kind == .batch }).detail else {
            Issue.record("The event is no batch.")
            return
        }
        #expect(batch.error == 1)
        #expect(performing { _ = try store.context.fetch(FetchRequest<Item>()) }.contains("no such table"))
        guard case .fetch(let fetch) = try #require(store.events.last { $0.kind == .fetch }).detail else {
            Issue.record("The event is no fetch.")
            return
        }
        #expect(fetch.error == 1)
    }

    @Test("An invalid request throws an error that names the problem")
    func errors() throws {
        let store = try TestStore()
        for (request, message) in Self.wrong {
            #expect(performing { _ = try store.context.fetch(request) } == message)
        }
    }
}
