import Dispatch
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation
import Synchronization
import Testing

@Suite("Contexts read in parallel, also during a save")
struct ConnectionPoolTests {
    /// Returns a store that calls a closure for each line of its log, on the thread that runs the statement.
    private func makeStore(
        _ configure: (inout PersistentStoreDescription) -> Void = { _ in }, onLine: @escaping @Sendable (String) -> Void
    ) throws -> PersistentContainer {
        var description = PersistentStoreDescription(
            url: try TestStore.makeFolder().appendingPathComponent("Test.sqlite"))
        description.synchronization = .off
        configure(&description)
        let container = try PersistentContainer(
            name: "Test", managedObjectModel: ManagedObjectModel(entities: Groceries.entities()),
            storeDescription: description, classes: Groceries.classes, recorder: .memory(),
            sqlDebug: SQLDebugLog(level: 1, write: onLine))
        let context = container.newBackgroundContext()
        for number in 0..<3 { Item(context: context).name = "Item \(number)" }
        try context.save()
        return container
    }

    /// Runs a closure once, before the first statement that starts with a given prefix.
    private final class Interruption: Sendable {
        let beginning: String
        private let work = Mutex<(@Sendable () -> Void)?>(nil)

        init(_ beginning: String) { self.beginning = beginning }

        func set(_ new: @escaping @Sendable () -> Void) { work.withLock { $0 = new } }

        func line(_ line: String) {
            guard line.hasPrefix("CoreData: sql: \(beginning)") else { return }
            let found = work.withLock { work in
                defer { work = nil }
                return work
            }
            found?()
        }
    }

    @Test(
        "A fetch does not wait for another context's fetch", arguments: ["SELECT COUNT", "SELECT 0, t0.Z_PK, t0.Z_OPT"])
    func fetches(_ statement: String) throws {
        let interruption = Interruption(statement)
        let container = try makeStore { interruption.line($0) }
        let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
        let names = Mutex<[String]>([])
        interruption.set {
            // The first fetch still holds its connection here.
            let done = DispatchSemaphore(value: 0)
            Thread {
                let found = try? there.performAndWait {
                    try there.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")])).map(\.name)
                }
                names.withLock { $0 = found ?? [] }
                done.signal()
            }.start()
            done.wait()
        }
        if statement.contains("COUNT") {
            #expect(try here.count(for: FetchRequest<Item>()) == 3)
        } else {
            #expect(try here.fetch(FetchRequest<Item>()).map(\.name).count == 3)
        }
        #expect(names.withLock { $0 } == ["Item 0", "Item 1", "Item 2"])
    }

    @Test("A fetch and its faults do not wait for a save, and see its changes once it is done")
    func save() throws {
        let interruption = Interruption("UPDATE OR FAIL ZITEM")
        let container = try makeStore { interruption.line($0) }
        let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
        let item = try here.fetch(FetchRequest<Item>(predicate: PropertyPath("name") == "Item 1"))[0]
        item.amount = 50
        let seen = Mutex<[Int]>([])
        let read = { @Sendable in
            let amount = try? there.performAndWait {
                there.reset()
                return try there.fetch(FetchRequest<Item>(predicate: PropertyPath("name") == "Item 1"))[0].amount
            }
            seen.withLock { $0.append(amount ?? -1) }
        }
        interruption.set {
            let done = DispatchSemaphore(value: 0)
            Thread {
                read()
                done.signal()
            }.start()
            done.wait()
        }
        try here.save()
        read()
        #expect(seen.withLock { $0 } == [1, 50])
    }

    @Test("With a single connection, fetches take turns")
    func single() throws {
        let interruption = Interruption("SELECT COUNT")
        let container = try makeStore({ $0.connectionPoolMaxSize = 1 }) { interruption.line($0) }
        let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
        let asked = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        interruption.set {
            Thread {
                there.performAndWait {
                    asked.signal()
                    _ = try? there.fetchObjectIDs(FetchRequest<Item>())
                }
                done.signal()
            }.start()
            asked.wait()
        }
        #expect(try here.count(for: FetchRequest<Item>()) == 3)
        done.wait()
        #expect(try there.performAndWait { try there.count(for: FetchRequest<Item>()) } == 3)
    }

    @Test("Under concurrency, each context reads its own saves, and no context sees a row go back in time")
    func visibility() async throws {
        let store = try TestStore()
        try store.fill(items: 40)
        let ids = try store.context.fetchObjectIDs(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        let container = store.container
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    let context = container.newBackgroundContext()
                    let own = ids.indices.filter { $0 % 4 == worker }
                    let last = Mutex<[ManagedObjectID: Int64]>([:])
                    for round in 1...40 {
                        try await context.perform {
                            context.reset()
                            for place in own.prefix(3) {
                                try context.existingObject(with: ids[place])["amount"] = round
                            }
                            try context.save()
                            context.reset()
                            for place in own.prefix(3) {
                                let amount = try context.existingObject(with: ids[place])["amount"] as? Int64
                                #expect(amount == Int64(round))
                            }
                            let found = try context.fetch(FetchRequest<Item>())
                            #expect(found.count == 40)
                            for item in found {
                                let (id, amount) = (item.objectID, Int64(item.amount))
                                let before = last.withLock { $0.updateValue(amount, forKey: id) } ?? 0
                                #expect(amount >= before)
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A deleted object does not reappear because another context reads it")
    func deletions() async throws {
        let store = try TestStore()
        try store.fill(items: 200)
        let container = store.container
        let ids = try store.context.fetchObjectIDs(FetchRequest<Item>())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let context = container.newBackgroundContext()
                for id in ids {
                    try await context.perform {
                        context.delete(try context.existingObject(with: id))
                        try context.save()
                        #expect(throws: StoreError.self) {
                            try container.newBackgroundContext().existingObject(with: id)
                        }
                    }
                }
            }
            for _ in 0..<3 {
                group.addTask {
                    let context = container.newBackgroundContext()
                    for _ in 0..<60 {
                        try await context.perform {
                            _ = try context.fetch(FetchRequest<Item>()).count
                            context.reset()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.sql("SELECT COUNT(*) FROM ZITEM") == ["0"])
        for id in ids {
            #expect(throws: StoreError.self) { try store.context.existingObject(with: id) }
            store.context.reset()
        }
    }
}

@Suite("A pinned context reads one state of the store")
struct QueryGenerationTests {
    private func names(_ context: ManagedObjectContext) throws -> [String] {
        try context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")])).map { "\($0.name) \($0.amount)" }
    }

    @Test("Fetches, faults and relationships return the pinned state, including rows deleted since")
    func pinned() throws {
        let store = try TestStore()
        try store.fill(items: 3)
        let (here, there) = (store.context, store.container.newBackgroundContext())
        let ids = try here.fetchObjectIDs(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        #expect(here.queryGenerationToken == nil)
        try here.setQueryGeneration(from: .current)
        let fault = here.object(with: ids[1])
        let category = try here.fetch(FetchRequest<FaultlineStoreTests.Category>())[0]

        let theirs = try there.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        theirs[0].amount = 9
        there.delete(theirs[1])
        theirs[2].category = nil
        try there.save()
        store.container.persistentStoreCoordinator.removeUnusedRows()

        #expect(try names(here) == ["Item 0 1", "Item 1 1", "Item 2 1"])
        #expect(fault["name"] as? String == "Item 1")
        #expect(!fault.isInaccessible)
        #expect(category.items.count == 3)
        #expect(try here.count(for: FetchRequest<Item>(predicate: PropertyPath("amount") == 9)) == 0)
        #expect(try names(there) == ["Item 0 9", "Item 2 1"])

        try here.setQueryGeneration(from: nil)
        here.reset()
        #expect(try names(here) == ["Item 0 9", "Item 2 1"])
    }

    @Test("Two contexts with the same token read the same state")
    func shared() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let (here, there) = (store.context, store.container.newBackgroundContext())
        try here.setQueryGeneration(from: .current)
        let writer = store.container.newBackgroundContext()
        Item(context: writer).name = "New"
        try writer.save()
        let token = try #require(here.queryGenerationToken)
        #expect(token != .current)
        try there.setQueryGeneration(from: token)
        #expect(there.queryGenerationToken == token)
        #expect(try names(there) == ["Item 0 1"])
        try there.setQueryGeneration(from: .current)
        #expect(there.queryGenerationToken != token)
        #expect(try names(there) == ["Item 0 1", "New 1"])
        #expect(try names(here) == ["Item 0 1"])
    }

    @Test("A save, a merge or a reset moves a pinned context forward")
    func takenOn() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let (here, writer) = (store.context, store.container.newBackgroundContext())
        func write(_ name: String) throws -> SavedObjectIDs {
            let item = Item(context: writer)
            item.name = name
            try writer.save()
            return SavedObjectIDs(inserted: [item.objectID])
        }
        try here.setQueryGeneration(from: .current)
        _ = try write("A")
        Item(context: here).name = "Own"
        #expect(try here.count(for: FetchRequest<Item>(predicate: PropertyPath("name") == "A")) == 0)
        try here.save()
        #expect(try names(here) == ["A 1", "Item 0 1", "Own 1"])
        let saved = try write("B")
        #expect(try here.fetchObjectIDs(FetchRequest<Item>()).count == 3)
        here.mergeChanges(fromContextDidSave: saved)
        #expect(try here.fetchObjectIDs(FetchRequest<Item>()).count == 4)
        _ = try write("C")
        #expect(try here.fetchObjectIDs(FetchRequest<Item>()).count == 4)
        here.reset()
        #expect(try here.fetchObjectIDs(FetchRequest<Item>()).count == 5)
        #expect(here.queryGenerationToken != nil)
    }

    @Test("Saving an object that others changed since is a conflict, which the merge policy resolves")
    func conflict() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let (here, there) = (store.context, store.container.newBackgroundContext())
        try here.setQueryGeneration(from: .current)
        let mine = try here.fetch(FetchRequest<Item>())[0]
        mine.amount = 5
        try there.fetch(FetchRequest<Item>())[0].name = "theirs"
        try there.save()
        let error = try #require(throws: StoreError.self) { try here.save() }
        #expect(error.code == .conflict)
        here.mergePolicy = .mergeByPropertyObjectTrump
        try here.save()
        #expect(try names(here) == ["theirs 5"])
    }
}
