import FaultlineModel
import FaultlineStore
import Foundation

final class Item: ManagedObject {
    static let name = AttributeKey<String>("name")
    static let price = AttributeKey<Double>("price")
    static let category = ToOneKey<Category>("category")
}

final class Category: ManagedObject {
    static let name = AttributeKey<String>("name")
}

var url: URL { fatalError() }
var model: ManagedObjectModel { fatalError() }
var container: PersistentContainer { fatalError() }
var context: ManagedObjectContext { fatalError() }
var list: ManagedObjectContext { fatalError() }
var importer: ManagedObjectContext { fatalError() }
var item: Item { fatalError() }
var dairy: Category { fatalError() }

func show(_ object: ManagedObject) {}
