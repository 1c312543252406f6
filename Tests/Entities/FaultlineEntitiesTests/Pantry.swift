import FaultlineEntities
import Foundation

enum Kind: Int, Codable {
    case food = 1
    case tool = 2
}

/// Entities for predicates, with every kind of property that a predicate can name.
enum Pantry {
    @Entity class Item: ManagedObject {
        var name: String
        var price: Double?
        var amount: Int = 0
        var stock: Int = 2
        var isListed = true
        var kind: Kind = .food
        var boughtAt: Date?
        var category: Category?
        @Relationship(inverse: \Tag.items) var tags: ToMany<Tag>

        var title: String { "\(name)!" }
    }

    @Entity final class Tool: Item {
        var weight: Int = 1
    }

    @Entity final class Category: ManagedObject {
        var name: String
        @Relationship(inverse: \Item.category) var items: OrderedToMany<Item>
        @Relationship(inverse: \Shelf.categories) var shelf: Shelf?
    }

    @Entity final class Shelf: ManagedObject {
        var number: Int
        var categories: ToMany<Category>
    }

    @Entity final class Tag: ManagedObject {
        var label: String
        var items: ToMany<Item>
    }

    /// | name | price | amount | listed | kind | bought at | category | tags |
    /// | --- | --- | --- | --- | --- | --- | --- | --- |
    /// | Äpfel | 2.5 | 3 | yes | food | 100 | Fruit | red, new |
    /// | Birnen | — | 7 | no | food | — | Fruit | |
    /// | Chili | 0.5 | -1 | yes | food | 300 | — | red |
    /// | Hammer | 9 | 1 | yes | tool | — | Tools | new |
    ///
    /// Fruit is on shelf 1, and Tools is on no shelf.
    static func fill(_ context: ManagedObjectContext) throws {
        let shelf = Shelf(context: context)
        shelf.number = 1
        let categories = ["Fruit", "Tools"].map { name in
            let category = Category(context: context)
            category.name = name
            return category
        }
        categories[0].shelf = shelf
        let (red, new) = (Tag(context: context), Tag(context: context))
        red.label = "red"
        new.label = "new"
        let items = [Item(context: context), Item(context: context), Item(context: context), Tool(context: context)]
        for (item, name) in zip(items, ["Äpfel", "Birnen", "Chili", "Hammer"]) { item.name = name }
        for (item, price) in zip(items, [2.5, nil, 0.5, 9]) { item.price = price }
        for (item, amount) in zip(items, [3, 7, -1, 1]) { item.amount = amount }
        items[1].isListed = false
        items[3].kind = .tool
        items[0].boughtAt = Date(timeIntervalSinceReferenceDate: 100)
        items[2].boughtAt = Date(timeIntervalSinceReferenceDate: 300)
        for (item, category) in zip(items, [categories[0], categories[0], nil, categories[1]]) {
            item.category = category
        }
        items[0].tags.add(contentsOf: [red, new])
        items[2].tags.add(red)
        items[3].tags.add(new)
        try context.save()
    }
}
