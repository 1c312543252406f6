import FaultlineModel
import FaultlineStore
import Foundation

final class Product: ManagedObject {
    static let codeKey = AttributeKey<String>("code")
    static let titleKey = AttributeKey<String>("title")
    static let priceKey = AttributeKey<Double>("price")
    static let shelvesKey = ToManyKey<Shelf>("shelves")
    var code: String {
        get { self[Self.codeKey] }
        set { self[Self.codeKey] = newValue }
    }
    var title: String {
        get { self[Self.titleKey] }
        set { self[Self.titleKey] = newValue }
    }
    var price: Double {
        get { self[Self.priceKey] }
        set { self[Self.priceKey] = newValue }
    }
}

final class Shelf: ManagedObject {
    static let labelKey = AttributeKey<String>("label")
    static let countKey = AttributeKey<Int>("count")
    static let productKey = ToOneKey<Product>("product")
    static let warehouseKey = ToOneKey<Warehouse>("warehouse")
    var label: String {
        get { self[Self.labelKey] }
        set { self[Self.labelKey] = newValue }
    }
    var count: Int {
        get { self[Self.countKey] }
        set { self[Self.countKey] = newValue }
    }
    var product: Product? {
        get { self[Self.productKey] }
        set { self[Self.productKey] = newValue }
    }
    var warehouse: Warehouse? {
        get { self[Self.warehouseKey] }
        set { self[Self.warehouseKey] = newValue }
    }
}

final class Warehouse: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    var name: String {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }
}

final class Movement: ManagedObject {
    static let numberKey = AttributeKey<Int>("number")
    static let amountKey = AttributeKey<Int>("amount")
    static let reasonKey = AttributeKey<String>("reason")
    static let productKey = ToOneKey<Product>("product")
    var number: Int {
        get { self[Self.numberKey] }
        set { self[Self.numberKey] = newValue }
    }
    var amount: Int {
        get { self[Self.amountKey] }
        set { self[Self.amountKey] = newValue }
    }
    var reason: String {
        get { self[Self.reasonKey] }
        set { self[Self.reasonKey] = newValue }
    }
    var product: Product? {
        get { self[Self.productKey] }
        set { self[Self.productKey] = newValue }
    }
}

let classes: [ManagedObject.Type] = [Product.self, Shelf.self, Warehouse.self, Movement.self]

/// - Parameter isFlawed: Whether the model lacks the index that shelves are looked up by.
func makeModel(isFlawed: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
        EntityDescription(
            "Product",
            attributes: [
                AttributeDescription("code", .string, isOptional: false),
                AttributeDescription("title", .string, isOptional: false),
                AttributeDescription("price", .double, isOptional: false),
            ],
            relationships: [
                RelationshipDescription("shelves", to: "Shelf", inverse: "product", isToMany: true),
                RelationshipDescription("movements", to: "Movement", inverse: "product", isToMany: true),
            ], indexes: [FetchIndexDescription("byCode", on: "code")]),
        EntityDescription(
            "Shelf",
            attributes: [
                AttributeDescription("label", .string, isOptional: false),
                AttributeDescription("count", .integer64, isOptional: false),
            ],
            relationships: [
                RelationshipDescription("product", to: "Product", inverse: "shelves"),
                RelationshipDescription("warehouse", to: "Warehouse", inverse: "shelves"),
            ], indexes: isFlawed ? [] : [FetchIndexDescription("byCount", on: "count")]),
        EntityDescription(
            "Warehouse", attributes: [AttributeDescription("name", .string, isOptional: false)],
            relationships: [RelationshipDescription("shelves", to: "Shelf", inverse: "warehouse", isToMany: true)]),
        EntityDescription(
            "Movement",
            attributes: [
                AttributeDescription("number", .integer64, isOptional: false),
                AttributeDescription("amount", .integer64, isOptional: false),
                AttributeDescription("reason", .string, isOptional: false),
            ],
            relationships: [RelationshipDescription("product", to: "Product", inverse: "movements")],
            indexes: [FetchIndexDescription("byNumber", on: "number")]),
    ])
}

/// Four warehouses with five hundred shelves each, a product on each shelf, and four movements of each product.
func fill(_ context: ManagedObjectContext) throws {
    let warehouses = ["Harbour", "Station", "Airport", "Town"].map { name in
        let warehouse = Warehouse(context: context)
        warehouse.name = name
        return warehouse
    }
    for number in 0..<2000 {
        let product = Product(context: context)
        product.code = "P-\(10_000 + number)"
        product.title = "\(["Screw", "Bolt", "Nut", "Washer", "Nail"][number % 5]) \(number / 5) mm"
        product.price = Double(number % 90) / 10
        let shelf = Shelf(context: context)
        shelf.label = "\(number / 20)/\(number % 20)"
        shelf.count = number * 37 % 1000
        (shelf.product, shelf.warehouse) = (product, warehouses[number / 500])
        for place in 0..<4 {
            let movement = Movement(context: context)
            movement.number = number + 2000 * place
            movement.amount = (number + place) % 11 - 5
            movement.reason = place == 0 ? "delivered" : "sold"
            movement.product = product
        }
    }
    try context.save()
}
