import FaultlineEntities
import Foundation
import SharedData
import TestFolders
import Testing

/// The entities of a store written by Core Data, declared by a program that has a model file of its own.
private enum Books {
    @Entity class Writer: ManagedObject {
        var age: Int16
    }

    @Entity final class Author: Writer {
        static let feedbacks = FetchedPropertyKey<Feedback>("feedbacks")

        var alias: String
        var siteURL: URL?
        @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: ToMany<Book>
    }

    @Entity class Book: ManagedObject {
        var pagesCount: Int64
        var price: Decimal
        var publishedAt: Date
        var title: String
        var uniqueID: UUID
        var author: Author?
        @Relationship(deleteRule: .cascade, inverse: \Page.book) var pages: ToMany<Page>
    }

    @Entity final class GraphicNovel: Book {
        var isBlackAndWhite: Bool
    }

    @Entity final class Page: ManagedObject {
        var isBookmarked: Bool
        var number: Int32
        var book: Book?
    }

    @Entity final class Feedback: ManagedObject {
        var authorAlias: String
        var bookID: UUID
        var comment: String?
        var rating: Double
    }

    static let classes: [ManagedObject.Type] = [
        Writer.self, Author.self, Book.self, GraphicNovel.self, Page.self, Feedback.self,
    ]
}

@Suite("Declared entities in a store written by Core Data", .enabled(if: SharedData.exists, "\(SharedData.need)"))
struct CoreDataStoreTests {
    private let folder: URL
    private let context: ManagedObjectContext

    init() throws {
        folder = try TestFolder.make()
        let url = folder.appendingPathComponent("Books.sqlite")
        let data = "core-data-stores/coredataplus/SampleModel2/SampleModel2_V1"
        try FileManager.default.copyItem(at: SharedData.url(data + ".sqlite"), to: url)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: url.path)
        var description = PersistentStoreDescription(url: url)
        description.ignoresPersistentHistory = true
        let container = try PersistentContainer(
            name: "Books", managedObjectModel: ManagedObjectModel(contentsOf: SharedData.url(data + ".xcdatamodel")),
            storeDescription: description, classes: Books.classes)
        context = container.newBackgroundContext()
    }

    @Test("Properties return the same values as access by name")
    func attributes() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let authors = try context.fetch(FetchRequest<Books.Author>(sortDescriptors: [.ascending("alias")]))
        #expect(!authors.isEmpty)
        for author in authors {
            #expect(author.alias == author["alias"] as? String && author.siteURL == author["siteURL"] as? URL)
            #expect(author.age == (author["age"] as? Int64).map { Int16($0) })
            #expect(!author.books.isEmpty)
        }
        let books = try context.fetch(FetchRequest<Books.Book>())
        #expect(books.contains { $0 is Books.GraphicNovel } && books.contains { !($0 is Books.GraphicNovel) })
        for book in books {
            #expect(book.title == book["title"] as? String && book.price == book["price"] as? Decimal)
            #expect(book.publishedAt == book["publishedAt"] as? Date && book.uniqueID == book["uniqueID"] as? UUID)
            #expect(book.author?.books.contains(book) == true)
            #expect(book.pages.allSatisfy { $0.book === book && $0.number > 0 })
        }
        #expect(try context.count(for: FetchRequest<Books.Feedback>()) == 444)
    }

    @Test("Derived, transformable and fetched properties return the right values")
    func workedOut() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let books = try context.fetch(FetchRequest<Books.Book>())
        for book in books {
            #expect(book.pagesCount == Int64(book.pages.count))
            #expect(book["cover"] is ArchivedObject)
        }
        let authors = try context.fetch(FetchRequest<Books.Author>())
        for author in authors {
            let feedbacks = author[Books.Author.feedbacks]
            let request = FetchRequest<Books.Feedback>(predicate: PropertyPath("authorAlias") == author.alias)
            #expect(feedbacks.count == (try context.count(for: request)))
            #expect(feedbacks.allSatisfy { $0.authorAlias == author.alias })
        }
        #expect(authors.contains { !$0[Books.Author.feedbacks].isEmpty })
        let page = try #require(books[0].pages.first)
        let count = books[0].pagesCount
        context.delete(page)
        try context.save()
        #expect(books[0].pagesCount == count - 1)
    }

    @Test("Uniqueness constraints are enforced")
    func uniqueness() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let author = try context.fetch(FetchRequest<Books.Author>())[0]
        let twin = Books.Author(context: context)
        (twin.alias, twin.age) = (author.alias, 30)
        do {
            try context.save()
            Issue.record("saved a second '\(author.alias)'")
        } catch let error as StoreError {
            #expect(error.code == .constraint)
            #expect(error.constraintConflicts.count == 1)
        }
        context.mergePolicy = .mergeByPropertyObjectTrump
        try context.save()
        let request = FetchRequest<Books.Author>(predicate: PropertyPath("alias") == author.alias)
        #expect(try context.fetch(request).map(\.age) == [30])
    }
}
