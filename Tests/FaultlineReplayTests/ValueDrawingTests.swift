import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation
import Testing

@testable import FaultlineReplay

@Suite("Values drawn for a predicate")
struct ValueDrawingTests {
    /// Runs a closure that draws values for a predicate from a recorded shop.
    private func draw<Result: Sendable>(
        _ predicate: String,
        _ body: (ValueDrawing, ManagedObjectContext, PersistentStoreCoordinator, Recorder) throws -> Result
    ) throws -> Result {
        let shop = try RecordedShop()
        let recorder = Recorder.memory(ringBytes: 16 << 20)
        var description = PersistentStoreDescription(url: shop.url)
        description.configuration = "Shop"
        let container = try PersistentContainer(
            name: "Shop", managedObjectModel: shop.model, storeDescription: description, recorder: recorder)
        let schema = shop.model.schema
        let drawing = ValueDrawing(
            shape: try #require(try ShapePredicate(predicate)), wildcards: [],
            entity: try #require(schema.entity(named: "Item")), schema: schema)
        let context = container.newBackgroundContext()
        let result = try context.performAndWait {
            try body(drawing, context, container.persistentStoreCoordinator, recorder)
        }
        withExtendedLifetime(shop) {}
        return result
    }

    private func number(_ value: PredicateValue?) -> Double? {
        if case .value(.double(let number)) = value { number } else { nil }
    }

    @Test("The value drawn for an empty result is below or above every stored value")
    func absence() throws {
        for (operation, isBelow) in [("<", true), ("<=", true), (">", false), (">=", false)] {
            let values = try draw("price \(operation) ?") { drawing, context, coordinator, recorder in
                try drawing.absence(like: [.value(.double(3))], context, coordinator, recorder)?.values
            }
            let found = try #require(number(values?.first), "\(operation) finds something")
            #expect(isBelow ? found < 0 : found > 9)
        }
    }

    @Test("A text that matches as often as the recorded one is combined with other objects' numbers")
    func mixtures() throws {
        try draw("name CONTAINS[c] ? AND price < ?") { drawing, context, coordinator, recorder in
            func candidate(_ text: String, _ price: Double) throws -> ValueDrawing.Candidate {
                try drawing.candidate(
                    [.value(.string(text)), .value(.double(price))], context, coordinator, recorder)
            }
            // "Item" occurs in all 200 names, "19" in 12.
            let drawn = [try candidate("item", 9), try candidate("19", 1), try candidate("item", 3)]
            #expect(drawn[0].textMatches > drawn[1].textMatches)
            let mixed = try drawing.mixtures(
                drawn, textMatches: drawn[1].textMatches, context, coordinator, recorder)
            #expect(mixed.map { number($0.values[1]) } == [9, 3])
            #expect(mixed.allSatisfy { $0.values[0] == .value(.string("19")) && $0.count <= 12 })
        }
    }
}
