import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation
import TestFolders

/// Twelve books on twelve shelves, whose rows stay in no cache unless requested.
final class BookStore {
    let recorder: Recorder
    let container: PersistentContainer
    private let folder: URL
    /// Objects of the view context that the test keeps alive.
    private var seeded: [ManagedObject] = []

    final class Shelf: ManagedObject {
        override class var entityName: String { "Shelf" }
        static let label = AttributeKey<String>("label")
        static let books = ToManyKey<Book>("books")
    }

    final class Book: ManagedObject {
        override class var entityName: String { "Book" }
        static let title = AttributeKey<String>("title")
        static let shelf = ToOneKey<Shelf>("shelf")
    }

    /// - Parameter isWarm: Whether the rows stay in the cache and the objects in their context, as in a test that seeds
    ///   the store through the container that the code under test uses.
    init(recorder: Recorder = .memory(), isWarm: Bool = false) throws {
        self.recorder = recorder
        folder = try TestFolder.make()
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Shelf", attributes: [AttributeDescription("label", .string)],
                relationships: [RelationshipDescription("books", to: "Book", inverse: "shelf", isToMany: true)]),
            EntityDescription(
                "Book", attributes: [AttributeDescription("title", .string)],
                relationships: [RelationshipDescription("shelf", to: "Shelf", inverse: "books")]),
        ])
        var description = PersistentStoreDescription(url: folder.appendingPathComponent("books.sqlite"))
        if !isWarm { description.rowCacheLimit = 0 }
        container = try PersistentContainer(
            name: "Books", managedObjectModel: model, storeDescription: description,
            classes: [Shelf.self, Book.self], recorder: recorder)
        let context = isWarm ? container.viewContext : container.newBackgroundContext()
        try context.performAndWait {
            for number in 0..<12 {
                let shelf = Shelf(context: context)
                shelf[Shelf.label] = "Shelf \(number)"
                let book = Book(context: context)
                book[Book.title] = "Book \(number)"
                book[Book.shelf] = shelf
                if isWarm { seeded += [shelf, book] }
            }
            try context.save()
        }
        if !isWarm { container.persistentStoreCoordinator.removeUnusedRows() }
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Reads the shelf labels of all books and returns their total length.
    func show(prefetching: [String], in context: ManagedObjectContext? = nil) throws -> Int {
        let context = context ?? container.newBackgroundContext()
        return try context.performAndWait {
            let request = FetchRequest<Book>(relationshipKeyPathsForPrefetching: prefetching)
            return try context.fetch(request).reduce(0) { $0 + ($1[Book.shelf]?[Shelf.label].count ?? 0) }
        }
    }
}
