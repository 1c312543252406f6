import FaultlineModel
import FaultlineStore
import Foundation

final class Customer: ManagedObject {
    static let codeKey = AttributeKey<String>("code")
    static let nameKey = AttributeKey<String>("name")
    static let emailKey = AttributeKey<String>("email")
    static let remarksKey = AttributeKey<String?>("remarks")
    static let countryKey = ToOneKey<Country>("country")
    var code: String {
        get { self[Self.codeKey] }
        set { self[Self.codeKey] = newValue }
    }
    var name: String {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }
    var email: String {
        get { self[Self.emailKey] }
        set { self[Self.emailKey] = newValue }
    }
    var remarks: String? {
        get { self[Self.remarksKey] }
        set { self[Self.remarksKey] = newValue }
    }
    var country: Country? {
        get { self[Self.countryKey] }
        set { self[Self.countryKey] = newValue }
    }
}

final class Country: ManagedObject {
    static let codeKey = AttributeKey<String>("code")
    var code: String {
        get { self[Self.codeKey] }
        set { self[Self.codeKey] = newValue }
    }
}

final class Order: ManagedObject {
    static let numberKey = AttributeKey<Int>("number")
    static let dayKey = AttributeKey<Date>("day")
    static let customerKey = ToOneKey<Customer>("customer")
    var number: Int {
        get { self[Self.numberKey] }
        set { self[Self.numberKey] = newValue }
    }
    var day: Date {
        get { self[Self.dayKey] }
        set { self[Self.dayKey] = newValue }
    }
    var customer: Customer? {
        get { self[Self.customerKey] }
        set { self[Self.customerKey] = newValue }
    }
}

final class Line: ManagedObject {
    static let articleKey = AttributeKey<String>("article")
    static let quantityKey = AttributeKey<Int>("quantity")
    static let priceKey = AttributeKey<Double>("price")
    static let orderKey = ToOneKey<Order>("order")
    var article: String {
        get { self[Self.articleKey] }
        set { self[Self.articleKey] = newValue }
    }
    var quantity: Int {
        get { self[Self.quantityKey] }
        set { self[Self.quantityKey] = newValue }
    }
    var price: Double {
        get { self[Self.priceKey] }
        set { self[Self.priceKey] = newValue }
    }
    var order: Order? {
        get { self[Self.orderKey] }
        set { self[Self.orderKey] = newValue }
    }
}

/// - Parameter isFlawed: Whether the model lacks the index that customers are looked up by.
func makeModel(isFlawed: Bool) throws -> ManagedObjectModel {
    let byEmail = isFlawed ? [] : [FetchIndexDescription("byEmail", on: "email")]
    return try ManagedObjectModel(entities: [
        EntityDescription(
            "Customer",
            attributes: [
                AttributeDescription("code", .string, isOptional: false),
                AttributeDescription("name", .string, isOptional: false),
                AttributeDescription("email", .string, isOptional: false),
                AttributeDescription("remarks", .string),
            ],
            relationships: [
                RelationshipDescription("country", to: "Country", inverse: "customers"),
                RelationshipDescription("orders", to: "Order", inverse: "customer", isToMany: true),
            ], indexes: [FetchIndexDescription("byCode", on: "code")] + byEmail),
        EntityDescription(
            "Country", attributes: [AttributeDescription("code", .string, isOptional: false)],
            relationships: [RelationshipDescription("customers", to: "Customer", inverse: "country", isToMany: true)]),
        EntityDescription(
            "Order",
            attributes: [
                AttributeDescription("number", .integer64, isOptional: false),
                AttributeDescription("day", .date, isOptional: false),
            ],
            relationships: [
                RelationshipDescription("customer", to: "Customer", inverse: "orders"),
                RelationshipDescription("lines", to: "Line", inverse: "order", isToMany: true, deleteRule: .cascade),
            ], indexes: [FetchIndexDescription("byNumber", on: "number")]),
        EntityDescription(
            "Line",
            attributes: [
                AttributeDescription("article", .string, isOptional: false),
                AttributeDescription("quantity", .integer64, isOptional: false),
                AttributeDescription("price", .double, isOptional: false),
            ], relationships: [RelationshipDescription("order", to: "Order", inverse: "lines")]),
    ])
}

/// Twelve countries, 1,500 customers, 2,000 orders and 6,000 lines.
func fill(_ context: ManagedObjectContext) throws {
    let countries = ["AT", "BE", "CH", "DE", "DK", "ES", "FI", "FR", "IT", "NL", "NO", "SE"].map { code in
        let country = Country(context: context)
        country.code = code
        return country
    }
    let customers = (0..<1500).map { number in
        let customer = Customer(context: context)
        customer.code = "K\(10_000 + number)"
        customer.name = "Customer \(number)"
        customer.email = "office@customer-\(number).example"
        customer.remarks = String(repeating: "Calls back. ", count: 250)
        customer.country = countries[number % countries.count]
        return customer
    }
    for number in 0..<2000 {
        let order = Order(context: context)
        (order.number, order.day) = (number, Date(timeIntervalSinceReferenceDate: Double(number) * 3600))
        order.customer = customers[number * 7 % customers.count]
        for place in 0..<3 {
            let line = Line(context: context)
            let article = (number + place * 31) % 400
            (line.article, line.price) = ("Article \(article)", Double(article % 50) / 2)
            (line.quantity, line.order) = (1 + place, order)
        }
    }
    try context.save()
}
