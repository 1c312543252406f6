import CSQLite
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("The trace records what the store does")
struct EventTests {
    private func details(_ store: TestStore, _ kind: EventKind) -> [TraceEvent] {
        store.events.filter { $0.kind == kind }
    }

    /// The statement that read rows last; one that ends an idle transaction can come after it at any time.
    private func lastRead(_ store: TestStore) -> TraceEvent.Statement? {
        store.events.reversed().lazy.compactMap { event -> TraceEvent.Statement? in
            guard case .sql(let statement) = event.detail, statement.type == .read else { return nil }
            return statement
        }.first
    }

    /// The statements that SQLite itself reports through the connection's trace hook.
    private final class Hook {
        var statements: [String] = []
    }

    @Test("The dictionary lists a fetched entity with all of its subentities")
    func entities() throws {
        let store = try Household.makeStore(isRecording: true)
        _ = try store.context.fetch(FetchRequest<Animal>())
        let dictionary = store.dictionary
        let entities = (0..<200 as Range<DictionaryID>).compactMap { dictionary.entity($0) }
        #expect(Set(entities.map(\.name)) == ["Animal", "Cat", "Dog"])
        #expect(entities.allSatisfy { $0.name == "Animal" || $0.root == "Animal" })
        let owner = entities.first { $0.name == "Dog" }?.properties.first { $0.name == "owner" }
        // An owner has several relationships back to animals.
        #expect(owner?.destination == "Person" && owner?.inverse == nil)
        _ = try store.context.fetch(FetchRequest<Person>())
        let again = store.dictionary
        let person = (0..<400 as Range<DictionaryID>).compactMap { again.entity($0) }.first { $0.name == "Person" }
        let inverses = person?.properties.filter { $0.type == "toMany" }.map { "\($0.name) \($0.inverse ?? "-")" }
        #expect(inverses == ["clubs -", "pets owner", "wards guardian"])
    }

    @Test("Deleting objects loads no related objects, and its faults are marked as caused by the deletion")
    func deletions() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 60, categories: 20, tags: 3)
        func faults(_ predicate: FetchPredicate, ids: Bool) throws -> [TraceEvent.Fault] {
            // A newly opened store has an empty row cache.
            let context = try PersistentContainer(
                name: "Again", managedObjectModel: store.container.managedObjectModel,
                storeDescription: store.container.persistentStoreDescription, classes: [Item.self],
                recorder: store.recorder
            ).newBackgroundContext()
            let begin = store.events.count
            if ids {
                for id in try context.fetchObjectIDs(FetchRequest<Item>(predicate: predicate)) {
                    context.delete(context.object(with: id))
                }
            } else {
                for item in try context.fetch(FetchRequest<Item>(predicate: predicate)) { context.delete(item) }
            }
            try context.save()
            return store.events.dropFirst(begin).compactMap { event in
                guard case .fault(let fault) = event.detail, fault.source == .store else { return nil }
                return fault
            }
        }
        let fetched = try faults(PropertyPath("price") < 30, ids: false)
        let dictionary = store.dictionary
        let entities = Set(fetched.map { dictionary.entity($0.entity)?.name })
        #expect(!entities.contains("Category"))
        #expect(fetched.filter { !$0.isDeleting } == [])
        let identified = try faults(PropertyPath("price") >= 30, ids: true)
        #expect(identified.filter { !$0.isDeleting } == [])
        #expect(try store.context.count(for: FetchRequest<Item>()) == 0)
    }

    @Test("The trace has one event for every statement that SQLite reports")
    func everyStatement() throws {
        // The hook belongs to a single connection.
        let store = try TestStore(isRecording: true) { $0.connectionPoolMaxSize = 1 }
        let hook = Hook()
        let coordinator = store.container.persistentStoreCoordinator
        let place = Unmanaged.passUnretained(hook).toOpaque()
        try coordinator.withConnection { connection in
            _ = sqlite3_trace_v2(
                connection, UInt32(SQLITE_TRACE_STMT),
                { _, hook, _, text in
                    let sql = String(cString: text!.assumingMemoryBound(to: CChar.self))
                    Unmanaged<Hook>.fromOpaque(hook!).takeUnretainedValue().statements.append(sql)
                    return 0
                }, place)
        }
        let begin = store.events.count
        try store.fill(items: 60, categories: 5, tags: 3)
        let context = store.container.newBackgroundContext()
        let items = try context.fetch(
            FetchRequest<Item>(
                predicate: PropertyPath("category.name") != "Category 1", sortDescriptors: [.ascending("name")],
                fetchBatchSize: 10, relationshipKeyPathsForPrefetching: ["category"]))
        for item in items { _ = (item.name, item.category?.items.count, item.tags.count) }
        _ = try context.count(for: FetchRequest<Tag>())
        _ = try context.fetchObjectIDs(FetchRequest<Category>())
        items[3].name = "Changed"
        context.delete(items[4])
        try context.save()
        context.refresh(items[5], mergeChanges: false)
        try coordinator.withConnection { _ = sqlite3_trace_v2($0, 0, nil, nil) }
        try coordinator.run("SELECT 1")

        // The recorder itself requests query plans; those are not statements of the program.
        let seen = hook.statements.filter { !$0.hasPrefix("EXPLAIN") }
        let dictionary = store.dictionary
        let recorded = store.events[begin...].compactMap { event -> String? in
            guard case .sql(let statement) = event.detail else { return nil }
            return dictionary.statement(statement.statement)?.sql
        }.filter { $0 != "SELECT 1" }
        let selects = seen.filter { $0.hasPrefix("SELECT") }
        #expect(selects.count > 20)
        #expect(recorded.filter { $0.hasPrefix("SELECT") }.sorted() == selects.sorted())
        #expect(
            recorded.filter { $0.hasPrefix("INSERT") || $0.hasPrefix("UPDATE") || $0.hasPrefix("DELETE") }.sorted()
                == seen.filter { $0.hasPrefix("INSERT") || $0.hasPrefix("UPDATE") || $0.hasPrefix("DELETE") }.sorted())
    }

    @Test("A fetch records its entity, shape, rows and call site, and contains its statement")
    func fetch() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 4)
        let line = #line + 1
        let items = try store.context.fetch(FetchRequest<Item>(predicate: PropertyPath("price") > 1, fetchLimit: 5))
        #expect(items.count == 2)
        let event = try #require(details(store, .fetch).last)
        guard case .fetch(let fetch) = event.detail else {
            Issue.record("The event is no fetch.")
            return
        }
        let dictionary = store.dictionary
        #expect(dictionary.entity(fetch.entity)?.name == "Item")
        #expect(
            dictionary.shape(fetch.shape)
                == ShapeEntry(
                    entity: "Item", predicate: "price > ?", isLimited: true, resultType: "objects",
                    terms: [.init(keyPath: "price", operation: ">")]))
        #expect([fetch.rows, fetch.trips, fetch.limit, fetch.cacheHits, fetch.cacheMisses] == [2, 1, 5, 2, 0])
        #expect(fetch.bytes == 2 * (8 + 8 + 8 + 6))
        #expect(dictionary.site(event.site)?.line == line)
        #expect(dictionary.site(event.site)?.file == "FaultlineStoreTests/EventTests.swift")
        #expect(dictionary.context(event.context)?.concurrency == "privateQueue")
        let child = try #require(store.events.last { $0.kind == .sql && $0.parent == event.id })
        guard case .sql(let statement) = child.detail else {
            Issue.record("The event is no sql.")
            return
        }
        #expect([statement.rows, statement.preparations] == [2, 1])
        #expect(statement.fullScanSteps == 3)
        #expect(statement.virtualMachineSteps > 10)
        #expect(dictionary.plan(statement.plan)?.rows.map(\.detail) == ["SCAN t0"])

        _ = try store.context.fetch(FetchRequest<Item>(predicate: PropertyPath("price") > 2, fetchLimit: 5))
        guard case .fetch(let again) = try #require(details(store, .fetch).last).detail else { return }
        #expect(again.shape == fetch.shape)
        #expect(again.parameters != fetch.parameters)
        #expect(try #require(lastRead(store)).preparations == 0)
    }

    @Test("A statement records how many texts it compared and how many matched")
    func textComparisons() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 20)
        func counts(_ predicate: FetchPredicate) throws -> [UInt32] {
            _ = try store.context.count(for: FetchRequest<Item>(predicate: predicate))
            let statement = try #require(lastRead(store))
            return [statement.textComparisons, statement.textMatches]
        }
        // Of "Item 0" to "Item 19", eleven contain a 1.
        let hasOne = PropertyPath("name").contains("1")
        #expect(try counts(hasOne) == [20, 11])
        #expect(try counts(hasOne && PropertyPath("price") < 10) == [20, 11])
        #expect(try counts(PropertyPath("price") < 10 && hasOne) == [10, 1])
        #expect(try counts(PropertyPath("price") < 10) == [0, 0])
        #expect(try counts(PropertyPath("name").like("item 1*", options: .caseInsensitive)) == [20, 11])
        #expect(try counts(PropertyPath("name").matches("Item 1.")) == [20, 10])
        #expect(try counts(.comparison("name", .equalTo, "ITEM 3", options: .caseInsensitive)) == [20, 1])
    }

    @Test("A fetch and a batch record the trips, rows and time of each prefetched key path")
    func prefetches() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 30, categories: 5, tags: 3)
        let fresh = try PersistentContainer(
            name: "Fresh", managedObjectModel: store.container.managedObjectModel, storeURL: store.url,
            classes: Groceries.classes, recorder: store.recorder)
        let context = fresh.newBackgroundContext()
        var request = FetchRequest<Item>(relationshipKeyPathsForPrefetching: ["category", "tags"])
        let all = try context.fetch(request)
        guard case .fetch(let fetch)? = details(store, .fetch).last?.detail else {
            Issue.record("The event is no fetch.")
            return
        }
        #expect(fetch.prefetches.map(\.path) == [0, 1] && fetch.prefetches.map(\.trips) == [1, 1])
        #expect(fetch.prefetches.map(\.rows)[0] == 5)
        #expect(fetch.prefetches.reduce(0) { $0 + $1.rows } == UInt64(fetch.prefetchedRows))
        #expect(fetch.prefetches.reduce(0) { $0 + $1.bytes } == fetch.prefetchedBytes)
        #expect(fetch.prefetches.allSatisfy { $0.duration > 0 })
        request.fetchBatchSize = 10
        let batched = try context.fetch(request)
        withExtendedLifetime(all) { _ = batched[0].name }
        guard case .batch(let batch)? = details(store, .batch).last?.detail else {
            Issue.record("The event is no batch.")
            return
        }
        // The categories are in the row cache, so they are looked up rather than read.
        #expect(batch.prefetches.map(\.path) == [0, 1] && batch.prefetches.map(\.trips) == [0, 1])
        #expect(batch.prefetches.map(\.rows) == [0, UInt64(batch.prefetchedRows)])
        #expect(batch.prefetches.allSatisfy { $0.duration > 0 })
    }

    @Test("An object with at least 16 KiB of data records its release, and so does its fetch result")
    func releases() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 4)
        let names = ["small", "large", "held", "kept"]
        let items = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        for (item, name) in zip(items, names) {
            item.name = name == "small" ? name : name + String(repeating: "x", count: 1 << 14)
        }
        try store.context.save()
        store.context.reset()
        let begin = store.events.count
        var held: [Item] = []
        func read() throws {
            let found = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("price")]))
            for (place, item) in found.enumerated() {
                _ = item.name
                if place >= 2 { held.append(item) }
                if place == 2 { store.context.refresh(item, mergeChanges: false) }
            }
        }
        try read()
        let events = store.events[begin...]
        let faults = events.compactMap { event -> (id: EventID, fault: TraceEvent.Fault)? in
            if case .fault(let fault) = event.detail { (event.id, fault) } else { nil }
        }
        #expect(faults.map(\.fault.isWatched) == [false, true, true, true])
        let fetch = try #require(events.first { $0.kind == .fetch }).id
        func releases() -> [TraceEvent.Release] {
            store.events[begin...].compactMap { if case .release(let release) = $0.detail { release } else { nil } }
        }
        // First the refreshed object, then the one that only the result held, then the result. One object is kept.
        #expect(releases().map(\.fault) == [faults[2].id, faults[1].id, 0])
        #expect(releases().map(\.fetch) == [0, 0, fetch])
        #expect(releases().map(\.object) == [faults[2].fault.object, faults[1].fault.object, 0])
        #expect(releases().prefix(2).allSatisfy { $0.bytes >= 1 << 14 })
        held = []
        #expect(releases().last?.fault == faults[3].id)
    }

    @Test("The trace records what the row cache evicts, and how many of those rows are held")
    func evictions() throws {
        let store = try TestStore(isRecording: true) { $0.rowCacheLimit = 64 << 10 }
        try store.fill(items: 3000)
        store.context.reset()
        // No object holds the rows that the save left there.
        store.container.persistentStoreCoordinator.removeUnusedRows()
        func evictions(_ work: () throws -> Void) rethrows -> [TraceEvent] {
            let begin = store.events.count
            try work()
            return store.events[begin...].filter { $0.kind == .eviction }
        }
        func sum(_ events: [TraceEvent], _ part: (TraceEvent.Eviction) -> UInt32) -> Int {
            events.reduce(0) { sum, event in
                if case .eviction(let eviction) = event.detail { sum + Int(part(eviction)) } else { sum }
            }
        }
        var held: FetchResults<Item>?
        let first = try evictions { held = try store.context.fetch(FetchRequest<Item>()) }
        // A row takes at least 64 bytes, so at most 1,024 rows fit.
        #expect((3000 - 1024...3000).contains(sum(first, \.rows)))
        #expect(sum(first, \.heldRows) == sum(first, \.rows))
        for event in first {
            guard case .eviction(let eviction) = event.detail else { continue }
            #expect(eviction.limit == 64 << 10 && eviction.bytes >= 64 * UInt64(eviction.rows))
            #expect(store.dictionary.entity(eviction.entity)?.name == "Item")
            #expect(event.parent == details(store, .fetch).last?.id)
        }
        // Held rows stay in memory, whatever the limit.
        try withExtendedLifetime(held) { _ = try store.context.fetch(FetchRequest<Item>()) }
        guard case .fetch(let fetch) = try #require(details(store, .fetch).last).detail else { return }
        #expect(fetch.cacheHits == 3000)
        held = nil
        // Only the cache holds the rows that individual faults evict.
        let ids = try store.context.fetchObjectIDs(FetchRequest<Item>())
        let second = try evictions { for id in ids { _ = try store.context.existingObject(with: id) } }
        #expect(sum(second, \.rows) >= 3000 - 1024 && sum(second, \.heldRows) < sum(second, \.rows) / 2)
    }

    @Test("A save records how many objects were set to the values that the store already had")
    func unchanged() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 4, categories: 2)
        let items = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        for item in items { item.name = item.name }
        items[0].price = 99
        try store.context.save()
        guard case .save(let save)? = details(store, .save).last?.detail else {
            Issue.record("The event is no save.")
            return
        }
        #expect([save.updated, save.unchanged] == [1, 3])
    }

    @Test("A save records what it wrote to objects that were fetched but never read")
    func unread() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 6, categories: 2, tags: 3)
        let context = store.container.newBackgroundContext()
        func items() throws -> (fetch: EventID, items: FetchResults<Item>) {
            let items = try context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
            return (try #require(details(store, .fetch).last?.id), items)
        }
        func unread() throws -> [TraceEvent.Save.Unread] {
            try context.save()
            guard case .save(let save)? = details(store, .save).last?.detail else { return [] }
            context.reset()
            return save.unread
        }
        try context.performAndWait {
            let amount = try items()
            for item in amount.items { item.amount = 7 }
            let alike = try unread()
            #expect(alike.map(\.fetch) == [amount.fetch])
            #expect(alike.map(\.updated) == [6])
            #expect(alike.map(\.deleted) == [0])
            #expect(alike.first?.properties.nonzeroBitCount == 1)
            for item in try items().items { item.amount = 8 }
            let others = try unread()
            #expect(others.map(\.properties) == alike.map(\.properties))
            #expect(others.map(\.values) != alike.map(\.values))

            for (number, item) in try items().items.enumerated() { item.amount = number + 20 }
            #expect(try unread().map(\.updated) == [1])
            // A value computed from the object's own values needs the object.
            for item in try items().items { item.amount += 1 }
            #expect(try unread() == [])
            let category = try #require(try context.fetch(FetchRequest<Category>()).first)
            for item in try items().items { item.category = category }
            #expect(try unread() == [])

            context.undoManager = UndoManager()
            for item in try items().items { item.amount = 9 }
            #expect(try unread() == [])
            context.undoManager = nil

            // Delete rules do not count as reading by the program.
            let gone = try items()
            for item in gone.items.prefix(4) { context.delete(item) }
            #expect(try unread() == [.init(fetch: gone.fetch, deleted: 4)])
            for item in try items().items where item.name != "" { context.delete(item) }
            #expect(try unread() == [])
        }
    }

    @Test("A fault records the source of its data and the fetch it originates from")
    func faults() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 2)
        let fresh = try PersistentContainer(
            name: "Fresh", managedObjectModel: store.container.managedObjectModel, storeURL: store.url,
            classes: Groceries.classes, recorder: store.recorder)
        let context = fresh.newBackgroundContext()
        let items = try context.fetch(FetchRequest<Item>())
        let origin = try #require(details(store, .fetch).last).id
        let category = try #require(items[0].category)
        _ = category.name
        _ = category.items.count
        context.refresh(category, mergeChanges: false)
        _ = category.name
        let dictionary = store.dictionary
        for event in details(store, .fault).suffix(4) {
            guard case .fault(let fault) = event.detail else { continue }
            #expect((fault.step > 0) == (fault.source == .store) && (fault.prepare > 0) == (fault.source == .store))
            #expect(fault.wait + fault.prepare + fault.step <= event.duration)
        }
        let faults = details(store, .fault).suffix(4).map { event -> String in
            guard case .fault(let fault) = event.detail else { return "" }
            #expect(fault.origin == origin)
            return [
                "\(fault.type)", "\(fault.source)", dictionary.entity(fault.entity)?.name ?? "",
                dictionary.name(fault.relationship) ?? "-", dictionary.entity(fault.relationshipEntity)?.name ?? "-",
                "\(fault.filled)", "\(fault.bytes)", "\(fault.seenBefore)",
            ].joined(separator: " ")
        }
        #expect(
            faults == [
                "object rowCache Item - - 1 30 true", "toOne store Category category Item 1 10 false",
                "toMany store Category items Category 2 16 false", "toOne rowCache Category category Item 1 10 true",
            ])
        #expect(details(store, .cacheMiss).count == 2)
    }

    @Test("Each property used through a to-one relationship is recorded once")
    func destinationUses() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 4)
        func uses() -> [String] {
            store.recorder.messages().compactMap {
                guard case .entry(_, _, .destinationUse(let use)) = $0 else { return nil }
                return "\(use.entity).\(use.relationship): \(use.property ?? "nil")"
            }
        }
        let context = store.container.newBackgroundContext()
        let items = try context.fetch(FetchRequest<Item>())
        #expect(uses().isEmpty)
        for item in items { _ = (item.category?.name, item.category?.name) }
        #expect(uses() == ["Item.category: name"])
        _ = items[0].category?.items.count
        // Members of a to-many relationship do not count.
        for item in try context.fetch(FetchRequest<Category>())[0].items { _ = item.price }
        #expect(uses() == ["Item.category: name", "Item.category: items"])

        let other = store.container.newBackgroundContext()
        let category = try other.fetch(FetchRequest<Item>())[0].category
        _ = category?.name
        category?.name = "Fruit"
        #expect(uses() == ["Item.category: name", "Item.category: items", "Item.category: nil"])
    }

    @Test("Use of an object that was fetched before a relationship led to it is recorded as unknown")
    func otherDestinationUses() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 4)
        let context = store.container.newBackgroundContext()
        let categories = try context.fetch(FetchRequest<Category>())
        let held = Array(categories)
        for item in try context.fetch(FetchRequest<Item>()) { _ = item.category?.name }
        let entries = store.recorder.messages().filter { message in
            guard case .entry(_, _, .destinationUse(let use)) = message else { return false }
            return use == DestinationUseEntry(entity: "Item", relationship: "category", property: nil)
        }
        #expect(entries.count == 1 && !held.isEmpty)
    }

    @Test("A fault whose row is gone is recorded as such")
    func gone() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 1)
        let id = try store.context.fetchObjectIDs(FetchRequest<Item>())[0]
        let other = store.container.newBackgroundContext()
        other.delete(try other.existingObject(with: id))
        try other.save()
        _ = store.context.object(with: id).value(forKey: "name")
        guard case .fault(let fault) = try #require(details(store, .fault).last).detail else {
            Issue.record("The event is no fault.")
            return
        }
        #expect(fault.source == .gone)
        #expect(fault.filled == 0)
        #expect(fault.seenBefore)
    }

    @Test("Batches refer to their fetch, and the use summary records which rows were touched and read")
    func use() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 30)
        do {
            let items = try store.context.fetch(
                FetchRequest<Item>(sortDescriptors: [.ascending("price")], fetchBatchSize: 10))
            _ = items.count
            for place in 12..<15 { _ = (items[place].name, items[place].name, items[place].price) }
        }
        let fetch = try #require(details(store, .fetch).last)
        let batches = details(store, .batch)
        #expect(batches.count == 1)
        guard case .batch(let batch) = try #require(batches.first).detail,
            case .use(let use) = try #require(details(store, .use).last).detail
        else { return }
        #expect(batch.fetch == fetch.id)
        #expect([batch.firstIndex, batch.rows, batch.trips] == [10, 10, 1])
        #expect(batch.step > 0 && batch.prepare > 0)
        #expect(batch.wait + batch.prepare + batch.step <= batches[0].duration)
        #expect(batches[0].site == fetch.site)
        #expect(use.fetch == fetch.id)
        #expect([use.rows, use.loadedRows, use.touchedRows, use.batchesLoaded, use.countAsked] == [30, 10, 3, 1, 1])
        let entity = try #require(store.dictionary.entity(use.entity))
        #expect(entity.properties.map(\.name) == ["amount", "name", "price", "category", "tags"])
        #expect(entity.properties.map(\.type) == ["Integer 32", "String", "Double", "toOne", "toMany"])
        #expect(entity.rowCacheLimit == 16 << 20)
        #expect(entity.properties[1].declaredAt?.hasPrefix("FaultlineStoreTests/Groceries.swift:") == true)
        let read = use.properties.map { "\(entity.properties[Int($0.index)].name) \($0.rowsRead) of \($0.rowsLoaded)" }
        #expect(read == ["amount 0 of 10", "name 3 of 10", "price 3 of 10", "category 0 of 10"])
    }

    @Test("The use summary counts accesses to the count, emptiness and object IDs separately")
    func questions() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 30)
        do {
            let items = try store.context.fetch(FetchRequest<Item>())
            _ = (items.count, items.isEmpty, items.isEmpty, items.objectIDs)
        }
        guard case .use(let use) = try #require(details(store, .use).last).detail else {
            Issue.record("The event is no use.")
            return
        }
        #expect([use.touchedRows, use.countAsked, use.emptinessAsked, use.identitiesAsked] == [0, 3, 2, 1])
    }

    @Test("The use summary counts rows that were changed or deleted, each once per fetch")
    func modifications() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 6, categories: 2)
        let category = try store.context.fetch(FetchRequest<Category>())[0]
        /// Fetches items, passes them to a closure, and returns the ID of the fetch.
        func fetch(_ body: (FetchResults<Item>) throws -> Void) throws -> EventID {
            try body(store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")])))
            return try #require(details(store, .fetch).last).id
        }
        let reading = try fetch { items in for item in items { _ = item.name } }
        let changing = try fetch { items in
            items[0].name = "New"
            items[0].price = 7
            items[1].category = items[1].category === category ? nil : category
            items[2].tags.add(Tag(context: store.context))
            store.context.delete(items[3])
        }
        let again = try fetch { $0[0].name = "Newer" }
        // Until the save, the context holds the changed objects and the results are in use.
        try store.context.save()
        let modified = details(store, .use).reduce(into: [EventID: UInt32]()) { counts, event in
            if case .use(let use) = event.detail { counts[use.fetch] = use.modifiedRows }
        }
        #expect([reading, changing, again].map { modified[$0] } == [0, 4, 1])
    }

    @Test("A save records what it wrote for each entity")
    func save() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 3, categories: 2)
        let items = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        items[0].name = "Other"
        items[0].price = nil
        store.context.delete(items[1])
        Tag(context: store.context).label = "new"
        try store.context.save()
        guard case .save(let save) = try #require(details(store, .save).last).detail else {
            Issue.record("The event is no save.")
            return
        }
        #expect([save.inserted, save.updated, save.deleted, save.changedColumns, save.conflicts] == [1, 1, 1, 2, 0])
        let dictionary = store.dictionary
        #expect(
            save.entities.map {
                "\(dictionary.entity($0.entity)?.name ?? "") \($0.inserted) \($0.updated) \($0.deleted)"
            }
                == ["Item 0 1 1", "Tag 1 0 0"])
        let own = store.events.filter { $0.kind == .sql && $0.parent == details(store, .save).last?.id }
        let texts = own.compactMap { event -> String? in
            guard case .sql(let statement) = event.detail else { return nil }
            return dictionary.statement(statement.statement)?.sql
        }
        // A save ends the transaction of the reads before it, which is not its own.
        #expect(texts.drop { $0 == "COMMIT" }.count == Int(save.trips))
    }

    @Test("A store without a recording records nothing")
    func off() throws {
        let store = try TestStore()
        try store.fill(items: 3)
        _ = try store.context.fetch(FetchRequest<Item>()).map(\.name)
        #expect(store.recorder.messages().isEmpty)
    }
}
