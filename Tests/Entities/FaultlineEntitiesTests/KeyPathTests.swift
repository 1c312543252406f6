import FaultlineEntities
import Foundation
import Testing

@Suite("Swift key paths name properties")
struct KeyPathTests {
    @Test("Predicates and sort descriptors take key paths")
    func names() {
        let predicate = PropertyPath(\Pantry.Item.price) < 3 && PropertyPath(\Pantry.Tool.name) == "x"
        #expect(predicate.description == "price < 3 AND name == \"x\"")
        #expect(PropertyPath(\Pantry.Item.category).appending(\Pantry.Category.name).keyPath == "category.name")
        #expect(FetchSortDescriptor.ascending(\Pantry.Item.price) == .ascending("price"))
        #expect(FetchSortDescriptor.descending(\Pantry.Tool.weight) == .descending("weight"))
    }

    @Test("Fetch requests take key paths of their class")
    func requests() throws {
        let request = FetchRequest<Pantry.Item>(
            sortDescriptors: [.ascending(\.name, .localized), .descending(\.category?.name)], fetchLimit: 3,
            fetchBatchSize: 7, prefetching: \.category?.shelf, \.tags, propertiesToFetch: \.name, \.category?.name)
        #expect(request.sortDescriptors == [.ascending("name", .localized), .descending("category.name")])
        #expect((request.fetchLimit, request.fetchBatchSize) == (3, 7))
        #expect(request.relationshipKeyPathsForPrefetching == ["category.shelf", "tags"])
        #expect(request.propertiesToFetch.map(\.name) == ["name", "category.name"])
        let other = try FetchRequest<Pantry.Tool>(#Predicate { $0.weight > 3 }, prefetching: \.category)
        #expect(
            other.predicate?.description == "weight > 3" && other.relationshipKeyPathsForPrefetching == ["category"])
        #expect(FetchRequest<Pantry.Tool>(fetchLimit: 2).sortDescriptors.isEmpty)
        #expect(
            FetchRequest<Pantry.Item>(sortDescriptors: [.ascending(\Pantry.Item.price)]).sortDescriptors
                == [.ascending("price")])
    }

    @Test("Key paths may cross several to-one relationships, and start or end at subclasses")
    func severalSteps() {
        #expect(PropertyPath(\Pantry.Item.category?.shelf?.number).keyPath == "category.shelf.number")
        #expect(PropertyPath(\Pantry.Tool.category?.name).keyPath == "category.name")
        #expect(
            PropertyPath(\Pantry.Item.category?.items).appending(\Pantry.Item.price).keyPath == "category.items.price")
        #expect(PropertyPath(\SportCar.driver?.cars).keyPath == "driver.cars")
        // The second lookup finds the cached name.
        #expect(PropertyPath(\Pantry.Item.category?.shelf?.number).keyPath == "category.shelf.number")
        #expect(Pantry.Item.propertyName(\.category?.name) == nil)
    }

    @Test("Key paths across relationships can be prefetched, sorted by and fetched")
    func fetched() throws {
        let store = try PantryStore()
        try store.context.save()
        store.context.reset()
        let request = FetchRequest<Pantry.Item>(
            sortDescriptors: [.descending(\.category?.shelf?.number), .ascending(\.name)],
            prefetching: \.category?.shelf)
        let items = try store.context.fetch(request)
        #expect(items.map(\.name) == ["Birnen", "Äpfel", "Chili", "Hammer"])
        let statements = store.statements().count
        #expect(items.first?.category?.shelf?.number == 1)
        #expect(store.statements().count == statements)
        var names = FetchRequest<Pantry.Item>(
            sortDescriptors: [.ascending(\.name)], propertiesToFetch: \.category?.name)
        names.resultType = .dictionary
        let found = try store.context.fetchDictionaries(names).map { $0["category.name"] }
        #expect(found == [.string("Fruit"), nil, .string("Tools"), .string("Fruit")])
    }

    @Test("A key path to anything but a property ends the program with a message")
    func other() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = PropertyPath(\Pantry.Item.category?.name.count)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            text.contains(
                "does not refer to a property of the entity 'Item'; name a property, through to-one relationships with '?' if necessary, or pass the key path as a string."
            ))
    }
}
