import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("An aggregate fetch")
struct AggregateTests {
    private typealias Function = FetchExpression.Function

    private func request<Object: ManagedObject>(
        _ expressions: [(name: String, function: Function, keyPath: String)], where predicate: FetchPredicate? = nil,
        of type: Object.Type = Item.self
    ) -> FetchRequest<Object> {
        var request = FetchRequest<Object>(predicate: predicate)
        request.resultType = .dictionary
        request.propertiesToFetch = expressions.map {
            ExpressionDescription($0.name, .function($0.function, $0.keyPath))
        }
        return request
    }

    private func value<Object: ManagedObject>(
        _ function: Function, _ keyPath: String, where predicate: FetchPredicate? = nil, of type: Object.Type,
        in store: TestStore
    ) throws -> AttributeValue? {
        let found = try store.context.fetchDictionaries(
            request([("value", function, keyPath)], where: predicate, of: type))
        #expect(found.count == 1)
        return try #require(found.first)["value"]
    }

    @Test("runs Core Data's SQL, with all functions of a request in one statement")
    func statements() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 4, categories: 2)
        let before = store.statements().count
        let all = request([
            ("sum", .sum, "price"), ("least", .minimum, "price"), ("greatest", .maximum, "name"),
            ("mean", .average, "amount"), ("count", .count, "name"),
        ])
        let found = try store.context.fetchDictionaries(all)
        #expect(
            found == [
                [
                    "sum": .double(6), "least": .double(0), "greatest": .string("Item 3"), "mean": .double(1),
                    "count": .integer(4),
                ]
            ])
        let some = request([("sum", .sum, "price")], where: PropertyPath("name") > "Item 1")
        #expect(try store.context.fetchDictionaries(some) == [["sum": .double(5)]])
        let related = request(
            [("last", .maximum, "category.name")], where: PropertyPath("category.name") < "Category 1")
        #expect(try store.context.fetchDictionaries(related) == [["last": .string("Category 0")]])
        #expect(
            Array(store.statements()[before...]) == [
                "SELECT total( t0.ZPRICE), min( t0.ZPRICE), max( t0.ZNAME), avg( t0.ZAMOUNT), COUNT( t0.ZNAME) FROM ZITEM t0",
                "SELECT total( t0.ZPRICE) FROM ZITEM t0 WHERE  t0.ZNAME > ?",
                "SELECT max( t1.ZNAME) FROM ZITEM t0 JOIN ZCATEGORY t1 ON t0.ZCATEGORY = t1.Z_PK WHERE  t1.ZNAME < ?",
            ])
    }

    @Test("counts objects whose relationship is nil")
    func unrelated() throws {
        let store = try TestStore()
        try store.fill(items: 3, categories: 0)
        try store.fill(items: 2, categories: 1)
        let both = request([("items", .count, "name"), ("categories", .count, "category.name")])
        #expect(
            try store.context.fetchDictionaries(both) == [["items": .integer(5), "categories": .integer(2)]])
    }

    // MARK: - Values

    /// Each attribute's valid functions, with their results over two objects with values and one without.
    static let values: [(String, [AttributeValue], [FetchExpression.Function: AttributeValue])] = [
        (
            "small", [.integer(-3), .integer(8)],
            [
                .sum: .double(5), .average: .double(2.5), .minimum: .integer(-3), .maximum: .integer(8),
                .count: .integer(2),
            ]
        ),
        (
            "large", [.integer(.max), .integer(.max)],
            [
                .sum: .double(0x1p64), .average: .double(0x1p63), .minimum: .integer(.max), .maximum: .integer(.max),
                .count: .integer(2),
            ]
        ),
        (
            "double", [.double(0.25), .double(-1)],
            [
                .sum: .double(-0.75), .average: .double(-0.375), .minimum: .double(-1), .maximum: .double(0.25),
                .count: .integer(2),
            ]
        ),
        (
            "decimal", [.decimal(Decimal(string: "0.1")!), .decimal(7)],
            [
                .sum: .double(7.1), .average: .double(3.55), .minimum: .decimal(Decimal(string: "0.1")!),
                .maximum: .decimal(7), .count: .integer(2),
            ]
        ),
        (
            "date",
            [.date(Date(timeIntervalSinceReferenceDate: 5)), .date(Date(timeIntervalSinceReferenceDate: -7.5))],
            [
                .minimum: .date(Date(timeIntervalSinceReferenceDate: -7.5)),
                .maximum: .date(Date(timeIntervalSinceReferenceDate: 5)), .count: .integer(2),
            ]
        ),
        (
            "text", [.string("Äpfel"), .string("Zebra\0🦓")],
            [.minimum: .string("Zebra\0🦓"), .maximum: .string("Äpfel"), .count: .integer(2)]
        ),
        ("flag", [.boolean(true), .boolean(false)], [.count: .integer(2)]),
        ("data", [.binary(Data()), .binary(Data([1]))], [.count: .integer(2)]),
        ("blob", [.binary(Data(repeating: 7, count: 5000)), .binary(Data())], [.count: .integer(2)]),
    ]

    private func makeStore() throws -> TestStore {
        try TestStore([AttributeTests.entity], classes: [Everything.self]) { $0.externalStorageThreshold = 1000 }
    }

    @Test("returns values of the right type, and rejects functions that the type lacks", arguments: values)
    func types(
        _ attribute: String, _ values: [AttributeValue], _ expected: [FetchExpression.Function: AttributeValue]
    ) throws {
        let store = try makeStore()
        for value in values + [nil] {
            Everything(context: store.context).setValue(value.map { $0 as any Sendable }, forKey: attribute)
        }
        try store.context.save()
        for function in Function.allCases {
            guard let expected = expected[function] else {
                let message = performing {
                    _ = try value(function, attribute, of: Everything.self, in: store)
                }
                #expect(message.hasPrefix("Fetching Everything: \(function.rawValue) takes "))
                continue
            }
            #expect(try value(function, attribute, of: Everything.self, in: store) == expected, "\(function)")
        }
    }

    @Test("returns zero for the sum and count of no values, and omits the other functions")
    func nothing() throws {
        let store = try makeStore()
        let all = request(Function.allCases.map { ("\($0)", $0, "middle") }, of: Everything.self)
        let empty: [[String: AttributeValue]] = [["sum": .double(0), "count": .integer(0)]]
        #expect(try store.context.fetchDictionaries(all) == empty)
        _ = Everything(context: store.context)
        try store.context.save()
        #expect(try store.context.fetchDictionaries(all) == empty)
    }

    @Test("returns what the program would compute over the fetched objects", arguments: [0, 1, 2, 3, 4] as [UInt64])
    func sameAsInMemory(seed: UInt64) throws {
        let store = try TestStore()
        try store.fill(items: 200, categories: 7)
        let items = try store.context.fetch(FetchRequest<Item>())
        for (place, item) in items.enumerated() {
            let random = (UInt64(place) &+ seed &* 1000) &* 0x9e37_79b9_7f4a_7c15
            item.amount = Int(random >> 40) - 4_000_000
            item.price = random % 5 == 0 ? nil : Double(random >> 32)
        }
        try store.context.save()
        let predicate = PropertyPath("category.name") != "Category 3" && PropertyPath("amount") > 0
        let selected = try store.context.fetch(FetchRequest<Item>(predicate: predicate))
        let (amounts, prices) = (selected.map(\.amount), selected.compactMap(\.price))
        #expect(amounts.count > 50 && prices.count < amounts.count)
        let found = try store.context.fetchDictionaries(
            request(
                [
                    ("sum", .sum, "amount"), ("least", .minimum, "amount"), ("greatest", .maximum, "amount"),
                    ("priced", .count, "price"), ("all", .count, "amount"), ("prices", .sum, "price"),
                ], where: predicate))[0]
        #expect(found["sum"] == .double(Double(amounts.reduce(0, +))))
        #expect(found["least"] == amounts.min().map { .integer(Int64($0)) })
        #expect(found["greatest"] == amounts.max().map { .integer(Int64($0)) })
        #expect(found["priced"] == .integer(Int64(prices.count)))
        #expect(found["all"] == .integer(Int64(amounts.count)))
        #expect(found["prices"] == .double(prices.reduce(0, +)))
    }

    // MARK: - Selection

    @Test("includes or excludes subentities as requested")
    func subentities() throws {
        let store = try Household.makeStore(isRecording: true)
        for name in ["Ada", "Bo"] { Animal(context: store.context).name = name }
        for name in ["Cleo", "Dot", "Eve"] { Dog(context: store.context).name = name }
        try store.context.save()
        let before = store.statements().count
        var request = request([("last", .maximum, "name"), ("count", .count, "name")], of: Animal.self)
        #expect(try store.context.fetchDictionaries(request) == [["last": .string("Eve"), "count": .integer(5)]])
        request.includesSubentities = false
        #expect(try store.context.fetchDictionaries(request) == [["last": .string("Bo"), "count": .integer(2)]])
        #expect(try value(.count, "name", of: Dog.self, in: store) == .integer(3))
        #expect(
            Array(store.statements()[before...]) == [
                "SELECT max( t0.ZNAME), COUNT( t0.ZNAME) FROM ZANIMAL t0",
                "SELECT max( t0.ZNAME), COUNT( t0.ZNAME) FROM ZANIMAL t0 WHERE  t0.Z_ENT = ?",
                "SELECT COUNT( t0.ZNAME) FROM ZANIMAL t0 WHERE  t0.Z_ENT = ?",
            ])
    }

    @Test("uses saved values only, and loads no objects")
    func saved() throws {
        let store = try TestStore()
        try store.fill(items: 2)
        let item = Item(context: store.context)
        item.name = "New"
        item.price = 100
        #expect(try value(.sum, "price", of: Item.self, in: store) == .double(1))
        #expect(store.context.registeredObjects.count == 1)
        try store.context.save()
        #expect(try value(.sum, "price", of: Item.self, in: store) == .double(101))
    }

    // MARK: - The trace and the log

    @Test("is recorded as one fetch with a result type of its own")
    func event() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 3)
        let line: UInt = #line + 1
        _ = try store.context.fetchDictionaries(request([("a", .sum, "price"), ("b", .maximum, "name")]))
        let event = try #require(store.events.last { $0.kind == .fetch })
        guard case .fetch(let fetch) = event.detail else {
            Issue.record("The event is no fetch.")
            return
        }
        #expect(fetch.resultType == .dictionaries)
        #expect([fetch.rows, fetch.trips] == [1, 1])
        #expect(fetch.bytes == 8 + 6)
        let dictionary = store.dictionary
        #expect(
            dictionary.shape(fetch.shape)
                == ShapeEntry(
                    entity: "Item", resultType: "dictionaries", expressions: ["sum:(price)", "max:(name)"], terms: []))
        #expect(dictionary.site(event.site)?.line == Int(line))
        let reads = store.events.filter { inside in
            guard case .sql(let statement) = inside.detail else { return false }
            return inside.parent == event.id && statement.type == .read
        }
        #expect(reads.count == 1)
        #expect(store.events.allSatisfy { $0.kind != .use }, "there are no objects to use")
    }

    @Test("is logged as Core Data logs it")
    func log() throws {
        let store = try TestStore(level: 3)
        try store.fill(items: 3)
        _ = store.lines.take()
        _ = try store.context.fetchDictionaries(
            request([("all", .sum, "price"), ("last", .maximum, "name")], where: PropertyPath("price") > 0))
        let sql = "SELECT total( t0.ZPRICE), max( t0.ZNAME) FROM ZITEM t0 WHERE  t0.ZPRICE > ?"
        #expect(
            store.lines.take() == [
                "CoreData: annotation: fetch # at FaultlineStoreTests/AggregateTests.swift:# in log()",
                "CoreData: sql: " + sql, "CoreData: details: SQLite bind[0] = 0",
                "CoreData: annotation: sql connection fetch time: #s",
                "CoreData: annotation: fetch using NSSQLiteStatement <#> on entity 'Item' with sql text '\(sql) ' returned 1 rows with values: (\n    {\n    all = 3.0;\n    last = \"Item 2\";\n}\n)",
                "CoreData: annotation: total fetch execution time: #s for 1 rows.",
            ])
    }

    // MARK: - Errors

    static let wrong: [([(String, FetchExpression.Function, String)], String)] = [
        ([], "propertiesToFetch is empty, so the dictionaries would be too; add an expression."),
        ([("", .sum, "price")], "sum:(price) has no name to serve as its key in the dictionary; give it one."),
        (
            [("a", .sum, "price"), ("a", .count, "name")],
            "two expressions in propertiesToFetch are named 'a'; give each a unique name."
        ),
        ([("a", .sum, "name")], "sum: takes numbers, but 'name' is of type String; name another attribute."),
        ([("a", .average, "name")], "average: takes numbers, but 'name' is of type String; name another attribute."),
        (
            [("a", .sum, "category")],
            "sum: takes attributes, but 'category' is a relationship; name an attribute of its destination."
        ),
        ([("a", .sum, "self")], "sum: takes attributes, but 'self' is the object itself."),
        (
            [("a", .sum, "tags.label")],
            "sum: takes numbers, but 'tags.label' is of type String; name another attribute."
        ),
        (
            [("a", .sum, "prize")],
            "'prize' is not a valid key path because Item has no property 'prize'; correct the key path."
        ),
    ]

    @Test("rejects expressions that are incomplete, ambiguous or invalid", arguments: wrong)
    func errors(_ expressions: [(String, FetchExpression.Function, String)], _ message: String) throws {
        let store = try TestStore()
        let request = request(expressions.map { (name: $0.0, function: $0.1, keyPath: $0.2) })
        #expect(performing { _ = try store.context.fetchDictionaries(request) } == "Fetching Item: \(message)")
    }

    @Test("rejects attribute types that a function cannot order or add up")
    func wrongTypes() throws {
        let store = try makeStore()
        for (function, attribute, message) in [
            (.sum, "date", "sum: takes numbers, but 'date' is of type Date; name another attribute."),
            (
                .minimum, "data",
                "min: takes numbers, dates and text, but 'data' is of type Binary; name another attribute."
            ),
            (.count, "note", "'note' is transient and not in the store; use a stored attribute."),
        ] as [(Function, String, String)] {
            #expect(
                performing { _ = try value(function, attribute, of: Everything.self, in: store) }
                    == "Fetching Everything: \(message)")
        }
    }

    @Test("is rejected by fetch, and a request for objects is rejected by fetchDictionaries")
    func resultTypes() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 2)
        var request = request([("sum", .sum, "price")])
        #expect(
            performing { _ = try store.context.fetch(request) }
                == "Fetching Item: the request is for dictionaries, and fetch returns objects; call fetchDictionaries, or set resultType to managedObject."
        )
        #expect(try store.context.count(for: request) == 2)
        #expect(try store.context.fetchObjectIDs(request).count == 2)
        request.resultType = .managedObject
        #expect(
            performing { _ = try store.context.fetchDictionaries(request) }
                == "Fetching Item: the request is for objects, and fetchDictionaries returns dictionaries; call fetch, or set resultType to dictionary."
        )
        #expect(
            performing { _ = try store.context.fetch(request) }
                == "Fetching Item: 'sum' in propertiesToFetch is not a stored attribute or to-one relationship of the entity, and objects hold nothing else; remove it, or set resultType to dictionary."
        )
        request.resultType = .dictionary
        for change in [{ $0.fetchLimit = 1 }, { $0.fetchOffset = 1 }] as [(inout FetchRequest<Item>) -> Void] {
            var part = request
            change(&part)
            #expect(
                performing { _ = try store.context.fetchDictionaries(part) }
                    == "Fetching Item: fetchLimit and fetchOffset do not apply, because aggregate functions return a single dictionary; remove them."
            )
        }
        request = self.request([("tags", .count, "tags")])
        request.fetchLimit = 1
        #expect(
            performing { _ = try store.context.fetchDictionaries(request) }
                == "Fetching Item: fetchLimit and fetchOffset do not apply, because aggregate functions return a single dictionary; remove them, or add 'self' to propertiesToFetch for a dictionary of each object."
        )
        request.propertiesToFetch.append("self")
        #expect(try store.context.fetchDictionaries(request).map { $0["tags"] } == [0])
    }
}
