import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import SharedData
import Testing

@Suite("A fetched property")
struct FetchedPropertyTests {
    private final class Shelf: ManagedObject {
        static let topic = AttributeKey<String>("topic")
        static let finds = FetchedPropertyKey<Book>("finds")
        static let all = FetchedPropertyKey<Book>("all")
    }

    private final class Book: ManagedObject {
        static let topic = AttributeKey<String>("topic")
        static let shelf = ToOneKey<Shelf>("shelf")
    }

    private func makeStore(_ predicate: String? = "topic == $FETCH_SOURCE.topic") throws -> TestStore {
        try TestStore(
            [
                EntityDescription(
                    "Shelf", attributes: [AttributeDescription("topic", .string)],
                    relationships: [RelationshipDescription("books", to: "Book", inverse: "shelf", isToMany: true)],
                    fetchedProperties: [
                        FetchedPropertyDescription(
                            "finds", fetchRequest: FetchRequestTemplate("", entity: "Book", predicate: predicate)),
                        FetchedPropertyDescription("all", fetchRequest: FetchRequestTemplate("", entity: "Book")),
                        FetchedPropertyDescription("nothing", fetchRequest: nil),
                    ]),
                EntityDescription("SmallShelf", parent: "Shelf"),
                EntityDescription(
                    "Book", attributes: [AttributeDescription("topic", .string)],
                    relationships: [RelationshipDescription("shelf", to: "Shelf", inverse: "books")]),
            ], classes: [Shelf.self, Book.self], isRecording: true)
    }

    private func fill(_ store: TestStore) throws -> (shelf: Shelf, books: [Book]) {
        let shelf = Shelf(context: store.context)
        shelf[Shelf.topic] = "Birds"
        let books = ["Birds", "Trees", "Birds"].map { topic in
            let book = Book(context: store.context)
            book[Book.topic] = topic
            return book
        }
        try store.context.save()
        return (shelf, books)
    }

    private func fetches(_ store: TestStore) -> Int { store.events.count { $0.kind == .fetch } }

    @Test("returns the selected objects by key, name and path, and records its call site")
    func reading() throws {
        let store = try makeStore()
        let (shelf, books) = try fill(store)
        let found = shelf[Shelf.finds]
        let line = #line - 1
        #expect(Set(found) == [books[0], books[2]])
        let event = try #require(store.events.last { $0.kind == .fetch })
        #expect(store.dictionary.site(event.site)?.line == line)
        #expect(shelf.value(forKey: "finds") as? [ManagedObject] == found)
        #expect(shelf["finds"] as? [ManagedObject] == found)
        #expect(shelf[Shelf.all].count == 3)
        #expect(shelf.fetchedObjects(forKey: "nothing").isEmpty)
    }

    @Test("runs its request once until the object is refreshed")
    func cached() throws {
        let store = try makeStore()
        let (shelf, books) = try fill(store)
        let before = fetches(store)
        #expect(shelf[Shelf.finds].count == 2)
        books[1][Book.topic] = "Birds"
        #expect(shelf[Shelf.finds].count == 2)
        #expect(fetches(store) == before + 1)
        store.context.refresh(shelf, mergeChanges: true)
        #expect(shelf[Shelf.finds].count == 3, "unsaved changes take part")
        #expect(fetches(store) == before + 2)
    }

    @Test("runs again after another context's change to the object was merged")
    func merged() throws {
        let store = try makeStore()
        let (shelf, books) = try fill(store)
        #expect(shelf[Shelf.finds].count == 2)
        let other = store.container.newBackgroundContext()
        (other.object(with: shelf.objectID) as? Shelf)?[Shelf.topic] = "Trees"
        try other.save()
        store.context.mergeChanges(fromContextDidSave: SavedObjectIDs(updated: [shelf.objectID]))
        #expect(shelf[Shelf.finds].map(\.objectID) == books.filter { $0[Book.topic] == "Trees" }.map(\.objectID))
    }

    @Test("includes unsaved objects, which stay the same when they are saved")
    func newObjects() throws {
        let store = try makeStore()
        let (shelf, _) = try fill(store)
        let new = Book(context: store.context)
        new[Book.topic] = "Birds"
        #expect(shelf[Shelf.finds].contains(new))
        try store.context.save()
        #expect(shelf[Shelf.finds].contains(new) && !new.objectID.isTemporaryID)
        #expect(shelf[Shelf.finds].map(\.objectID.isTemporaryID) == [false, false, false])
    }

    @Test("can refer to the object itself, and is inherited by subentities")
    func source() throws {
        let store = try makeStore("shelf == $FETCH_SOURCE")
        let (_, books) = try fill(store)
        let small = store.context.insertNewObject(forEntityName: "SmallShelf")
        books[1][Book.shelf] = try #require(small as? Shelf)
        try store.context.save()
        #expect(small.value(forKey: "finds") as? [ManagedObject] == [books[1]])
    }

    @Test("that cannot be run is empty, and the next fetch throws an error that says why")
    func errors() throws {
        let store = try makeStore("title == $FETCH_SOURCE.topic")
        let (shelf, _) = try fill(store)
        #expect(shelf[Shelf.finds].isEmpty)
        #expect(
            performing { _ = try store.context.count(for: FetchRequest<Book>()) }
                == "Fetching Book: 'title' is not a valid key path because Book has no property 'title'; correct the key path."
        )
    }

    @Test("works in a store written by Core Data", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func fixture() throws {
        let url = try CoreDataFixture.books.copy()
        let context = try CoreDataFixture.books.open(url).newBackgroundContext()
        var found: [String] = []
        for author in try context.fetch(FetchRequest<ManagedObject>(entityName: "Author")) {
            let feedbacks = try #require(author.value(forKey: "feedbacks") as? [ManagedObject])
            found += feedbacks.map { "\(author["alias"]!) \($0.objectID.uriRepresentation().lastPathComponent)" }
        }
        let expected = try SQLShell.run(
            "SELECT a.ZALIAS || ' p' || f.Z_PK FROM ZWRITER a JOIN ZFEEDBACK f ON f.ZAUTHORALIAS = a.ZALIAS", url)
        #expect(!found.isEmpty && found.sorted() == expected.sorted())
    }
}
