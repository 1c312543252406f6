import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTesting
import Foundation
import Testing

@Suite("Budgets in tests")
struct StoreCountsTests {
    private let recorder = Recorder.memory()
    private let container: PersistentContainer
    private let folder: URL

    private final class Shelf: ManagedObject {
        override class var entityName: String { "Shelf" }
        static let label = AttributeKey<String>("label")
        static let books = ToManyKey<Book>("books")
    }

    private final class Book: ManagedObject {
        override class var entityName: String { "Book" }
        static let title = AttributeKey<String>("title")
        static let shelf = ToOneKey<Shelf>("shelf")
    }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("faultline-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Shelf", attributes: [AttributeDescription("label", .string)],
                relationships: [RelationshipDescription("books", to: "Book", inverse: "shelf", isToMany: true)]),
            EntityDescription(
                "Book", attributes: [AttributeDescription("title", .string)],
                relationships: [RelationshipDescription("shelf", to: "Shelf", inverse: "books")]),
        ])
        var description = PersistentStoreDescription(url: folder.appendingPathComponent("books.sqlite"))
        description.rowCacheLimit = 0
        container = try PersistentContainer(
            name: "Books", managedObjectModel: model, storeDescription: description,
            classes: [Shelf.self, Book.self], recorder: recorder)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for number in 0..<12 {
                let shelf = Shelf(context: context)
                shelf[Shelf.label] = "Shelf \(number)"
                let book = Book(context: context)
                book[Book.title] = "Book \(number)"
                book[Book.shelf] = shelf
            }
            try context.save()
        }
        container.persistentStoreCoordinator.removeUnusedRows()
    }

    /// The labels of the shelves of all books.
    private func show(prefetching: [String]) throws -> Int {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let request = FetchRequest<Book>(relationshipKeyPathsForPrefetching: prefetching)
            return try context.fetch(request).reduce(0) { $0 + ($1[Book.shelf]?[Shelf.label].count ?? 0) }
        }
    }

    @Test("A prefetch takes two trips, and no fault misses")
    func prefetched() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (letters, counts) = try recorder.countingStore { try show(prefetching: ["shelf"]) }
        #expect(letters == 86)
        #expect(counts.fetches == 1)
        #expect(counts.trips == 2)
        #expect(counts.rows == 24)
        #expect(counts.faults == 24)
        #expect(counts.cacheMisses == 0)
        #expect(counts.bytes > 0)
        #expect(counts.lostEvents == 0)
    }

    @Test("Without it every shelf is a trip of its own")
    func missed() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (letters, counts) = try recorder.countingStore { try show(prefetching: []) }
        #expect(letters == 86)
        #expect(counts.trips == 13)
        #expect(counts.rows == 24)
        #expect(counts.cacheMisses == 12)
    }

    @Test("A save counts what it wrote; work that asks for nothing counts nothing")
    func saved() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let context = container.newBackgroundContext()
        let (_, counts) = try recorder.countingStore {
            try context.performAndWait {
                for number in 0..<3 { Book(context: context)[Book.title] = "New \(number)" }
                try context.save()
                try context.save()
            }
        }
        #expect(counts.saves == 1)
        #expect(counts.writtenObjects == 3)
        #expect(counts.trips > 3)
        #expect(recorder.countingStore {}.counts == StoreCounts())
    }

    @Test("A count of many objects is one trip and no rows")
    func count() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let context = container.newBackgroundContext()
        let (number, counts) = try recorder.countingStore {
            try context.performAndWait { try context.count(for: FetchRequest<Book>()) }
        }
        #expect(number == 12)
        #expect(counts.trips == 1)
        #expect(counts.rows == 0)
    }

    @Test("What does not fit the recorder's memory is counted as lost")
    func lost() {
        let loss = TraceMessage.lost(EventLoss(process: 1, thread: 1, events: 7))
        #expect(StoreCounts([loss]).lostEvents == 7)
    }
}
