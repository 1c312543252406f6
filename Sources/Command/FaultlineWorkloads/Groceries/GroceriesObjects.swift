import FaultlineStore
import Foundation

/// Something to buy.
final class Item: ManagedObject {
    private static let nameKey = AttributeKey<String>("name")
    private static let quantityKey = AttributeKey<Float>("quantity")
    private static let photoKey = AttributeKey<Data?>("photo")
    private static let unitKey = ToOneKey<Unit>("unit")
    private static let locationAtHomeKey = ToOneKey<LocationAtHome>("locationAtHome")
    private static let locationAtShopKey = ToOneKey<LocationAtShop>("locationAtShop")
    private static let photoObjectKey = ToOneKey<ItemPhoto>("photo")

    var name: String {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }

    var quantity: Float {
        get { self[Self.quantityKey] }
        set { self[Self.quantityKey] = newValue }
    }

    var unit: Unit? {
        get { self[Self.unitKey] }
        set { self[Self.unitKey] = newValue }
    }

    /// The item's place at home.
    var locationAtHome: LocationAtHome? {
        get { self[Self.locationAtHomeKey] }
        set { self[Self.locationAtHomeKey] = newValue }
    }

    /// The item's place in the shop.
    var locationAtShop: LocationAtShop? {
        get { self[Self.locationAtShopKey] }
        set { self[Self.locationAtShopKey] = newValue }
    }

    /// The photo, if it is an attribute of the item.
    var photo: Data? {
        get { self[Self.photoKey] }
        set { self[Self.photoKey] = newValue }
    }

    /// The photo, if it is a separate object.
    var photoObject: ItemPhoto? {
        get { self[Self.photoObjectKey] }
        set { self[Self.photoObjectKey] = newValue }
    }
}

/// The unit that an item is counted in.
final class Unit: ManagedObject {
    private static let nameKey = AttributeKey<String>("name")

    var name: String {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }
}

/// A cupboard or a shelf at home.
final class LocationAtHome: ManagedObject {
    private static let storedInKey = AttributeKey<String>("storedIn")

    var storedIn: String {
        get { self[Self.storedInKey] }
        set { self[Self.storedInKey] = newValue }
    }
}

/// An aisle in the shop.
final class LocationAtShop: ManagedObject {
    private static let aisleKey = AttributeKey<String>("aisle")

    var aisle: String {
        get { self[Self.aisleKey] }
        set { self[Self.aisleKey] = newValue }
    }
}

/// The photo of an item.
final class ItemPhoto: ManagedObject {
    private static let dataKey = AttributeKey<Data?>("data")

    var data: Data? {
        get { self[Self.dataKey] }
        set { self[Self.dataKey] = newValue }
    }
}
