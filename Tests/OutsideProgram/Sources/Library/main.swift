import FaultlineModel
import FaultlineStore
import Foundation

final class Shelf: ManagedObject {
    static let label = AttributeKey<String>("label")
    static let books = ToManyKey<Book>("books")
}

final class Book: ManagedObject {
    static let title = AttributeKey<String>("title")
    static let pages = AttributeKey<Int64>("pages")
    static let shelf = ToOneKey<Shelf>("shelf")
}

/// Whether the model has an attribute that stores of the older model lack.
let isNewer = CommandLine.arguments.dropFirst(2).first == "newer"
let model = try ManagedObjectModel(entities: [
    EntityDescription(
        "Shelf",
        attributes: [AttributeDescription("label", .string)],
        relationships: [RelationshipDescription("books", to: "Book", inverse: "shelf", isToMany: true)]),
    EntityDescription(
        "Book",
        attributes: [AttributeDescription("title", .string), AttributeDescription("pages", .integer64)]
            + (isNewer ? [AttributeDescription("year", .integer64)] : []),
        relationships: [RelationshipDescription("shelf", to: "Shelf", inverse: "books")]),
])
let store = URL(fileURLWithPath: CommandLine.arguments[1])
let container = try PersistentContainer(
    name: "Library", managedObjectModel: model, storeURL: store, classes: [Shelf.self, Book.self])

if isNewer {
    let books = try container.viewContext.fetch(FetchRequest<Book>())
    print("\(books.count) books without a year: \(books.allSatisfy { $0.value(forKey: "year") == nil })")
    exit(0)
}

let writing = container.newBackgroundContext()
try writing.performAndWait {
    for number in 1...40 {
        let shelf = Shelf(context: writing)
        shelf[Shelf.label] = "Shelf \(number)"
        for place in 1...6 {
            let book = Book(context: writing)
            book[Book.title] = "Book \(place) of \(number)"
            book[Book.pages] = Int64(place * 50 + number)
            book[Book.shelf] = shelf
        }
    }
    try writing.save()
}

let reading = container.newBackgroundContext()
try reading.performAndWait {
    let shelves = try reading.fetch(FetchRequest<Shelf>(sortDescriptors: [.ascending("label")]))
    for shelf in shelves {
        let pages = shelf[Shelf.books].reduce(0) { $0 + $1[Book.pages] }
        print("\(shelf[Shelf.label]): \(pages) pages")
    }
}
