import FaultlineRecorder
import FaultlineStore
package import Foundation

extension Groceries {
    private static let products = [
        "Apples", "Bananas", "Bread", "Butter", "Cheese", "Coffee", "Eggs", "Flour", "Honey", "Jam", "Lemons", "Milk",
        "Noodles", "Oats", "Onions", "Pears", "Potatoes", "Rice", "Salt", "Soap", "Sugar", "Tea", "Tomatoes", "Yoghurt",
    ]
    private static let units = ["pieces", "kg", "g", "litres", "packs", "bottles"]
    private static let homeCount = 48
    private static let shopCount = 24

    /// Creates a store with the items of a form, replacing an existing one.
    ///
    /// This is not recorded. The same form gives the same items each time.
    package static func prepare(_ form: GroceriesForm, at url: URL) throws {
        try StoreFiles.remove(at: url)
        let groceries = try Groceries(form, at: url, recorder: .off())
        try groceries.fill()
    }

    private func fill() throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let units = Self.units.map { name in
                let unit = Unit(context: context)
                unit.name = name
                return unit
            }
            let homes = (0..<Self.homeCount).map { number in
                let home = LocationAtHome(context: context)
                home.storedIn = "cupboard \(number / 6 + 1), shelf \(number % 6 + 1)"
                return home
            }
            let shops = (0..<Self.shopCount).map { number in
                let shop = LocationAtShop(context: context)
                shop.aisle = "aisle \(number + 1)"
                return shop
            }
            try context.save()
            for first in stride(from: 0, to: form.items, by: 500) {
                let added = (first..<min(first + 500, form.items)).map { index in
                    let item = makeItem(index, in: context)
                    item.unit = units[index % units.count]
                    // Neighbours in the list have different locations.
                    item.locationAtHome = homes[index * 7 % homes.count]
                    item.locationAtShop = shops[index * 5 % shops.count]
                    return item
                }
                try context.save()
                for item in added {
                    item.photoObjectIfSeparate(form).map { context.refresh($0, mergeChanges: false) }
                    context.refresh(item, mergeChanges: false)
                }
            }
        }
    }

    private func makeItem(_ index: Int, in context: ManagedObjectContext) -> Item {
        let item = Item(context: context)
        let product = Self.products[index * Self.products.count / form.items]
        // The names sort in the order of the items' numbers.
        item.name = product + " " + String(repeating: "0", count: 6 - String(index).count) + String(index)
        item.quantity = Float(index % 9 + 1)
        if form.flaws.contains(.photoInRow) {
            item.photo = Self.photo(index)
        } else {
            let photo = ItemPhoto(context: context)
            photo.data = Self.photo(index)
            item.photoObject = photo
        }
        return item
    }

    /// Returns 18 to 26 KiB of pseudorandom bytes.
    private static func photo(_ index: Int) -> Data {
        var state = UInt64(index) &* 0x9e37_79b9_7f4a_7c15 | 1
        let words = (18 << 10) / 8 + index % 1024
        var data = Data(capacity: words * 8)
        for _ in 0..<words {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            withUnsafeBytes(of: state) { data.append(contentsOf: $0) }
        }
        return data
    }
}

extension Item {
    /// The photo's object, in a form with separate photos.
    fileprivate func photoObjectIfSeparate(_ form: GroceriesForm) -> ItemPhoto? {
        form.flaws.contains(.photoInRow) ? nil : photoObject
    }
}
