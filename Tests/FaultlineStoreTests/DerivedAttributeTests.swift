import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation
import SharedData
import Testing

@Suite("The store maintains derived attributes")
struct DerivedAttributeTests {
    private static func derived(
        _ name: String, _ type: AttributeType, _ expression: String
    ) -> AttributeDescription {
        AttributeDescription(name, type, derivationExpression: expression)
    }

    /// Entities by number: 1 Book, 2 Novel, 3 Shelf, 4 Tag.
    private static let entities = [
        EntityDescription(
            "Shelf",
            attributes: [
                AttributeDescription("name", .string), derived("count", .integer64, "books.@count"),
                derived("grams", .integer64, "books.@sum.grams"), derived("worth", .double, "books.@sum.price"),
            ], relationships: [RelationshipDescription("books", to: "Book", inverse: "shelf", isToMany: true)]),
        EntityDescription(
            "Book",
            attributes: [
                AttributeDescription("title", .string), AttributeDescription("grams", .integer32, defaultValue: 0),
                AttributeDescription("price", .double), derived("key", .string, "canonical:(title)"),
                derived("capitals", .string, "uppercase:(title)"), derived("heading", .string, "title"),
                derived("place", .string, "shelf.name"), derived("placeKey", .string, "lowercase:(shelf.name)"),
                derived("tagCount", .integer64, "tags.@count"), derived("tagWeight", .integer64, "tags.@sum.weight"),
            ],
            relationships: [
                RelationshipDescription("shelf", to: "Shelf", inverse: "books"),
                RelationshipDescription("tags", to: "Tag", inverse: "books", isToMany: true),
            ]),
        EntityDescription(
            "Novel", parent: "Book",
            attributes: [AttributeDescription("hero", .string), derived("heroKey", .string, "canonical:(hero)")]),
        EntityDescription(
            "Tag", attributes: [AttributeDescription("weight", .integer64, defaultValue: 1)],
            relationships: [RelationshipDescription("books", to: "Book", inverse: "tags", isToMany: true)]),
    ]

    private func makeStore(isRecording: Bool = false) throws -> TestStore {
        try TestStore(Self.entities, classes: [], isRecording: isRecording)
    }

    @Test("A save computes each kind of expression, and objects read the result afterward")
    func kinds() throws {
        let store = try makeStore()
        let context = store.context
        let book = context.insertNewObject(forEntityName: "Novel")
        book["title"] = "Éclair Bleu"
        book["hero"] = "Zoë"
        book["grams"] = 300
        book["price"] = 2.5
        let shelf = context.insertNewObject(forEntityName: "Shelf")
        shelf["name"] = "Top LEFT"
        book["shelf"] = shelf
        let tag = context.insertNewObject(forEntityName: "Tag")
        tag["weight"] = 4
        book["tags"] = [tag]
        #expect(book["key"] == nil && shelf["count"] == nil)
        try context.save()
        func texts(_ names: String...) -> [String?] { names.map { book[$0] as? String } }
        #expect(
            texts("key", "capitals", "heading", "place", "placeKey", "heroKey") == [
                "eclair bleu", "ÉCLAIR BLEU", "Éclair Bleu", "Top LEFT", "top left", "zoe",
            ])
        func numbers() -> [Double] {
            let values = [shelf["count"], shelf["grams"], book["tagCount"], book["tagWeight"]]
            return values.map { Double($0 as? Int64 ?? -1) } + [shelf["worth"] as? Double ?? -1]
        }
        #expect(numbers() == [1, 300, 1, 4, 2.5])

        shelf["name"] = nil
        book["title"] = "B"
        book["grams"] = 100
        tag["weight"] = 7
        try context.save()
        #expect(texts("key", "capitals", "heading", "place", "placeKey") == ["b", "B", "B", nil, nil])
        #expect(numbers() == [1, 100, 1, 7, 2.5])

        let other = context.insertNewObject(forEntityName: "Shelf")
        other["name"] = "Floor"
        book["shelf"] = other
        book["tags"] = [ManagedObject]()
        try context.save()
        #expect(texts("place", "placeKey") == ["Floor", "floor"])
        #expect(numbers() == [0, 0, 0, 0, 0])
        #expect(other["count"] as? Int64 == 1)
        context.delete(other)
        try context.save()
        #expect(texts("place", "placeKey") == [nil, nil])
        let read = try store.container.newBackgroundContext().existingObject(with: book.objectID)
        #expect(read["key"] as? String == "b" && read["place"] == nil)
    }

    @Test("now() gives the time when an object was last saved")
    func now() throws {
        let store = try TestStore(
            [
                EntityDescription(
                    "A", attributes: [AttributeDescription("x", .integer64), Self.derived("saved", .date, "now()")])
            ], classes: [])
        let object = store.context.insertNewObject(forEntityName: "A")
        let before = Date()
        try store.context.save()
        let first = try #require(object["saved"] as? Date)
        // SQLite's clock has a resolution of one millisecond.
        #expect(first >= before.addingTimeInterval(-0.002) && first <= Date().addingTimeInterval(0.002))
        _ = try store.sql("UPDATE ZA SET ZSAVED = 5")
        object["x"] = 1
        try store.context.save()
        #expect(try #require(object["saved"] as? Date) >= first)
    }

    @Test("After random edits, every derived value matches its expression")
    func random() throws {
        let store = try makeStore()
        let context = store.context
        var random = SplitMix(state: 3)
        var objects: [String: [ManagedObject]] = [:]
        func pick(_ entity: String) -> ManagedObject? { objects[entity]?.randomElement(using: &random) }
        for _ in 0..<60 {
            for _ in 0...random.next(6) {
                let book = pick("Book")
                switch random.next(9) {
                case 0, 1:
                    let entity = ["Book", "Shelf", "Tag", "Novel"][random.next(4)]
                    let made = context.insertNewObject(forEntityName: entity)
                    objects[entity == "Novel" ? "Book" : entity, default: []].append(made)
                case 2: pick("Shelf")?["name"] = ["Ä", "b", nil][random.next(3)]
                case 3: book?["title"] = ["É", "x", nil][random.next(3)]
                case 4: book?["grams"] = random.next(100)
                case 5: book?["price"] = random.next(3) == 0 ? nil : Double(random.next(1000)) / 7
                case 6: book?["shelf"] = random.next(4) == 0 ? nil : pick("Shelf")
                case 7:
                    guard let tag = pick("Tag"), let tags = book?["tags"] as? ToMany<ManagedObject> else { continue }
                    tag["weight"] = random.next(9)
                    if tags.contains(tag) { tags.remove(tag) } else { tags.add(tag) }
                default:
                    let entity = ["Book", "Shelf", "Tag"][random.next(3)]
                    guard objects[entity, default: []].count > 3 else { continue }
                    context.delete(objects[entity]!.remove(at: random.next(objects[entity]!.count)))
                }
            }
            try context.save()
            // The values that the objects show, and those that a new context reads.
            try compare(objects.values.flatMap { $0 })
            let fresh = try store.foreignContext([])
            for entity in ["Book", "Shelf"] {
                try compare(try fresh.fetch(FetchRequest<ManagedObject>(entityName: entity)).map { $0 })
            }
        }
        #expect((objects["Book"]?.count ?? 0) > 3)
    }

    private func compare(_ objects: [ManagedObject]) throws {
        for object in objects where object.entityName != "Tag" {
            guard object.entityName == "Shelf" else {
                let (title, place) = (object["title"] as? String, object["shelf"] as? ManagedObject)
                let tags = try #require(object["tags"] as? ToMany<ManagedObject>)
                #expect(object["key"] as? String == (title == "É" ? "e" : title))
                #expect(object["heading"] as? String == title)
                #expect(object["place"] as? String == place?["name"] as? String)
                #expect(object["placeKey"] as? String == (place?["name"] as? String)?.lowercased())
                #expect(object["tagCount"] as? Int64 == Int64(tags.count))
                #expect(object["tagWeight"] as? Int64 == tags.reduce(0) { $0 + ($1["weight"] as? Int64 ?? 0) })
                continue
            }
            let books = try #require(object["books"] as? ToMany<ManagedObject>)
            #expect(object["count"] as? Int64 == Int64(books.count))
            #expect(object["grams"] as? Int64 == books.reduce(0) { $0 + ($1["grams"] as? Int64 ?? 0) })
            let worth = books.reduce(0) { $0 + ($1["price"] as? Double ?? 0) }
            #expect(abs((object["worth"] as? Double ?? -1) - worth) < 1e-9)
        }
    }

    @Test("Setting a derived attribute makes the save fail")
    func set() throws {
        let store = try makeStore()
        let shelf = store.context.insertNewObject(forEntityName: "Shelf")
        shelf["count"] = 3
        #expect(
            performing { try store.context.save() }
                == "Saving Shelf \(shelf.objectID): 'count' is derived by the store and cannot be set; undo the change."
        )
    }

    @Test(
        "Triggers for counts are identical to Core Data's", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func triggers() throws {
        let theirs = try SQLShell.run(
            "SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name", CoreDataFixture.books.copy())
        let url = try TestStore.makeFolder().appendingPathComponent("Test.sqlite")
        _ = try PersistentContainer(
            name: "Test", managedObjectModel: CoreDataFixture.books.loadModel(), storeURL: url)
        #expect(theirs.count == 5)
        #expect(try SQLShell.run("SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name", url) == theirs)
    }

    @Test(
        "Creating a store with an expression that it cannot compute throws an error",
        arguments: [
            "price * 2", "books.@max.price", "missing.@count", "shelf", "uppercase:(grams)", "a.b.c", "wrong",
            "now() + 1",
            "books.@sum.title", "", "self",
        ])
    func unsupported(_ expression: String) throws {
        var entities = Self.entities
        entities[1].attributes.append(Self.derived("wrong", .string, expression))
        let folder = try TestStore.makeFolder()
        let url = folder.appendingPathComponent("Test.sqlite")
        let model = try ManagedObjectModel(entities: entities)
        let error = try #require(throws: StoreError.self) {
            _ = try PersistentContainer(name: "Test", managedObjectModel: model, storeURL: url)
        }
        #expect(error.code == .unsupportedModel)
        #expect(
            error.message
                == "The store '\(url.path)' cannot derive 'Book.wrong' from '\(expression)'; use now(), an attribute of the entity or of a to-one relationship, one of these as canonical:, uppercase: or lowercase:, or the @count or @sum of a to-many relationship."
        )
    }

    @Test("A model with a different derivation expression is incompatible with the store")
    func otherExpression() throws {
        let store = try makeStore()
        var entities = Self.entities
        entities[1].attributes.removeAll { $0.name == "key" }
        entities[1].attributes.append(Self.derived("key", .string, "uppercase:(title)"))
        let model = try ManagedObjectModel(entities: entities)
        let error = try #require(throws: StoreError.self) {
            var description = PersistentStoreDescription(url: store.url)
            description.shouldMigrateStoreAutomatically = false
            _ = try PersistentContainer(name: "Test", managedObjectModel: model, storeDescription: description)
        }
        #expect(error.code == .incompatibleModel)
    }
}
