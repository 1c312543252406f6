import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("A damaged file causes an error with a clear message, never a crash")
struct DamagedStoreTests {
    private static let pageSize = 4096

    /// Creates a store file with many pages, closed and checkpointed.
    private func makeFile() throws -> URL {
        let url = try TestStore.makeFolder().appendingPathComponent("Test.sqlite")
        do {
            let store = try TestStore()
            try store.fill(items: 600, categories: 20, tags: 7)
            try store.sql("VACUUM INTO '\(url.path)'")
        }
        return url
    }

    private func write(_ bytes: [UInt8], at offset: Int, of url: URL) throws {
        let file = try FileHandle(forWritingTo: url)
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data(bytes))
        try file.close()
    }

    /// Uses a store in every way that a program does, and returns the errors.
    private func use(_ url: URL) -> [StoreError] {
        var errors: [StoreError] = []
        func attempt(_ work: () throws -> Void) {
            do {
                try work()
            } catch let error as StoreError {
                errors.append(error)
            } catch {
                Issue.record("\(error) is no StoreError")
            }
        }
        attempt {
            let context = try PersistentContainer(
                name: "Test", managedObjectModel: ManagedObjectModel(entities: Groceries.entities()), storeURL: url,
                classes: Groceries.classes
            ).newBackgroundContext()
            var items: [Item] = []
            attempt { items = Array(try context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))) }
            for item in items.prefix(50) { _ = (item.name, item.category?.name, item.tags.count) }
            attempt {
                for category in try context.fetch(FetchRequest<FaultlineStoreTests.Category>()) {
                    _ = (category.name, category.items.count)
                }
            }
            attempt { _ = try context.count(for: FetchRequest<Item>(predicate: PropertyPath("price") > 3)) }
            items.first?.amount = 9
            Item(context: context).name = "New"
            if let last = items.last { context.delete(last) }
            attempt { try context.save() }
        }
        return errors
    }

    @Test("An overwritten page causes errors with a message, whichever page it is", arguments: 0..<24)
    func pages(_ number: Int) throws {
        let url = try makeFile()
        let size = try #require(try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int)
        let page = number * max(1, size / Self.pageSize / 24)
        try #require((page + 1) * Self.pageSize <= size)
        var generator = SystemRandomNumberGenerator()
        let garbage = (0..<Self.pageSize).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try write(garbage, at: page * Self.pageSize, of: url)
        for error in use(url) {
            #expect(error.message.hasSuffix("."))
            #expect(!error.message.isEmpty)
        }
        if page == 0 { #expect(use(url).map(\.code) == [.notADatabase]) }
    }

    @Test("Reading a table with damaged pages throws an error that names the table")
    func table() throws {
        let url = try makeFile()
        let root = try #require(
            Int(try SQLShell.run("SELECT rootpage FROM sqlite_master WHERE name = 'ZITEM'", url)[0]))
        try write([UInt8](repeating: 0xA5, count: Self.pageSize), at: (root - 1) * Self.pageSize, of: url)
        let error = try #require(use(url).first)
        #expect(error.code == .database)
        #expect(
            error.message
                == "Reading Item in '\(url.path)' failed because the file is damaged (database disk image is malformed); restore it from a copy."
        )
    }

    @Test("A truncated file causes errors, wherever it was cut", arguments: [0, 100, 4096, 4097, 20_000, 40_000])
    func cut(_ size: Int) throws {
        let url = try makeFile()
        let file = try FileHandle(forWritingTo: url)
        try file.truncate(atOffset: UInt64(size))
        try file.close()
        let errors = use(url)
        // An empty file is a new store. Pages at the end of the file are not always read.
        if size < 5000 { #expect(errors.isEmpty == (size == 0)) }
        for error in errors { #expect(error.message.hasSuffix(".") && error.sqliteCode != 0, "\(error)") }
    }

    @Test("Random bytes anywhere never end the program", arguments: 0..<20)
    func bytes(_ round: Int) throws {
        let url = try makeFile()
        let size = try #require(try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int)
        for _ in 0...round * 3 {
            try write([UInt8.random(in: 0...255)], at: Int.random(in: 100..<size), of: url)
        }
        for error in use(url) { #expect(error.message.hasSuffix("."), "\(error)") }
    }
}
