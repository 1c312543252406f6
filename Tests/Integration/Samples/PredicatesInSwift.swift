import FaultlineEntities

@Entity final class Item: ManagedObject {
    var price: Double?
    var category: Category?
    var tags: ToMany<Tag>
}

@Entity final class Category: ManagedObject {
    var name: String = ""
    var items: ToMany<Item>
}

@Entity final class Tag: ManagedObject {
    var label: String = ""
    @Relationship(inverse: \Item.tags) var items: ToMany<Item>
}

var category: Category { fatalError() }
