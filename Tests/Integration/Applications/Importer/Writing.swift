import FaultlineModel
import FaultlineStore
import Foundation

/// Writes out what is there.
struct Writing {
    let context: ManagedObjectContext
    let isFlawed: Bool

    /// A directory of the customers' names by their codes.
    func listCodes() throws {
        var request = FetchRequest<Customer>()
        guard isFlawed else {
            (request.resultType, request.propertiesToFetch) = (.dictionary, ["code", "name"])
            for customer in try context.fetchDictionaries(request) {
                print(customer["code"] ?? "", customer["name"] ?? "")
            }
            return
        }
        request.fetchBatchSize = 200
        let customers = try context.fetch(request)  // for a directory
        for (code, name) in customers.map({ ($0.code, $0.name) }) { print(code, name) }
    }

    /// Orders with their customers' names.
    func exportOrders() throws {
        var request = FetchRequest<Order>(sortDescriptors: [.ascending("number")], fetchBatchSize: 500)
        if !isFlawed { request.relationshipKeyPathsForPrefetching = ["customer"] }
        for order in try context.fetch(request) {  // exported
            print(order.number, order.day, order.customer?.code ?? "", order.customer?.remarks?.count ?? 0)
        }
    }

    /// All lines, as they come.
    func dumpLines() throws {
        let request = FetchRequest<Line>(fetchBatchSize: isFlawed ? 0 : 500)
        for line in try context.fetch(request) {  // dumped
            print(line.article, line.quantity, line.price)
        }
    }

    /// The total of a month's orders.
    func addUp() throws {
        let orders = try context.fetch(FetchRequest<Order>(predicate: PropertyPath("number") < 120))
        let sum = ExpressionDescription("sum", .function(.sum, "price"))
        var request = FetchRequest<Line>()
        request.resultType = .dictionary
        if isFlawed {
            request.propertiesToFetch = [sum]
            for order in orders {
                request.predicate = PropertyPath("order") == order
                print(order.number, try context.fetchDictionaries(request)[0]["sum"] ?? 0)  // for each order
            }
        } else {
            request.predicate = .isIn("order", objects: orders.map(\.objectID))
            request.propertiesToFetch = ["order", sum]
            request.propertiesToGroupBy = ["order"]
            var sums: [URL: AttributeValue] = [:]
            for group in try context.fetchDictionaries(request) {
                if case .uri(let order)? = group["order"] { sums[order] = group["sum"] }
            }
            for order in orders { print(order.number, sums[order.objectID.uriRepresentation()] ?? 0) }
        }
    }

    /// Customers who have answered, by the addresses of their mails.
    func findSenders() throws {
        let emails = [3, 700, 1499, 20, 1100].map { "office@customer-\($0).example" }
        guard isFlawed else {
            let request = FetchRequest<Customer>(predicate: PropertyPath("email").isIn(emails))
            print(try context.fetch(request).map { "\($0.email) \($0.code) \($0.name) \($0.remarks ?? "")" })
            return
        }
        for email in emails {
            let request = FetchRequest<Customer>(predicate: PropertyPath("email") == email)
            print(try context.fetch(request).map { "\($0.code) \($0.name) \($0.remarks ?? "")" })  // by address
        }
    }

    /// Orders of some days, and the customers for a report that is printed with the last of them.
    func report() throws {
        for day in 0..<10 {
            let customers = try isFlawed || day == 9 ? self.customers() : nil
            let orders = FetchRequest<Order>(
                predicate: PropertyPath("number").between(day * 24, and: day * 24 + 23))
            print(try context.fetch(orders).map { "\($0.number) \($0.day)" })
            if day == 9 { print(customers?.map { "\($0.code) \($0.name) \($0.email) \($0.remarks ?? "")" } ?? []) }
        }
    }

    private func customers() throws -> FetchResults<Customer> {
        try context.fetch(FetchRequest<Customer>(predicate: PropertyPath("code") < "K10200"))  // for the report
    }
}
