import FaultlineEntities
import Foundation
import Testing

@Suite("Swift key paths name properties")
struct KeyPathTests {
    @Test("In predicates and in sort descriptors")
    func names() {
        let predicate = PropertyPath(\Pantry.Item.price) < 3 && PropertyPath(\Pantry.Tool.name) == "x"
        #expect(predicate.description == "price < 3 AND name == \"x\"")
        #expect(PropertyPath(\Pantry.Item.category).appending(\Pantry.Category.name).keyPath == "category.name")
        #expect(FetchSortDescriptor.ascending(\Pantry.Item.price) == .ascending("price"))
        #expect(FetchSortDescriptor.descending(\Pantry.Tool.weight) == .descending("weight"))
    }

    @Test("In requests, which know the class")
    func requests() throws {
        let request = FetchRequest<Pantry.Item>(
            sortDescriptors: [.ascending(\.name, .localized), .descending(\.category, \.name)], fetchLimit: 3,
            fetchBatchSize: 7, prefetching: \.category, \.tags, propertiesToFetch: \.name, \.price)
        #expect(request.sortDescriptors == [.ascending("name", .localized), .descending("category.name")])
        #expect((request.fetchLimit, request.fetchBatchSize) == (3, 7))
        #expect(request.relationshipKeyPathsForPrefetching == ["category", "tags"])
        #expect(request.propertiesToFetch.map(\.name) == ["name", "price"])
        let other = try FetchRequest<Pantry.Tool>(#Predicate { $0.weight > 3 }, prefetching: \.category)
        #expect(
            other.predicate?.description == "weight > 3" && other.relationshipKeyPathsForPrefetching == ["category"])
        #expect(FetchRequest<Pantry.Tool>(fetchLimit: 2).sortDescriptors.isEmpty)
        #expect(
            FetchRequest<Pantry.Item>(sortDescriptors: [.ascending(\Pantry.Item.price)]).sortDescriptors
                == [.ascending("price")])
    }

    @Test("One that leads to something else stops with a sentence")
    func other() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = PropertyPath(\Pantry.Item.category?.name)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(
            text.contains("is no property of the entity 'Item'; name one property, or give the key path as text."))
    }
}
