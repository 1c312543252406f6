import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("A fetch from several stores returns one result")
struct SeveralStoresFetchTests {
    /// Returns stores that hold items "0", "1" … in turn, priced by their number, and categories in each.
    private func makeStores(
        _ types: [PersistentStore.StoreType] = [.sqlite, .sqlite], items: Int = 10, isRecording: Bool = false
    ) throws -> SeveralStores {
        let several = try SeveralStores(types, isRecording: isRecording)
        let context = several.container.newBackgroundContext()
        let categories = try several.stores.map { store in
            let category = FaultlineStoreTests.Category(context: context)
            category.name = "Category of \(store.url.lastPathComponent)"
            try context.assign(category, to: store)
            return category
        }
        for number in 0..<items {
            let item = try several.add("\(number)", to: number % types.count, in: context)
            item.price = Double(number)
            item.amount = number / 2
            item.category = categories[number % types.count]
        }
        try context.save()
        return several
    }

    @Test("Objects are sorted across the stores, or come store by store without sort descriptors")
    func order() throws {
        let several = try makeStores([.sqlite, .inMemory])
        let request = FetchRequest<Item>(sortDescriptors: [.ascending("price")])
        let items = try several.context.fetch(request)
        #expect(items.map(\.name) == (0..<10).map(String.init))
        #expect(items.objectIDs == items.map(\.objectID))
        #expect(items[3].category?.name == "Category of b.store")
        #expect(items[3].category?.items.count == 5)
        let plain = try several.container.newBackgroundContext().fetch(FetchRequest<Item>())
        #expect(plain.map(\.name) == ["0", "2", "4", "6", "8", "1", "3", "5", "7", "9"])
    }

    @Test("A fetch reads only the affected stores")
    func affectedStores() throws {
        let several = try makeStores()
        var request = FetchRequest<Item>(sortDescriptors: [.descending("price")], fetchLimit: 2)
        request.affectedStores = [several.stores[1]]
        #expect(try several.context.fetch(request).map(\.name) == ["9", "7"])
        #expect(try several.context.count(for: request) == 2)
        let other = try SeveralStores([.inMemory])
        request.affectedStores = other.stores
        #expect(
            performing { _ = try several.context.fetch(request) }
                == "Fetching Item: none of the affected stores has the entity; name a store of the coordinator whose configuration has it."
        )
    }

    @Test("Offset, limit, count and object IDs apply to the merged result")
    func parts() throws {
        let several = try makeStores([.sqlite, .sqlite, .sqlite])
        let request = FetchRequest<Item>(
            predicate: PropertyPath("price") > 1.0, sortDescriptors: [.ascending("price")], fetchLimit: 3,
            fetchOffset: 2)
        #expect(try several.context.fetch(request).map(\.name) == ["4", "5", "6"])
        #expect(try several.context.count(for: request) == 3)
        for warms in [false, true] {
            let ids = try several.context.fetchObjectIDs(request, warmsRowCache: warms)
            #expect(ids.map { $0.persistentStore?.url.lastPathComponent } == ["b.store", "c.store", "a.store"])
            #expect(try ids.map { try (several.context.existingObject(with: $0) as? Item)?.name } == ["4", "5", "6"])
        }
    }

    @Test("Batches are loaded from the stores that have their rows", arguments: [true, false])
    func batches(_ isPartial: Bool) throws {
        let several = try makeStores(items: 23)
        var request = FetchRequest<Item>(sortDescriptors: [.descending("price")], fetchBatchSize: 4)
        request.relationshipKeyPathsForPrefetching = ["category"]
        if isPartial { request.propertiesToFetch = ["name"] }
        let items = try several.context.fetch(request)
        #expect(items.count == 23)
        #expect(items[20].name == "2")
        #expect(items.map(\.name) == (0..<23).reversed().map(String.init))
        #expect(items.map { $0.category?.name }.prefix(2) == ["Category of a.store", "Category of b.store"])
        #expect(items.map(\.amount) == (0..<23).reversed().map { $0 / 2 })
    }

    @Test("Unsaved changes appear in their sorted positions")
    func pendingChanges() throws {
        let several = try makeStores()
        let items = try several.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("price")]))
        items[1].price = 8.5
        several.context.delete(items[2])
        let new = try several.add("new", to: 1)
        new.price = 3.5
        for batchSize in [0, 3] {
            let request = FetchRequest<Item>(sortDescriptors: [.ascending("price")], fetchBatchSize: batchSize)
            let found = try several.context.fetch(request)
            #expect(found.map(\.name) == ["0", "3", "new", "4", "5", "6", "7", "8", "1", "9"])
            #expect(try several.context.count(for: request) == 10)
        }
    }

    @Test("Dictionaries are merged and, if requested, made distinct")
    func dictionaries() throws {
        let several = try makeStores()
        var request = FetchRequest<Item>(sortDescriptors: [.descending("amount")], fetchLimit: 3, fetchOffset: 1)
        request.resultType = .dictionary
        request.propertiesToFetch = ["amount"]
        request.returnsDistinctResults = true
        #expect(
            try several.context.fetchDictionaries(request) == [3, 2, 1].map { ["amount": .integer($0)] })
        request.returnsDistinctResults = false
        #expect(
            try several.context.fetchDictionaries(request) == [4, 3, 3].map { ["amount": .integer($0)] })
        request.propertiesToFetch = ["name", "self"]
        let values = try several.context.fetchDictionaries(request)
        #expect(values.map { $0["name"] } == [.string("9"), .string("6"), .string("7")])
        let uris = values.compactMap { value -> ManagedObjectID? in
            guard case .uri(let url)? = value["self"] else { return nil }
            return several.coordinator.managedObjectID(forURIRepresentation: url)
        }
        #expect(uris.map(\.persistentStore) == [several.stores[1], several.stores[0], several.stores[1]])
    }

    @Test("Functions over all objects combine the results of each store, or throw where that is impossible")
    func aggregates() throws {
        let several = try makeStores()
        var request = FetchRequest<Item>()
        request.resultType = .dictionary
        request.propertiesToFetch = [
            ExpressionDescription("sum", .function(.sum, "price")),
            ExpressionDescription("whole", .function(.sum, "amount"), resultType: .integer64),
            ExpressionDescription("least", .function(.minimum, "name")),
            ExpressionDescription("most", .function(.maximum, "price")),
            ExpressionDescription("count", .function(.count, "price")),
        ]
        #expect(
            try several.context.fetchDictionaries(request) == [
                [
                    "sum": .double(45), "whole": .integer(20), "least": .string("0"), "most": .double(9),
                    "count": .integer(10),
                ]
            ])
        request.predicate = PropertyPath("price") > 100.0
        let none = try several.context.fetchDictionaries(request)
        #expect(none == [["sum": .double(0), "whole": .integer(0), "count": .integer(0)]])

        request.predicate = nil
        request.propertiesToFetch = [ExpressionDescription("mean", .function(.average, "price"))]
        #expect(
            performing { _ = try several.context.fetchDictionaries(request) }
                == "Fetching Item: 'average:(price)' cannot be computed across several stores; set affectedStores to one store, and fetch from each in turn."
        )
        request.affectedStores = [several.stores[0]]
        #expect(try several.context.fetchDictionaries(request) == [["mean": .double(4)]])
        request.affectedStores = nil
        request.propertiesToFetch = ["amount"]
        request.propertiesToGroupBy = ["amount"]
        #expect(
            performing { _ = try several.context.fetchDictionaries(request) }
                == "Fetching Item: groups cannot be computed across several stores; set affectedStores to one store, and fetch from each in turn."
        )
    }

    @Test("Functions over a to-many relationship have a value for each object of each store")
    func perObject() throws {
        let several = try makeStores()
        var request = FetchRequest<FaultlineStoreTests.Category>(sortDescriptors: [.descending("mean")])
        request.resultType = .dictionary
        request.propertiesToFetch = [
            "name", ExpressionDescription("mean", .function(.average, "items.price")),
        ]
        #expect(
            try several.context.fetchDictionaries(request) == [
                ["name": "Category of b.store", "mean": 5.0], ["name": "Category of a.store", "mean": 4.0],
            ])
        request.fetchLimit = 1
        #expect(try several.context.fetchDictionaries(request).map { $0["mean"] } == [5.0])
    }

    @Test("The fetch is one event that contains one statement per store")
    func events() throws {
        let several = try makeStores(isRecording: true)
        let before = several.events.count
        let items = try several.context.fetch(
            FetchRequest<Item>(sortDescriptors: [.ascending("price")], fetchBatchSize: 4))
        _ = items[5].name
        let events = several.events[before...]
        let fetches = events.filter { if case .fetch = $0.detail { true } else { false } }
        let batches = events.filter { if case .batch = $0.detail { true } else { false } }
        #expect(fetches.count == 1 && batches.count == 1)
        guard case .fetch(let fetch)? = fetches.first?.detail, case .batch(let batch)? = batches.first?.detail else {
            return
        }
        #expect(fetch.rows == 10 && fetch.trips == 2)
        #expect(batch.rows == 4 && batch.trips == 2)
        for parent in [fetches[fetches.startIndex], batches[batches.startIndex]] {
            let reads = events.filter { event in
                guard case .sql(let statement) = event.detail else { return false }
                return event.parent == parent.id && statement.type == .read
            }
            #expect(reads.count == 2)
        }
    }

    @Test("A fetched results controller follows all stores")
    func controller() throws {
        let several = try makeStores(items: 4)
        let controller = FetchedResultsController(
            fetchRequest: FetchRequest<Item>(sortDescriptors: [.ascending("price")]),
            managedObjectContext: several.context)
        try controller.performFetch()
        #expect(controller.fetchedObjects?.map(\.name) == ["0", "1", "2", "3"])
        let items = Array(controller.fetchedObjects ?? [])
        items[0].price = 9
        items[1].price = 1.5
        several.context.delete(items[2])
        try several.add("new", to: 1).price = 2
        several.context.processPendingChanges()
        #expect(controller.fetchedObjects?.map(\.name) == ["1", "new", "3", "0"])
    }

    @Test("A pinned context reads all stores in their pinned state")
    func queryGenerations() throws {
        let several = try makeStores(items: 4)
        try several.context.setQueryGeneration(from: .current)
        let other = several.container.newBackgroundContext()
        for item in try other.fetch(FetchRequest<Item>()) { item.name = "changed" }
        try other.save()
        let request = FetchRequest<Item>(sortDescriptors: [.ascending("price")])
        #expect(try several.context.fetch(request).map(\.name) == ["0", "1", "2", "3"])
        try several.context.setQueryGeneration(from: nil)
        several.context.refreshAllObjects()
        #expect(Set(try several.context.fetch(request).map(\.name)) == ["changed"])
    }
}
