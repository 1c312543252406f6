import Dispatch
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation

/// Several people at work at a time, and a screen that shows what they do.
struct Counter: Sendable {
    let container: PersistentContainer
    let isFlawed: Bool

    /// Looks up a price while the catalogue is read in.
    func sellMeanwhile() throws {
        let catalogue = container.newBackgroundContext()
        // The till has a context of its own, or shares that of the catalogue.
        let till = isFlawed ? catalogue : container.newBackgroundContext()
        let (isReading, isSaved) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            catalogue.performAndWait {
                Faultline.scope("catalogue", kind: .bulk) {
                    isReading.signal()
                    for number in 0..<4000 {
                        let product = Product(context: catalogue)
                        product.code = "C-\(number)"
                        product.title = "Hinge \(number)"
                        product.price = 2.5
                    }
                    save(catalogue)
                }
            }
            isSaved.signal()
        }
        isReading.wait()
        try Faultline.scope("sale", kind: .request) {
            try till.performAndWait {  // at the till
                let request = FetchRequest<Product>(predicate: PropertyPath("code") == "P-10700")
                print(try till.fetch(request).map { "\($0.code) \($0.title) \($0.price)" })
            }
        }
        isSaved.wait()
    }

    private func save(_ context: ManagedObjectContext) {
        do {
            try context.save()  // saved while the till waits
        } catch {
            fatalError("\(error)")
        }
    }

    /// Notes what became of twenty thousand things: at once and where the screen waits for it, or in parts beside it.
    @MainActor
    func archive() async throws {
        let part = isFlawed ? 20_000 : 100
        let context = isFlawed ? container.viewContext : container.newBackgroundContext()
        try await Faultline.scope("archive", kind: .screen) {
            try await context.perform {
                for number in 0..<20_000 {
                    let movement = Movement(context: context)
                    (movement.number, movement.amount, movement.reason) = (200_000 + number, 0, "archived")
                    guard (number + 1).isMultiple(of: part) else { continue }
                    try context.save()  // saved in one go
                    context.reset()
                }
            }
        }
    }

    /// A screen with the turnover of each product, put together on the main thread or beside it.
    @MainActor
    func showTurnover() async throws {
        let name = "turnover"
        guard isFlawed else {
            let context = container.newBackgroundContext()
            let lines = try await context.perform {
                try Faultline.scope(name, kind: .request) { try turnover(context) }
            }
            Faultline.scope(name, kind: .screen) { lines.prefix(20).forEach { print($0) } }
            return
        }
        let context = container.viewContext
        let lines = try Faultline.scope(name, kind: .screen) {
            try context.performAndWait { try turnover(context) }
        }
        lines.prefix(20).forEach { print($0) }
    }

    private func turnover(_ context: ManagedObjectContext) throws -> [String] {
        var request = FetchRequest<Movement>()
        request.resultType = .dictionary
        request.propertiesToFetch = [
            "product.title", "reason", ExpressionDescription("sold", .function(.sum, "amount")),
            ExpressionDescription("count", .function(.count, "self")),
        ]
        request.propertiesToGroupBy = ["product.title", "reason"]
        return try context.fetchDictionaries(request).map {  // on the main thread
            "\($0["product.title"] ?? "") \($0["reason"] ?? "") \($0["sold"] ?? 0) \($0["count"] ?? 0)"
        }
    }
}
