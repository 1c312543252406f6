import FaultlineEntities
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
