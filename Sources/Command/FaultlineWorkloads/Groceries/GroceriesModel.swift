import FaultlineModel

/// The entities of the shopping list: items with a unit, a place at home, a place in the shop, and a photo each.
enum GroceriesModel {
    /// Creates the model, with the photo in the item's row or in a separate entity.
    static func make(photoInRow: Bool) throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: [
                photoInRow ? itemWithPhoto : itemWithoutPhoto, unit, location, locationAtHome, locationAtShop,
            ] + (photoInRow ? [] : [itemPhoto]))
    }

    private static let itemAttributes = [
        AttributeDescription("name", .string, isOptional: false),
        AttributeDescription("quantity", .float, defaultValue: 1.0),
        AttributeDescription("isListed", .boolean, defaultValue: true),
        AttributeDescription("isCollected", .boolean, defaultValue: false),
    ]

    private static let itemRelationships = [
        RelationshipDescription("unit", to: "Unit", inverse: "items"),
        RelationshipDescription("locationAtHome", to: "LocationAtHome", inverse: "items"),
        RelationshipDescription("locationAtShop", to: "LocationAtShop", inverse: "items"),
    ]

    private static let itemWithPhoto = EntityDescription(
        "Item",
        attributes: itemAttributes + [
            AttributeDescription("photo", .binary)
        ],
        relationships: itemRelationships,
        indexes: [FetchIndexDescription("byName", on: "name")])

    private static let itemWithoutPhoto = EntityDescription(
        "Item", attributes: itemAttributes,
        relationships: itemRelationships + [
            RelationshipDescription("photo", to: "ItemPhoto", inverse: "item", deleteRule: .cascade)
        ],
        indexes: [FetchIndexDescription("byName", on: "name")])

    private static let itemPhoto = EntityDescription(
        "ItemPhoto",
        attributes: [AttributeDescription("data", .binary)],
        relationships: [RelationshipDescription("item", to: "Item", inverse: "photo")])

    private static let unit = EntityDescription(
        "Unit",
        attributes: [AttributeDescription("name", .string, isOptional: false)],
        relationships: [RelationshipDescription("items", to: "Item", inverse: "unit", isToMany: true)])

    private static let location = EntityDescription(
        "Location", isAbstract: true,
        attributes: [AttributeDescription("note", .string)])

    private static let locationAtHome = EntityDescription(
        "LocationAtHome", parent: "Location",
        attributes: [AttributeDescription("storedIn", .string, isOptional: false)],
        relationships: [RelationshipDescription("items", to: "Item", inverse: "locationAtHome", isToMany: true)])

    private static let locationAtShop = EntityDescription(
        "LocationAtShop", parent: "Location",
        attributes: [AttributeDescription("aisle", .string, isOptional: false)],
        relationships: [RelationshipDescription("items", to: "Item", inverse: "locationAtShop", isToMany: true)])
}
