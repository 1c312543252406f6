import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation

/// Work on the stock, on background contexts.
struct Stock: Sendable {
    let container: PersistentContainer
    let isFlawed: Bool

    /// Does work in a scope, on a context of its own that is left empty.
    func onBackgroundContext(_ name: String, _ work: (ManagedObjectContext) throws -> Void) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            try Faultline.scope(name, kind: .bulk) { try work(context) }
            context.reset()
        }
    }

    /// Books deliveries.
    func deliver() throws {
        try onBackgroundContext("deliveries") { context in
            for number in 0..<60 {
                let movement = Movement(context: context)
                movement.number = 100_000 + number
                movement.amount = 50
                movement.reason = "delivered"
                if isFlawed {
                    try context.save()  // saved for each delivery
                }
            }
            if !isFlawed { try context.save() }
        }
    }

    /// A journal of what was moved, with the products.
    func writeJournal() throws {
        try onBackgroundContext("journal") { context in
            var request = FetchRequest<Movement>(
                predicate: PropertyPath("number") < 2000, sortDescriptors: [.ascending("number")])
            if !isFlawed { request.relationshipKeyPathsForPrefetching = ["product"] }
            for movement in try context.fetch(request) {  // in the journal
                print(movement.number, movement.amount, movement.reason, movement.product?.title ?? "")
            }
        }
    }

    /// Shelves that are nearly empty.
    func findNearlyEmpty() throws {
        for limit in [2, 4, 6, 8] {
            try onBackgroundContext("reorder") { context in
                let request = FetchRequest<Shelf>(predicate: PropertyPath("count") < limit)
                print(try context.fetch(request).map { "\($0.label): \($0.count)" })  // nearly empty
            }
        }
    }

    /// Counts what lies on some shelves, several times over, until it is all agreed.
    func takeStock() throws {
        try onBackgroundContext("stock-taking") { context in
            // Others may have written what is here, so nothing that is in memory is good enough.
            context.stalenessInterval = isFlawed ? 0 : -1
            let shelves = try context.fetch(
                FetchRequest<Shelf>(predicate: PropertyPath("count") > 0, fetchLimit: 80, returnsObjectsAsFaults: false)
            )
            for round in 1...4 {
                if isFlawed { context.refreshAllObjects() }
                for shelf in shelves { print(round, shelf.label, shelf.count) }  // counted again
            }
        }
    }

    /// Takes over the numbers that were counted, which are as they should be.
    func enterCounts() throws {
        try onBackgroundContext("counts") { context in
            for shelf in try context.fetch(FetchRequest<Shelf>(fetchBatchSize: 500)) {
                guard let counted = counted(at: shelf.label) else { continue }
                if isFlawed || shelf.count != counted { shelf.count = counted }
            }
            try context.save()  // saved as it was
        }
    }

    /// The counts of a shelf.
    private func counted(at label: String) -> Int? {
        let places = label.split(separator: "/").compactMap { Int($0) }
        guard places.count == 2 else { return nil }
        return (places[0] * 20 + places[1]) * 37 % 1000
    }

    /// Labels of products with the warehouse that the settings name.
    func printLabels() throws {
        try onBackgroundContext("labels") { context in
            let products = try context.fetch(
                FetchRequest<Product>(sortDescriptors: [.ascending("code")], fetchLimit: 60))
            let known = isFlawed ? nil : try currentWarehouse(context)
            for product in products {
                print(product.code, product.title, try known ?? currentWarehouse(context))
            }
        }
    }

    private func currentWarehouse(_ context: ManagedObjectContext) throws -> String {
        let request = FetchRequest<Warehouse>(predicate: PropertyPath("name") == "Station")
        return try context.fetch(request).first?.name ?? ""  // looked up each time
    }

    /// The value of the whole stock.
    func addUp() throws {
        try onBackgroundContext("worth") { context in
            if isFlawed {
                let products = try context.fetch(FetchRequest<Product>())  // added up
                print(products.reduce(0) { $0 + $1.price })
            } else {
                var request = FetchRequest<Product>()
                request.resultType = .dictionary
                request.propertiesToFetch = [ExpressionDescription("sum", .function(.sum, "price"))]
                print(try context.fetchDictionaries(request)[0]["sum"] ?? 0)
            }
        }
    }
}
