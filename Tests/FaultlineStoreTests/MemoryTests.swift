import FaultlineModel
import FaultlineTrace
import Foundation
import Testing

@testable import FaultlineStore

@Suite("Memory use follows the objects that are alive")
struct MemoryTests {
    @Test("The key map matches a dictionary through growth and removal")
    func keyMap() {
        var map = KeyMap()
        var model: [Int64: Int] = [:]
        var generator = Generator(state: 42)
        for _ in 0..<20_000 {
            let key = Int64(generator.next() % 500) - 100
            switch generator.next() % 3 {
            case 0, 1:
                let value = Int(generator.next() % 1_000_000) + 1
                map.insert(key, UnsafeMutableRawPointer(bitPattern: value)!)
                model[key] = value
            default:
                map.remove(key)
                model[key] = nil
            }
        }
        #expect(map.count == model.count)
        for key in Int64(-100)..<400 {
            #expect(map.address(key).map { Int(bitPattern: $0) } == model[key])
        }
        map.insert(1000, UnsafeMutableRawPointer(bitPattern: 8)!)
        map.remove(1000, address: UnsafeMutableRawPointer(bitPattern: 16)!)
        #expect(map.address(1000) != nil, "another entry has the key by now")
    }

    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
    }

    @Test("A full row cache evicts rows that no object uses, and keeps the others")
    func rowCache() throws {
        let store = try TestStore { $0.rowCacheLimit = 256 << 10 }
        try store.fill(items: 20_000)
        let cache = store.container.persistentStoreCoordinator.stores[0].rows
        let kept: Item
        do {
            kept = try store.context.fetch(FetchRequest<Item>(predicate: PropertyPath("price") == 5))[0]
            _ = try store.context.fetch(FetchRequest<Item>())
        }
        #expect(cache.count < 10_000)
        #expect(kept.name == "Item 5")
        let row = try #require(kept.row)
        #expect(!row.isSuperseded)
        cache.removeUnused()
        #expect(cache.count < 1000)
        #expect(cache.row(root: 1, key: kept.objectID.key) != nil)
    }

    @Test("Objects can be released on other threads while their context looks them up")
    func releaseOnOtherThreads() async throws {
        let store = try TestStore()
        try store.fill(items: 200)
        let context = store.context
        for _ in 0..<20 {
            let held = try await context.perform { Held(try context.fetch(FetchRequest<Item>()).map { $0 }) }
            async let released: Void = held.release()
            let names = try await context.perform { try context.fetch(FetchRequest<Item>()).map(\.name).count }
            await released
            #expect(names == 200)
        }
        #expect(context.registeredObjects.isEmpty)
    }

    /// Carries objects to another thread, only to release them there.
    private final class Held: @unchecked Sendable {
        // Accessed only once, by release().
        private var objects: [Item]
        init(_ objects: [Item]) { self.objects = objects }
        @concurrent func release() async { objects = [] }
    }

    @Test("Contexts on many threads read and write one store")
    func manyContexts() async throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 50)
        let container = store.container
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for round in 0..<10 {
                        try await container.performBackgroundTask { context in
                            let item = Item(context: context)
                            item.name = "\(writer) \(round)"
                            let items = try context.fetch(FetchRequest<Item>(fetchBatchSize: 7))
                            #expect(items.allSatisfy { !$0.name.isEmpty })
                            item.category = items[0].category
                            try context.save()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.sql("SELECT COUNT(*), COUNT(DISTINCT Z_PK) FROM ZITEM") == ["90|90"])
    }

    @Test("Statements that differ only in their limits do not accumulate")
    func statements() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        for limit in 1...400 { _ = try store.context.fetch(FetchRequest<Item>(fetchLimit: limit)) }
        let connection = store.container.persistentStoreCoordinator.stores[0].writer.sqlite
        #expect(connection.statementCount <= 256)
        #expect(try store.context.fetch(FetchRequest<Item>(fetchLimit: 1)).count == 1)
    }

    @Test("Fetches of single rows do not waste the row cache on spare capacity")
    func smallFetches() throws {
        let store = try TestStore { $0.rowCacheLimit = 512 << 10 }
        try store.fill(items: 100)
        let cache = store.container.persistentStoreCoordinator.stores[0].rows
        cache.removeUnused()
        for price in 0..<100 {
            let request = FetchRequest<Item>(predicate: PropertyPath("price") == price)
            #expect(try store.context.fetch(request)[0].name == "Item \(price)")
        }
        #expect(cache.count == 100)
    }

    @Test("Objects released after a batched pass leave no rows behind")
    func batchedPass() throws {
        let store = try TestStore { $0.rowCacheLimit = 1 << 10 }
        try store.fill(items: 500)
        let cache = store.container.persistentStoreCoordinator.stores[0].rows
        cache.removeUnused()
        do {
            let items = try store.context.fetch(FetchRequest<Item>(fetchBatchSize: 20))
            for item in items { #expect(!item.name.isEmpty) }
            #expect(cache.count <= 20 * (FetchResults<Item>.retainedBatches + 1))
        }
        cache.removeUnused()
        #expect(cache.count == 0)
        #expect(store.context.registeredObjects.isEmpty)
    }

    @Test("A save is visible in every context that still has the row as a fault")
    func freshRows() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let (first, second) = (store.context, store.container.newBackgroundContext())
        let early = try first.fetch(FetchRequest<Item>())[0]
        let late = try second.fetch(FetchRequest<Item>())[0]
        _ = try store.container.newBackgroundContext().fetch(FetchRequest<Item>())[0]
        late.name = "New"
        try second.save()
        #expect(early.isFault)
        #expect(early.name == "New")
    }

    @Test("Several reads in one perform share one transaction, which ends with it")
    func readTransaction() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 10)
        let before = store.statements(ofType: .transaction).count
        StoreConnection.$idleMilliseconds.withValue(60_000) {
            store.context.performAndWait {
                let items = try? store.context.fetch(FetchRequest<Item>())
                for item in items ?? FetchResults.none(store) { _ = item.tags.count }
            }
        }
        #expect(Array(store.statements(ofType: .transaction)[before...]) == ["BEGIN", "COMMIT"])
    }
}

extension FetchResults where Object == Item {
    static func none(_ store: TestStore) -> FetchResults<Item> {
        Issue.record("the fetch failed")
        return try! store.context.fetch(FetchRequest<Item>(predicate: .value(false)))
    }
}
