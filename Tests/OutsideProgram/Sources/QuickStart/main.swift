import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation

final class Shelf: ManagedObject {
    static let label = AttributeKey<String>("label")
    static let books = ToManyKey<Book>("books")
}

final class Book: ManagedObject {
    static let title = AttributeKey<String>("title")
    static let shelf = ToOneKey<Shelf>("shelf")
}

let model = try ManagedObjectModel(entities: [
    EntityDescription(
        "Shelf", attributes: [AttributeDescription("label", .string)],
        relationships: [RelationshipDescription("books", to: "Book", inverse: "shelf", isToMany: true)]),
    EntityDescription(
        "Book", attributes: [AttributeDescription("title", .string)],
        relationships: [RelationshipDescription("shelf", to: "Shelf", inverse: "books")]),
])
let container = try PersistentContainer(
    name: "Library", managedObjectModel: model, storeURL: URL(fileURLWithPath: "library.sqlite"),
    classes: [Shelf.self, Book.self])
let context = container.newBackgroundContext()

try context.performAndWait {
    if try context.count(for: FetchRequest<Shelf>()) == 0 {
        for number in 1...500 {
            let shelf = Shelf(context: context)
            shelf[Shelf.label] = "Shelf \(number)"
            for place in 1...10 {
                let book = Book(context: context)
                book[Book.title] = "Book \(place) of \(number)"
                book[Book.shelf] = shelf
            }
        }
        try context.save()
        context.reset()
    }
    try Faultline.scope("list", kind: .screen) {
        let request = FetchRequest<Shelf>(sortDescriptors: [.ascending("label")])
        for shelf in try context.fetch(request) {
            print(shelf[Shelf.label], shelf[Shelf.books].map { $0[Book.title] }.max() ?? "")
        }
    }
}
