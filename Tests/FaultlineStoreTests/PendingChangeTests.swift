import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("Fetches include unsaved changes")
struct PendingChangeTests {
    private func items(_ store: TestStore, _ request: FetchRequest<Item>) throws -> [String] {
        try store.context.fetch(request).map(\.name)
    }

    private static let byName = [FetchSortDescriptor.ascending("name")]

    @Test("Inserted, changed and deleted objects are matched by their unsaved values")
    func changes() throws {
        let store = try TestStore()
        try store.fill(items: 4)
        let all = try store.context.fetch(FetchRequest<Item>(sortDescriptors: Self.byName)).map { $0 }
        let new = Item(context: store.context)
        new.name = "Item 1b"
        new.price = 9
        all[0].name = "Renamed"
        store.context.delete(all[2])

        #expect(
            try items(store, FetchRequest(sortDescriptors: Self.byName)) == ["Item 1", "Item 1b", "Item 3", "Renamed"])
        #expect(try items(store, FetchRequest(predicate: PropertyPath("name") == "Item 0")).isEmpty)
        #expect(try items(store, FetchRequest(predicate: PropertyPath("name") == "Renamed")) == ["Renamed"])
        #expect(try items(store, FetchRequest(predicate: PropertyPath("price") > 2)).sorted() == ["Item 1b", "Item 3"])
        #expect(try store.context.count(for: FetchRequest<Item>()) == 4)
        #expect(try store.context.count(for: FetchRequest<Item>(predicate: PropertyPath("price") > 2)) == 2)
        #expect(try store.context.fetch(FetchRequest<Item>(predicate: PropertyPath("price") == 9))[0] === new)
        let ids = try store.context.fetchObjectIDs(FetchRequest<Item>(sortDescriptors: Self.byName))
        #expect(ids == [all[1], new, all[3], all[0]].map(\.objectID))
        #expect(ids[1].isTemporaryID)

        var stored = FetchRequest<Item>(sortDescriptors: Self.byName)
        stored.includesPendingChanges = false
        #expect(try store.context.count(for: stored) == 4)
        #expect(
            try store.context.fetch(stored).map(\.objectID) == all.map(\.objectID),
            "the store's objects in the store's order")
        let other = store.container.newBackgroundContext()
        #expect(try other.count(for: FetchRequest<Item>()) == 4)
    }

    @Test("Limits, offsets and batches apply to the merged result")
    func limits() throws {
        let store = try TestStore()
        try store.fill(items: 10)
        let all = try store.context.fetch(FetchRequest<Item>(sortDescriptors: Self.byName)).map { $0 }
        for name in ["Item 00", "Item 55", "Item 99"] { Item(context: store.context).name = name }
        store.context.delete(all[1])
        all[9].name = "A"
        let expected = [
            "A", "Item 0", "Item 00", "Item 2", "Item 3", "Item 4", "Item 5", "Item 55", "Item 6", "Item 7", "Item 8",
            "Item 99",
        ]
        for batch in [0, 3] {
            for limit in [0, 1, 3, 20] {
                for offset in [0, 2, 11, 12, 30] {
                    let request = FetchRequest<Item>(
                        sortDescriptors: Self.byName, fetchLimit: limit, fetchOffset: offset, fetchBatchSize: batch)
                    let part = expected.dropFirst(offset).prefix(limit == 0 ? 100 : limit)
                    let found = try store.context.fetch(request)
                    #expect(found.map(\.name) == Array(part), "\(limit) from \(offset)")
                    #expect(found.count == part.count)
                    #expect(try store.context.count(for: request) == part.count)
                    #expect(try store.context.fetchObjectIDs(request) == found.objectIDs)
                }
            }
        }
    }

    @Test("A batched result keeps its new objects when they are saved")
    func batchesOverSave() throws {
        let store = try TestStore()
        try store.fill(items: 10)
        Item(context: store.context).name = "Item 3b"
        let found = try store.context.fetch(FetchRequest<Item>(sortDescriptors: Self.byName, fetchBatchSize: 2))
        #expect(found[4].name == "Item 3b")
        try store.context.save()
        #expect(found.map(\.name)[4] == "Item 3b")
        #expect(found[9].name == "Item 8")
        #expect(found[4].name == "Item 3b" && !found[4].objectID.isTemporaryID)
        #expect(found.objectIDs[4] == found[4].objectID)
    }

    @Test("New objects are matched by their relationships")
    func relationships() throws {
        let store = try TestStore()
        try store.fill(items: 2, categories: 1, tags: 1)
        let context = store.context
        let category = try context.fetch(FetchRequest<Category>())[0]
        let new = Category(context: context)
        new.name = "New"
        let item = Item(context: context)
        item.name = "Item 9"
        item.category = new
        let tag = try context.fetch(FetchRequest<Tag>())[0]
        item.tags.add(tag)
        #expect(try items(store, FetchRequest(predicate: PropertyPath("category") == new)) == ["Item 9"])
        #expect(try items(store, FetchRequest(predicate: PropertyPath("category.name") == "New")) == ["Item 9"])
        #expect(
            try context.count(for: FetchRequest<Item>(predicate: FetchPredicate(format: "ANY tags == %@", tag))) == 3)
        #expect(
            try context.fetch(FetchRequest<Category>(predicate: FetchPredicate(format: "%@ IN items", item)))[0] === new
        )
        #expect(
            try context.count(for: FetchRequest<Category>(predicate: FetchPredicate(format: "items.@count == 2"))) == 1)
        item.category = category
        #expect(
            try context.fetch(FetchRequest<Category>(predicate: FetchPredicate(format: "items.@count == 3")))[0]
                === category)
        #expect(
            try context.fetch(FetchRequest<Category>(predicate: FetchPredicate(format: "items.@count == 0")))[0] === new
        )
    }

    @Test("Subentities are included or excluded as requested")
    func subentities() throws {
        let store = try Household.makeStore()
        Animal(context: store.context).name = "a"
        try store.context.save()
        Dog(context: store.context).name = "d"
        Cat(context: store.context).name = "c"
        let byName = [FetchSortDescriptor.ascending("name")]
        #expect(try store.context.fetch(FetchRequest<Animal>(sortDescriptors: byName)).map(\.name) == ["a", "c", "d"])
        #expect(
            try store.context.fetch(FetchRequest<Animal>(sortDescriptors: byName, includesSubentities: false)).map(
                \.name) == ["a"])
        #expect(try store.context.fetch(FetchRequest<Dog>()).map(\.name) == ["d"])
        let mixed = try store.context.fetch(FetchRequest<Animal>(sortDescriptors: byName, fetchBatchSize: 2))
        #expect(mixed.map { type(of: $0) == Dog.self } == [false, false, true])
    }

    @Test("SQL excludes changed rows, and the fetch event counts the rows it returns")
    func statements() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 3)
        try store.context.fetch(FetchRequest<Item>(sortDescriptors: Self.byName))[0].name = "Z"
        let before = store.statements().count
        _ = try store.context.fetch(FetchRequest<Item>(sortDescriptors: Self.byName, fetchLimit: 2, fetchBatchSize: 5))
        _ = try store.context.count(for: FetchRequest<Item>(predicate: PropertyPath("price") >= 0))
        #expect(
            Array(store.statements()[before...]) == [
                "SELECT 0, t0.Z_PK, t0.ZNAME FROM ZITEM t0 WHERE  t0.Z_PK NOT IN (SELECT * FROM _Z_intarray0)  ORDER BY t0.ZNAME LIMIT 2",
                "SELECT COUNT(*) FROM ZITEM t0 WHERE ( t0.ZPRICE >= ? AND  t0.Z_PK NOT IN (SELECT * FROM _Z_intarray0))",
            ])
        let rows = store.events.compactMap { event -> UInt32? in
            guard case .fetch(let fetch) = event.detail else { return nil }
            return fetch.rows
        }
        #expect(rows.suffix(2) == [2, 3])
    }

    // MARK: - Same results as after a save

    private static let texts = [
        "", "Apple", "apple", "Äpfel", "äp", "A\u{308}pfel", "zoë", "ZOE", "*", "a?", "🎵 x", "100",
    ]

    /// Returns the format of a predicate over items, their attributes and their relationships.
    private static func format(_ random: inout RandomNumbers, depth: Int = 0) -> String {
        let text = { (random: inout RandomNumbers) in "'\(random.one(texts))'" }
        let number = { (random: inout RandomNumbers) in
            random.one(["0", "1", "2.5", "-3", "7", "1e1", "4 / 3", "2 ** 2"])
        }
        let order = { (random: inout RandomNumbers) in random.one(["==", "!=", "<", "<=", ">", ">="]) }
        let options = { (random: inout RandomNumbers) in random.one(["", "[c]", "[d]", "[cd]"]) }
        let search = { (random: inout RandomNumbers) in
            random.one(["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "==", "!=", "<", ">=", "IN"])
        }
        let numeric = { (random: inout RandomNumbers) in
            random.one([
                "price", "amount", "price * 2", "amount / 2", "amount % 3", "-price", "abs(price - 1)",
                "price + amount",
                "length(name)", "tags.@count", "floor(price)",
                "SUBQUERY(tags, $t, $t.label CONTAINS[c] 'a').@count", "TERNARY(price > 1, amount, price)",
                "amount & 3", "amount | 5 ^ 2", "~amount", "amount << 2 >> 1", "sqrt(price)",
            ])
        }
        let path = { (random: inout RandomNumbers) in
            random.one(["name", "category.name", "uppercase(name)", "canonical(name)"])
        }
        switch random.number(depth > 2 ? 9 : 13) {
        case 0, 1: return "\(numeric(&random)) \(order(&random)) \(number(&random))"
        case 2: return "\(numeric(&random)) \(order(&random)) \(numeric(&random))"
        case 3: return "\(path(&random)) \(search(&random))\(options(&random)) \(text(&random))"
        case 4:
            return
                "\(random.one(["ANY", "ALL", "NONE"])) tags.label \(search(&random))\(options(&random)) \(text(&random))"
        case 5:
            return
                "\(random.one(["price", "category", "category.name", "tags.@min.label"])) \(random.one(["==", "!="])) nil"
        case 6: return "\(numeric(&random)) BETWEEN {\(number(&random)), \(number(&random))}"
        case 7: return "\(path(&random)) IN {\(text(&random)), \(text(&random)), category.name}"
        case 8: return "\(text(&random)) IN tags.label"
        case 9: return "NOT (\(format(&random, depth: depth + 1)))"
        case 10: return "(\(format(&random, depth: depth + 1))) AND (\(format(&random, depth: depth + 1)))"
        case 11: return "(\(format(&random, depth: depth + 1))) OR (\(format(&random, depth: depth + 1)))"
        default: return "category.name MATCHES[c] '(a|ä).*' OR \(format(&random, depth: depth + 1))"
        }
    }

    private static func edit(_ store: TestStore, _ random: inout RandomNumbers, next: inout Int) throws {
        let context = store.context
        let categories = try context.fetch(FetchRequest<Category>(sortDescriptors: [.ascending("self")])).map { $0 }
        let tags = try context.fetch(FetchRequest<Tag>(sortDescriptors: [.ascending("self")])).map { $0 }
        let items = try context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("amount")])).map { $0 }
        let item: Item
        switch random.number(10) {
        case 0, 1, 2:
            item = Item(context: context)
            item.name = random.one(texts)
            item.amount = next
            next += 1
        case 3 where !items.isEmpty: return context.delete(random.one(items))
        default:
            guard !items.isEmpty else { return }
            item = random.one(items)
        }
        switch random.number(6) {
        case 0: item.name = random.one(texts)
        case 1: item.price = random.one([nil, 0, 1, 2.5, -3, 7, 1e10])
        case 2: item.category = random.number(3) == 0 ? nil : random.one(categories)
        case 3: item.tags.add(random.one(tags))
        case 4: item.tags.remove(random.one(tags))
        default:
            item.amount = next
            next += 1
        }
    }

    @Test("Random fetches find the same objects before and after the save", arguments: 0..<12)
    func sameAsSaved(seed: Int) throws {
        let store = try TestStore()
        var random = RandomNumbers(seed: UInt64(seed))
        for text in Self.texts.prefix(5) { Category(context: store.context).name = text }
        for text in Self.texts.suffix(6) { Tag(context: store.context).label = text }
        Category(context: store.context).setValue(nil, forKey: "name")
        try store.context.save()
        var next = 0
        for _ in 0..<60 { try Self.edit(store, &random, next: &next) }
        try store.context.save()
        for _ in 0..<25 { try Self.edit(store, &random, next: &next) }
        #expect(store.context.hasChanges)

        let sorts: [[FetchSortDescriptor]] = [
            [.ascending("amount")], [.descending("name"), .ascending("amount")],
            [.ascending("category.name"), .descending("price"), .ascending("amount")],
        ]
        var requests: [(String, FetchRequest<Item>)] = []
        for _ in 0..<120 {
            let format = Self.format(&random)
            var request = FetchRequest<Item>(
                predicate: try FetchPredicate(format: format), sortDescriptors: random.one(sorts))
            if random.number(3) == 0 { request.fetchLimit = random.number(10) }
            if random.number(3) == 0 { request.fetchOffset = random.number(10) }
            if random.number(3) == 0 { request.fetchBatchSize = 1 + random.number(7) }
            requests.append((format, request))
        }
        let before = try requests.map { try store.context.fetch($0.1).map { $0 } }
        let counts = try requests.map { try store.context.count(for: $0.1) }
        try store.context.save()
        var selected = 0
        for (place, (format, request)) in requests.enumerated() {
            let after = try store.context.fetch(request).map { $0 }
            #expect(before[place] == after, "\(format)")
            #expect(counts[place] == after.count, "\(format)")
            selected += after.isEmpty ? 0 : 1
        }
        #expect(selected > 40)
    }
}
