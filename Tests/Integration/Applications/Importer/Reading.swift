import FaultlineModel
import FaultlineStore
import Foundation

/// Reads customers, orders and lines in.
struct Reading {
    let context: ManagedObjectContext
    let isFlawed: Bool

    /// A customer as the file has it.
    struct Record {
        var code: String
        var name: String
        var country: String
    }

    /// The lines of the file: customers that exist, and some that are new.
    private var records: [Record] {
        (0..<400).map { number in
            Record(
                code: "K\(11_200 + number)", name: "Customer \(1200 + number) & Sons",
                country: ["AT", "BE", "CH", "DE"][number % 4])
        }
    }

    /// Customers that are made unless they are there.
    func importCustomers() throws {
        var known: [String: Customer] = [:]
        if !isFlawed {
            let request = FetchRequest<Customer>(predicate: PropertyPath("code").isIn(records.map(\.code)))
            known = Dictionary(try context.fetch(request).map { ($0.code, $0) }) { first, _ in first }
        }
        for record in records {
            if isFlawed {
                let request = FetchRequest<Customer>(predicate: PropertyPath("code") == record.code, fetchLimit: 1)
                known[record.code] = try context.fetch(request).first  // found or made
            }
            let customer = known[record.code] ?? Customer(context: context)
            if customer.code != record.code { (customer.code, customer.email) = (record.code, "") }
            if customer.name != record.name { customer.name = record.name }
        }
        try context.save()
    }

    /// Which of the file's customers are not there.
    func listUnknown() throws {
        let codes = records.map(\.code)
        if isFlawed {
            for code in codes {
                let request = FetchRequest<Customer>(predicate: PropertyPath("code") == code)
                if try context.count(for: request) == 0 { print(code) }  // asked for each
            }
        } else {
            var request = FetchRequest<Customer>(predicate: PropertyPath("code").isIn(codes))
            (request.resultType, request.propertiesToFetch) = (.dictionary, ["code"])
            let known = Set(try context.fetchDictionaries(request).map { "\($0["code"] ?? "")" })
            for code in codes where !known.contains(code) { print(code) }
        }
    }

    /// New customers with their countries.
    func importCountries() throws {
        let all = try isFlawed ? [] : context.fetch(FetchRequest<Country>()).map { ($0.code, $0) }
        let known = Dictionary(all) { first, _ in first }
        for record in records {
            let customer = Customer(context: context)
            (customer.code, customer.name, customer.email) = ("N" + record.code, record.name, "")
            customer.country = try isFlawed ? country(record.country) : known[record.country]
        }
        try context.save()
    }

    private func country(_ code: String) throws -> Country? {
        let request = FetchRequest<Country>(predicate: PropertyPath("code") == code)
        return try context.fetch(request).first  // for each customer
    }

    /// Orders, each of which is saved.
    func importOrders() throws {
        for number in 0..<60 {
            let order = Order(context: context)
            (order.number, order.day) = (10_000 + number, Date(timeIntervalSinceReferenceDate: 0))
            if isFlawed {
                try context.save()  // saved one by one
            }
        }
        if !isFlawed { try context.save() }
    }

    /// Twelve thousand lines, saved all at once or in parts.
    func importLines() throws {
        let part = isFlawed ? 12_000 : 100
        for number in 0..<12_000 {
            let line = Line(context: context)
            (line.article, line.quantity, line.price) = ("Article \(number % 400)", 1, 12.5)
            guard (number + 1).isMultiple(of: part) else { continue }
            try context.save()  // saved together
            context.reset()
        }
    }

    /// Takes over the prices of a list that has not changed.
    func updatePrices() throws {
        let request = FetchRequest<Line>(sortDescriptors: [], fetchBatchSize: 500)
        let prices = Dictionary(uniqueKeysWithValues: (0..<400).map { ("Article \($0)", Double($0 % 50) / 2) })
        for line in try context.fetch(request) {
            guard let price = prices[line.article] else { continue }
            if isFlawed || line.price != price { line.price = price }
        }
        try context.save()  // prices
    }
}
