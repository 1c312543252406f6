import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("Dictionary results")
struct GroupingTests {
    private func makeStore() throws -> TestStore {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 6, categories: 2, tags: 2)
        let context = store.context
        for (place, item) in try context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")])).enumerated() {
            item.amount = place / 2
        }
        Category(context: context).name = "Category 9"
        try context.save()
        return store
    }

    private func request<Object: ManagedObject>(
        _ properties: [ExpressionDescription], of type: Object.Type = Item.self, sort: [FetchSortDescriptor] = []
    ) -> FetchRequest<Object> {
        var request = FetchRequest<Object>(sortDescriptors: sort)
        request.resultType = .dictionary
        request.propertiesToFetch = properties
        return request
    }

    @Test("contain properties of each object, sorted, limited and with an offset")
    func properties() throws {
        let store = try makeStore()
        var request = request(["name", "category.name", ExpressionDescription("twice", .keyPath("price") * .value(2))])
        request.predicate = PropertyPath("price") > 0
        request.sortDescriptors = [.descending("price")]
        request.fetchLimit = 2
        request.fetchOffset = 1
        let before = store.statements().count
        #expect(
            try store.context.fetchDictionaries(request) == [
                ["name": "Item 4", "category.name": "Category 0", "twice": 8.0],
                ["name": "Item 3", "category.name": "Category 1", "twice": 6.0],
            ])
        #expect(
            store.statements()[before]
                == "SELECT t0.ZNAME, t1.ZNAME, ( t0.ZPRICE * ?) FROM ZITEM t0 LEFT OUTER JOIN ZCATEGORY t1 ON t0.ZCATEGORY = t1.Z_PK WHERE  t0.ZPRICE > ?  ORDER BY t0.ZPRICE DESC LIMIT 2 OFFSET 1"
        )
    }

    @Test("represent objects by the URIs of their IDs")
    func identities() throws {
        let store = try makeStore()
        let item = try store.context.fetch(FetchRequest<Item>(predicate: PropertyPath("name") == "Item 3"))[0]
        var request = request(["self", "category"])
        request.predicate = PropertyPath("name") == "Item 3"
        let found = try store.context.fetchDictionaries(request)[0]
        #expect(found["self"] == .uri(item.objectID.uriRepresentation()))
        let category = try #require(item.category).objectID
        #expect(found["category"] == .uri(category.uriRepresentation()))
    }

    @Test("are computed for groups of objects and filtered by havingPredicate")
    func groups() throws {
        let store = try makeStore()
        var request = request(
            [
                "category.name", ExpressionDescription("total", .function(.sum, "price")),
                ExpressionDescription(
                    "value", .function(.sum, .keyPath("price") * .keyPath("amount")), resultType: .integer64),
                ExpressionDescription("number", .function(.count, "self")),
            ], sort: [.descending("total")])
        request.propertiesToGroupBy = ["category.name"]
        let before = store.statements().count
        #expect(
            try store.context.fetchDictionaries(request) == [
                ["category.name": "Category 1", "total": 9.0, "value": 13, "number": 3],
                ["category.name": "Category 0", "total": 6.0, "value": 10, "number": 3],
            ])
        #expect(
            store.statements()[before]
                == "SELECT t1.ZNAME AS c0, total( t0.ZPRICE) AS c1, total(( t0.ZPRICE *  t0.ZAMOUNT)), COUNT( t0.Z_PK) FROM ZITEM t0 LEFT OUTER JOIN ZCATEGORY t1 ON t0.ZCATEGORY = t1.Z_PK GROUP BY c0 ORDER BY c1 DESC"
        )
        request.havingPredicate = try FetchPredicate(format: "sum:(price) > %@", 7)
        #expect(try store.context.fetchDictionaries(request).map { $0["total"] } == [9.0])
        request.predicate = PropertyPath("amount") > 0
        request.havingPredicate = try FetchPredicate(format: "count:(name) == 2 AND max:(price) < %@", 5)
        #expect(try store.context.fetchDictionaries(request).map { $0["total"] } == [6.0])
        #expect(
            store.statements().last
                == "SELECT t1.ZNAME AS c0, total( t0.ZPRICE) AS c1, total(( t0.ZPRICE *  t0.ZAMOUNT)), COUNT( t0.Z_PK) FROM ZITEM t0 LEFT OUTER JOIN ZCATEGORY t1 ON t0.ZCATEGORY = t1.Z_PK WHERE  t0.ZAMOUNT > ?  GROUP BY c0 HAVING (COUNT( t0.ZNAME) = ? AND max( t0.ZPRICE) < ?) ORDER BY c1 DESC"
        )
        request.fetchLimit = 1
        request.havingPredicate = nil
        #expect(try store.context.fetchDictionaries(request).count == 1)
    }

    @Test("can be grouped by a to-one relationship and by several properties")
    func severalGroups() throws {
        let store = try makeStore()
        var request = request(
            ["category", "amount", ExpressionDescription("number", .function(.count, "name"))],
            sort: [.ascending("amount"), .ascending("category.name")])
        request.propertiesToGroupBy = ["category", "amount"]
        #expect(try store.context.fetchDictionaries(request).map { $0["number"] } == Array(repeating: 1, count: 6))
    }

    @Test("count objects behind a to-many relationship, next to other functions")
    func toMany() throws {
        let store = try makeStore()
        let each = request(
            ["name", ExpressionDescription("items", .keyPath("items.@count"))], of: Category.self,
            sort: [.ascending("name")])
        #expect(try store.context.fetchDictionaries(each).map { $0["items"] } == [3, 3, 0])
        let all = request(
            [
                ExpressionDescription("categories", .function(.count, "name")),
                ExpressionDescription("items", .function(.count, "items")),
                ExpressionDescription("price", .function(.sum, "items.price")),
                ExpressionDescription("mean", .function(.average, "items.price")),
                ExpressionDescription("dearest", .function(.maximum, "items.price")),
            ], of: Category.self)
        #expect(
            try store.context.fetchDictionaries(all) == [
                ["categories": 3, "items": 6, "price": 15.0, "mean": 2.5, "dearest": 5.0]
            ])
    }

    @Test("have functions over a to-many relationship for each object, beside its properties and within a limit")
    func perObject() throws {
        let store = try makeStore()
        var request = request(
            [
                "name", ExpressionDescription("last", .function(.maximum, "items.price")),
                ExpressionDescription("items", .function(.count, "items")),
                ExpressionDescription("double", .function(.sum, "items.price") * .value(2)),
                ExpressionDescription("path", .keyPath("items.@max.price")),
            ], of: Category.self, sort: [.descending("last")])
        request.fetchLimit = 2
        let before = store.statements().count
        #expect(
            try store.context.fetchDictionaries(request) == [
                ["name": "Category 1", "last": 5.0, "items": 3, "double": 18.0, "path": 5.0],
                ["name": "Category 0", "last": 4.0, "items": 3, "double": 12.0, "path": 4.0],
            ])
        #expect(
            store.statements()[before]
                == "SELECT t0.ZNAME, (SELECT max( t1.ZPRICE) FROM ZITEM t1 WHERE (t0.Z_PK = t1.ZCATEGORY) ) AS c1, (SELECT COUNT(t2.Z_PK) FROM ZITEM t2 WHERE (t0.Z_PK = t2.ZCATEGORY) ), ((SELECT total( t3.ZPRICE) FROM ZITEM t3 WHERE (t0.Z_PK = t3.ZCATEGORY) ) * ?), (SELECT max( t4.ZPRICE) FROM ZITEM t4 WHERE (t0.Z_PK = t4.ZCATEGORY) ) FROM ZCATEGORY t0 ORDER BY c1 DESC LIMIT 2"
        )
        request.fetchOffset = 2
        #expect(
            try store.context.fetchDictionaries(request) == [["name": "Category 9", "items": 0, "double": 0.0]])
        request.propertiesToFetch.append(ExpressionDescription("all", .function(.count, "name")))
        #expect(
            performing { _ = try store.context.fetchDictionaries(request) }
                == "Fetching Category: 'name' has a value for each object, but the others have one for each group; add it to propertiesToGroupBy, or remove it."
        )
        var grouped = self.request(
            ["section", ExpressionDescription("last", .function(.maximum, "items.price"))], of: Category.self)
        grouped.propertiesToGroupBy = ["section"]
        #expect(try store.context.fetchDictionaries(grouped) == [["last": 5.0]])
    }

    @Test("have a row for each pair of an object and a related object")
    func pairs() throws {
        let store = try makeStore()
        var request = request(
            ["name", "items.name", "items.price", ExpressionDescription("next", .keyPath("items.price") + .value(1))],
            of: Category.self, sort: [.descending("items.name"), .ascending("name")])
        let before = store.statements().count
        #expect(
            try store.context.fetchDictionaries(request) == [
                ["name": "Category 1", "items.name": "Item 5", "items.price": 5.0, "next": 6.0],
                ["name": "Category 0", "items.name": "Item 4", "items.price": 4.0, "next": 5.0],
                ["name": "Category 1", "items.name": "Item 3", "items.price": 3.0, "next": 4.0],
                ["name": "Category 0", "items.name": "Item 2", "items.price": 2.0, "next": 3.0],
                ["name": "Category 1", "items.name": "Item 1", "items.price": 1.0, "next": 2.0],
                ["name": "Category 0", "items.name": "Item 0", "items.price": 0.0, "next": 1.0],
                ["name": "Category 9"],
            ])
        #expect(
            store.statements()[before]
                == "SELECT t0.ZNAME AS c0, t1.ZNAME AS c1, t1.ZPRICE, ( t1.ZPRICE + ?) FROM ZCATEGORY t0 LEFT OUTER JOIN ZITEM t1 ON t0.Z_PK = t1.ZCATEGORY ORDER BY c1 DESC, c0"
        )
        request.predicate = PropertyPath("items.@count") > 0
        request.fetchLimit = 1
        request.fetchOffset = 5
        #expect(try store.context.fetchDictionaries(request).map { $0["items.name"] } == ["Item 0"])
        guard case .fetch(let fetch) = store.events.last(where: { $0.kind == .fetch })?.detail else {
            Issue.record("The fetch is an event.")
            return
        }
        #expect(fetch.rows == 1 && fetch.resultType == .dictionaries)

        let joined = self.request(
            ["name", "tags.label", "tags"], sort: [.ascending("name")])
        let found = try store.context.fetchDictionaries(joined)
        #expect(found.map { $0["tags.label"] } == (0..<6).map { .string("Tag \($0 % 2)") })
        let tag = try store.context.fetch(FetchRequest<Tag>(sortDescriptors: [.ascending("label")]))[0]
        #expect(found[0]["tags"] == .uri(tag.objectID.uriRepresentation()))
        #expect(
            store.statements().contains(
                "SELECT t0.ZNAME AS c0, t2.ZLABEL, t1.Z_4TAGS FROM ZITEM t0 LEFT OUTER JOIN Z_2TAGS t1 ON t0.Z_PK = t1.Z_2ITEMS LEFT OUTER JOIN ZTAG t2 ON t1.Z_4TAGS = t2.Z_PK ORDER BY c0"
            ))
    }

    @Test("can be grouped by a property of related objects, where an object counts once for each of them")
    func groupsOfPairs() throws {
        let store = try makeStore()
        let item = try store.context.fetch(FetchRequest<Item>(predicate: PropertyPath("name") == "Item 0"))[0]
        for tag in try store.context.fetch(FetchRequest<Tag>()) { item.tags.add(tag) }
        try store.context.save()
        var request = request(
            ["tags.label", ExpressionDescription("number", .function(.count, "self"))], sort: [.ascending("tags.label")]
        )
        request.propertiesToGroupBy = ["tags.label"]
        #expect(
            try store.context.fetchDictionaries(request) == [
                ["tags.label": "Tag 0", "number": 3], ["tags.label": "Tag 1", "number": 4],
            ])
    }

    @Test("never multiply rows by a condition within an expression")
    func conditions() throws {
        let store = try makeStore()
        let wrong = request(
            [
                ExpressionDescription(
                    "x",
                    .conditional(
                        .comparison(.keyPath("tags.label"), .equalTo, .value("a")), .keyPath("name"), .value("")))
            ])
        #expect(
            performing { _ = try store.context.fetchDictionaries(wrong) }
                == "Fetching Item: 'tags.label' goes through 'tags', which is to-many; put ANY or ALL before the comparison, or aggregate the values with @count, @sum, @min, @max or @avg."
        )
    }

    @Test(
        "and objects cannot be sorted by several values",
        arguments: [
            ("items.name", "items.@min.name"), ("items.category.name", "items.@min.category.name"),
            ("items", "items.@count"),
        ])
    func severalSortKeys(_ keyPath: String, _ instead: String) throws {
        let store = try makeStore()
        let message =
            "Fetching Category: '\(keyPath)' goes through 'items', which is to-many, so an object has several sort keys; sort by one value, such as '\(instead)'."
        #expect(
            performing {
                _ = try store.context.fetch(FetchRequest<Category>(sortDescriptors: [.ascending(keyPath)]))
            } == message)
        let dictionaries = request(["name"], of: Category.self, sort: [.ascending(keyPath)])
        #expect(performing { _ = try store.context.fetchDictionaries(dictionaries) } == message)
        _ = try store.context.fetch(FetchRequest<Category>(sortDescriptors: [.ascending(instead)]))
    }

    @Test("can be distinct")
    func distinct() throws {
        let store = try makeStore()
        var request = request(["category.name"], sort: [.ascending("category.name")])
        #expect(try store.context.fetchDictionaries(request).count == 6)
        request.returnsDistinctResults = true
        #expect(
            try store.context.fetchDictionaries(request) == [
                ["category.name": "Category 0"], ["category.name": "Category 1"],
            ])
        #expect(store.statements().last?.hasPrefix("SELECT DISTINCT t1.ZNAME AS c0 FROM") == true)
    }

    @Test("share their sort keys over to-many relationships with fetches of objects")
    func sorting() throws {
        let store = try makeStore()
        let found = try store.context.fetch(
            FetchRequest<Category>(sortDescriptors: [.ascending("items.@count"), .descending("items.@sum.price")]))
        #expect(found.map(\.name) == ["Category 9", "Category 1", "Category 0"])
        let item = Item(context: store.context)
        item.category = found[0]
        item.price = 1
        let again = try store.context.fetch(
            FetchRequest<Category>(sortDescriptors: [.descending("items.@count"), .descending("items.@sum.price")]))
        #expect(again.map(\.name) == ["Category 1", "Category 0", "Category 9"])
    }

    @Test("require one value per group, and groups for havingPredicate")
    func errors() throws {
        let store = try makeStore()
        var wrong = request(["name", ExpressionDescription("total", .function(.sum, "price"))])
        #expect(
            performing { _ = try store.context.fetchDictionaries(wrong) }
                == "Fetching Item: 'name' has a value for each object, but the others have one for each group; add it to propertiesToGroupBy, or remove it."
        )
        wrong.propertiesToGroupBy = ["category"]
        #expect(
            performing { _ = try store.context.fetchDictionaries(wrong) }.hasPrefix("Fetching Item: 'name' has a value")
        )
        wrong = request(["name"])
        wrong.havingPredicate = .value(true)
        #expect(
            performing { _ = try store.context.fetchDictionaries(wrong) }
                == "Fetching Item: havingPredicate selects groups, but there are none; set propertiesToGroupBy.")
        let evil = request(
            [ExpressionDescription("x; DROP TABLE ZITEM", .keyPath("name"))], sort: [.ascending("x; DROP TABLE ZITEM")])
        #expect(try store.context.fetchDictionaries(evil).count == 6)
        #expect(store.statements().last == "SELECT t0.ZNAME AS c0 FROM ZITEM t0 ORDER BY c0")
    }
}
