import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Key-value coding")
struct KeyPathValueTests {
    /// Two categories with three items each, one of which has no price; a section for the first category.
    private func makeStore() throws -> (TestStore, first: FaultlineStoreTests.Category) {
        let store = try TestStore()
        try store.fill(items: 6, categories: 2, tags: 2)
        let context = store.context
        let categories = try context.fetch(
            FetchRequest<FaultlineStoreTests.Category>(sortDescriptors: [.ascending("name")]))
        let section = Section(context: context)
        section.title = "Front"
        categories[0].section = section
        for item in categories[0].items where item.name == "Item 2" { item.price = nil }
        try context.save()
        return (store, categories[0])
    }

    @Test("Values are read through to-one relationships, and are nil behind a missing object")
    func toOne() throws {
        let (store, first) = try makeStore()
        defer { withExtendedLifetime(store) {} }
        let item = try #require(first.items.first { $0.name == "Item 0" })
        #expect(item.value(forKeyPath: "name") as? String == "Item 0")
        #expect(item.value(forKeyPath: "category.section.title") as? String == "Front")
        #expect(item.value(forKeyPath: "category.section") as? Section === first.section)
        #expect(item.value(forKeyPath: "category.section.category.name") as? String == "Category 0")
        item.category = nil
        #expect(item.value(forKeyPath: "category.section.title") == nil)
        #expect(item.value(forKeyPath: "category.items.@count") == nil)
    }

    @Test("A to-many relationship yields sets, and arrays with NSNull where it is ordered")
    func collections() throws {
        let (store, first) = try makeStore()
        defer { withExtendedLifetime(store) {} }
        #expect(first.value(forKeyPath: "items") as? Set<Item> == Set(first.items))
        #expect(first.value(forKeyPath: "items.name") as? Set<String> == ["Item 0", "Item 2", "Item 4"])
        #expect(first.value(forKeyPath: "items.price") as? Set<Double> == [0, 4])
        #expect(first.value(forKeyPath: "items.category") as? Set<FaultlineStoreTests.Category> == [first])
        #expect(first.value(forKeyPath: "items.tags.label") as? Set<Set<String>> == [["Tag 0"]])

        let lists = try TestStore(Playlist.entities, classes: [Playlist.self, Entry.self, Song.self])
        let playlist = Playlist(context: lists.context)
        for title in ["b", "a", nil] {
            let entry = Entry(context: lists.context)
            entry.setValue(title, forKey: "title")
            playlist.entries.add(entry)
        }
        #expect(playlist.value(forKeyPath: "entries") as? [Entry] == playlist.entries.map { $0 })
        let titles = try #require(playlist.value(forKeyPath: "entries.title") as? [Any])
        #expect(titles.count == 3 && titles[0] as? String == "b" && titles[1] as? String == "a")
        #expect(titles[2] is NSNull)
        #expect(playlist.value(forKeyPath: "entries.@distinctUnionOfObjects.title") as? [String] == ["b", "a"])
    }

    @Test("Collection operators reduce the values, also through several relationships")
    func operators() throws {
        let (store, first) = try makeStore()
        defer { withExtendedLifetime(store) {} }
        #expect(first.value(forKeyPath: "items.@count") as? Int == 3)
        #expect(first.value(forKeyPath: "items.tags.@count") as? Int == 3)
        #expect(first.value(forKeyPath: "items.@sum.price") as? Double == 4)
        #expect(first.value(forKeyPath: "items.@sum.amount") as? Double == 3)
        #expect(first.value(forKeyPath: "items.@avg.price") as? Double == 4.0 / 3, "A missing value counts as 0.")
        #expect(first.value(forKeyPath: "items.@min.price") as? Double == 0)
        #expect(first.value(forKeyPath: "items.@max.name") as? String == "Item 4")
        #expect(first.value(forKeyPath: "items.@max.category.name") as? String == "Category 0")
        #expect(first.value(forKeyPath: "items.@distinctUnionOfObjects.tags.label") as? [String] == ["Tag 0"])
        #expect(first.value(forKeyPath: "items.@distinctUnionOfObjects.category") as? [ManagedObject] == [first])
        let empty = FaultlineStoreTests.Category(context: first.managedObjectContext)
        #expect(empty.value(forKeyPath: "items.@count") as? Int == 0)
        #expect(empty.value(forKeyPath: "items.@sum.price") as? Double == 0)
        #expect(empty.value(forKeyPath: "items.@avg.price") as? Double == 0)
        #expect(empty.value(forKeyPath: "items.@max.price") == nil)
    }

    @Test("Decimals are added and compared exactly, and elements of composite attributes are read and set")
    func decimalsAndElements() throws {
        let store = try TestStore(
            [
                EntityDescription(
                    "Account",
                    relationships: [
                        RelationshipDescription("entries", to: "Amount", inverse: "account", isToMany: true)
                    ]),
                EntityDescription(
                    "Amount", attributes: [AttributeDescription("value", .decimal)],
                    relationships: [RelationshipDescription("account", to: "Account", inverse: "entries")]),
            ], classes: [])
        let account = store.context.insertNewObject(forEntityName: "Account")
        let values = ["0.1", "0.2", "12345678901234567890.12"].map { Decimal(string: $0) }
        account.setValue(
            values.map { value in
                let amount = store.context.insertNewObject(forEntityName: "Amount")
                amount.setValue(value, forKey: "value")
                return amount
            }, forKey: "entries")
        #expect(
            account.value(forKeyPath: "entries.@sum.value") as? Decimal == Decimal(string: "12345678901234567890.42"))
        #expect(
            account.value(forKeyPath: "entries.@avg.value") as? Decimal == Decimal(string: "12345678901234567890.42")!
                / 3)
        #expect(account.value(forKeyPath: "entries.@max.value") as? Decimal == values[2])
        #expect(account.value(forKeyPath: "entries.@min.value") as? Decimal == values[0])
    }

    @Test("Values are set through relationships, for each object behind a to-many relationship")
    func setting() throws {
        let (store, first) = try makeStore()
        defer { withExtendedLifetime(store) {} }
        let item = try #require(first.items.first)
        item.setValue("Back", forKeyPath: "category.section.title")
        #expect(first.section?.title == "Back")
        first.setValue(7, forKeyPath: "items.amount")
        #expect(first.items.map(\.amount) == [7, 7, 7])
        first.setValue(nil, forKeyPath: "section")
        #expect(first.section == nil)
        item.setValue("Nothing", forKeyPath: "category.section.title")
        #expect(first.value(forKeyPath: "section.title") == nil)
    }

    @Test("Several values are read and set as a dictionary, in which NSNull stands for no value")
    func dictionaries() throws {
        let (store, first) = try makeStore()
        let item = try #require(first.items.first { $0.name == "Item 2" })
        let values = item.dictionaryWithValues(forKeys: ["name", "price", "category", "tags"])
        #expect(Set(values.keys) == ["name", "price", "category", "tags"])
        #expect(values["name"] as? String == "Item 2" && values["price"] is NSNull)
        #expect(values["category"] as? ManagedObject === first)
        #expect(values["tags"] as? Set<ManagedObject> == Set(item.tags))
        let copy = Item(context: store.context)
        copy.price = 3
        copy.setValuesForKeys(values)
        #expect(copy.name == "Item 2" && copy.price == nil && copy.category === first)
        #expect(Set(copy.tags) == Set(item.tags))
    }

    @Test("A key path ends the program where a key is needed, and so does one without a meaning")
    func traps() async throws {
        func sentence(_ result: ExitTest.Result?) -> String {
            String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        }
        let key = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Item(context: try TestStore().context).value(forKey: "category.name")
        }
        #expect(
            sentence(key).contains(
                "Entity 'Item' has no property 'category.name'; use value(forKeyPath:) or setValue(_:forKeyPath:) for a key path."
            ))
        let past = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Item(context: try TestStore().context).value(forKeyPath: "name.length")
        }
        #expect(
            sentence(past).contains(
                "'name.length' continues past 'name', which is an attribute of 'Item'; correct the key path."))
        let unknown = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let item = Item(context: try TestStore().context)
            item.category = FaultlineStoreTests.Category(context: item.managedObjectContext)
            _ = item.value(forKeyPath: "category.nmae")
        }
        #expect(
            sentence(unknown).contains(
                "'category.nmae' is not a valid key path because 'Category' has no property 'nmae'; correct the key path."
            ))
        let unsupported = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Item(context: try TestStore().context).value(forKeyPath: "tags.@median.label")
        }
        #expect(
            sentence(unsupported).contains(
                "'tags.@median.label' uses @median, which key paths do not support; use @count, @sum, @avg, @min, @max or @distinctUnionOfObjects."
            ))
        let computed = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Item(context: try TestStore().context).setValue(3, forKeyPath: "tags.@count")
        }
        #expect(
            sentence(computed).contains(
                "'tags.@count' cannot be set, because @count computes a value; name a property."))
    }
}
