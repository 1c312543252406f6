import FaultlineModel
import FaultlineRecorder
import Foundation
import Testing

@testable import FaultlineStore

@Suite("Advice tried without an edit")
struct TriedAdviceTests {
    @Test("applies to its own coordinator and to no other in the process")
    func oneCoordinator() throws {
        let line: UInt = 42
        let advice = TriedAdvice("TriedAdviceTests.swift:42 limit=2")
        let limits = try [advice, nil].map { advice in
            let coordinator = try PersistentStoreCoordinator(
                managedObjectModel: ManagedObjectModel(entities: Groceries.entities()), classes: Groceries.classes,
                recorder: .shared, sqlDebug: .shared, advice: advice)
            _ = try coordinator.addPersistentStore(with: PersistentStoreDescription())
            let context = ManagedObjectContext(coordinator, .privateQueue, name: "trial")
            for _ in 0..<5 { _ = Item(context: context) }
            return try context.fetch(FetchRequest<Item>(), line: line).count
        }
        #expect(limits == [2, 5])
    }
}
