import FaultlineEntities
import Foundation

/// The shopping list's entities, declared as classes, with the photo in an entity of its own.
enum GroceriesList {
    @Entity final class Item: ManagedObject {
        var name: String
        @Attribute(isOptional: true) var quantity: Float = 1
        @Attribute(isOptional: true) var isListed = true
        @Attribute(isOptional: true) var isCollected: Bool = false
        var unit: Unit?
        @Relationship(inverse: \LocationAtHome.items) var locationAtHome: LocationAtHome?
        @Relationship(inverse: \LocationAtShop.items) var locationAtShop: LocationAtShop?
        @Relationship(deleteRule: .cascade, inverse: \ItemPhoto.item) var photo: ItemPhoto?

        #Index<Item>([\.name])
    }

    @Entity final class Unit: ManagedObject {
        var name: String
        @Relationship(inverse: \Item.unit) var items: ToMany<Item>
    }

    @Entity(isAbstract: true) class Location: ManagedObject {
        var note: String?
    }

    @Entity final class LocationAtHome: Location {
        var storedIn: String
        var items: ToMany<Item>
    }

    @Entity final class LocationAtShop: Location {
        var aisle: String
        var items: ToMany<Item>
    }

    @Entity final class ItemPhoto: ManagedObject {
        var data: Data?
        var item: Item?
    }
}
