import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("The section cache of a fetched results controller")
struct SectionCacheTests {
    private let store: TestStore
    private let caches: URL

    init() throws {
        store = try TestStore(isRecording: true)
        try store.fill(items: 7, categories: 3)
        caches = store.folder.appendingPathComponent("Caches")
    }

    private func makeController(
        in context: ManagedObjectContext? = nil, name: String? = "items", sectionNameKeyPath: String = "category.name",
        _ change: (inout FetchRequest<Item>) -> Void = { _ in }
    ) throws -> FetchedResultsController<Item> {
        var request = FetchRequest<Item>(sortDescriptors: [.ascending(sectionNameKeyPath), .ascending("name")])
        change(&request)
        let controller = FetchedResultsController(
            fetchRequest: request, managedObjectContext: context ?? store.container.newBackgroundContext(),
            sectionNameKeyPath: sectionNameKeyPath, cacheName: name)
        controller.cacheDirectory = caches
        try controller.performFetch()
        return controller
    }

    private func sections(_ controller: FetchedResultsController<Item>) -> [String] {
        (controller.sections ?? []).map { "\($0.name): \($0.map(\.name).joined(separator: " "))" }
    }

    /// The statements that counted sections.
    private var counts: Int { store.statements().count { $0.contains("GROUP BY") } }

    private var files: [URL] {
        (try? FileManager.default.contentsOfDirectory(at: caches, includingPropertiesForKeys: nil)) ?? []
    }

    private static let expected = [
        "Category 0: Item 0 Item 3 Item 6", "Category 1: Item 1 Item 4", "Category 2: Item 2 Item 5",
    ]

    @Test("saves the statement that counts the sections, and its file is the owner's alone")
    func reuse() throws {
        #expect(sections(try makeController()) == Self.expected)
        #expect(counts == 1)
        #expect(sections(try makeController()) == Self.expected)
        #expect(sections(try makeController { $0.fetchBatchSize = 2 }) == Self.expected)
        #expect(counts == 1)
        #expect(files.count == 1)
        for path in [caches.path, files[0].path] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect((attributes[.posixPermissions] as? Int ?? 0) & 0o077 == 0)
        }
        #expect(sections(try makeController(name: nil)) == Self.expected)
        #expect(counts == 1, "Without a cache and a batch size, the names come from the objects.")
    }

    @Test("is used by another container on the same file")
    func otherContainer() throws {
        _ = try makeController()
        let other = try store.foreignContext(Groceries.classes)
        #expect(sections(try makeController(in: other)) == Self.expected)
        #expect(files.count == 1)
    }

    @Test("is not used after a change of the store, whoever makes it")
    func changes() throws {
        _ = try makeController()
        let context = store.container.newBackgroundContext()
        let item = try context.fetch(FetchRequest<Item>(predicate: PropertyPath("name") == "Item 6"))[0]
        item.category = try context.fetch(
            FetchRequest<FaultlineStoreTests.Category>(predicate: PropertyPath("name") == "Category 1"))[0]
        try context.save()
        let moved = [
            "Category 0: Item 0 Item 3", "Category 1: Item 1 Item 4 Item 6", "Category 2: Item 2 Item 5",
        ]
        #expect(sections(try makeController()) == moved)
        #expect(counts == 2)
        #expect(sections(try makeController()) == moved)
        #expect(counts == 2)
        // Keeps the number of rows.
        try store.sql(
            "UPDATE ZITEM SET ZCATEGORY = (SELECT Z_PK FROM ZCATEGORY WHERE ZNAME = 'Category 2') WHERE ZNAME = 'Item 0'"
        )
        #expect(
            sections(try makeController()) == [
                "Category 0: Item 3", "Category 1: Item 1 Item 4 Item 6", "Category 2: Item 0 Item 2 Item 5",
            ])
        #expect(counts == 3)
        try store.sql("UPDATE ZCATEGORY SET ZNAME = 'Category 9' WHERE ZNAME = 'Category 0'")
        #expect(try makeController().sections?.last?.name == "Category 9")
    }

    @Test("is not used for another request with the same name")
    func requests() throws {
        _ = try makeController()
        let one = try makeController { $0.predicate = PropertyPath("price") > 2.0 }
        #expect(
            sections(one) == ["Category 0: Item 3 Item 6", "Category 1: Item 4", "Category 2: Item 5"])
        let other = try makeController { $0.predicate = PropertyPath("price") > 3.0 }
        #expect(sections(other) == ["Category 0: Item 6", "Category 1: Item 4", "Category 2: Item 5"])
        let amounts = try makeController(sectionNameKeyPath: "amount")
        #expect(sections(amounts) == ["1: " + (0..<7).map { "Item \($0)" }.joined(separator: " ")])
        let reversed = try makeController { $0.sortDescriptors[0].isAscending = false }
        #expect(reversed.sections?.map(\.name) == ["Category 2", "Category 1", "Category 0"])
        #expect(counts == 5)
        #expect(files.count == 1)
    }

    @Test("that is damaged is not used, and replaced", arguments: [0, 40, 80, 120])
    func damage(_ place: Int) throws {
        _ = try makeController()
        var data = try Data(contentsOf: files[0])
        data[min(place, data.count - 1)] ^= 1
        try data.write(to: files[0])
        #expect(sections(try makeController()) == Self.expected)
        #expect(counts == 2)
        #expect(sections(try makeController()) == Self.expected)
        #expect(counts == 2)
        try data.prefix(place).write(to: files[0])
        #expect(sections(try makeController()) == Self.expected)
    }

    @Test("is neither read nor written with unsaved changes, in a child context, or where names are not in the store")
    func withoutCache() throws {
        let context = store.container.newBackgroundContext()
        Item(context: context).name = "New"
        #expect(sections(try makeController(in: context)) == [": New"] + Self.expected)
        let child = ManagedObjectContext(parent: store.container.newBackgroundContext())
        #expect(sections(try makeController(in: child)) == Self.expected)
        _ = try makeController { $0.fetchLimit = 3 }
        _ = try makeController { $0.predicate = try? FetchPredicate(format: "name != 'x' OR now() == now()") }
        #expect(files.isEmpty)
        let memory = try TestStore { $0.type = .inMemory }
        try memory.fill(items: 2)
        #expect(try makeController(in: memory.container.newBackgroundContext()).sections?.count == 1)
        #expect(files.isEmpty)
    }

    @Test("survives the end of the program, unless the file was written a moment before")
    func restart() throws {
        let folder = try TestStore.makeFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Copy.sqlite")
        try store.sql("VACUUM INTO '\(url.path)'")
        func fetch() throws -> [String] {
            let container = try PersistentContainer(
                name: "Copy", managedObjectModel: store.container.managedObjectModel, storeURL: url,
                classes: Groceries.classes)
            defer {
                for store in container.persistentStoreCoordinator.persistentStores {
                    try? container.persistentStoreCoordinator.remove(store)
                }
            }
            return sections(try makeController(in: container.newBackgroundContext()))
        }
        #expect(try fetch() == Self.expected)
        #expect(files.isEmpty, "A later change within the same tick of the clock could not be told apart.")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)], ofItemAtPath: url.path)
        #expect(try fetch() == Self.expected)
        let written = try #require(files.first)
        let data = try Data(contentsOf: written)
        #expect(try fetch() == Self.expected)
        #expect(try Data(contentsOf: written) == data)
    }

    @Test("can be deleted, one by one or all at once")
    func deletion() throws {
        let name = "Faultline tests \(UUID().uuidString)"
        func fetch() throws {
            let controller = FetchedResultsController(
                fetchRequest: FetchRequest<Item>(sortDescriptors: [.ascending("category.name")]),
                managedObjectContext: store.container.newBackgroundContext(), sectionNameKeyPath: "category.name",
                cacheName: name)
            #expect(controller.cacheName == name)
            try controller.performFetch()
        }
        try fetch()
        try fetch()
        #expect(counts == 1)
        FetchedResultsController<Item>.deleteCache(withName: name)
        try fetch()
        #expect(counts == 2)
        FetchedResultsController<Item>.deleteCache(withName: name)
    }
}
