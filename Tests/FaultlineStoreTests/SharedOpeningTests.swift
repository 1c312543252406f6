import Dispatch
import FaultlineModel
import FaultlineStore
import Foundation
import Synchronization
import Testing

@Suite("A store that others open and use at the same time")
struct SharedOpeningTests {
    private let folder: URL
    private let model: ManagedObjectModel

    init() throws {
        folder = try TestStore.makeFolder()
        model = try ManagedObjectModel(entities: Groceries.entities())
    }

    @Test("Concurrent openers of a new store all get the same store")
    func race() throws {
        for round in 0..<60 {
            var description = PersistentStoreDescription(url: folder.appendingPathComponent("\(round).sqlite"))
            description.busyTimeout = 30
            description.synchronization = .off
            let (model, wanted) = (model, description)
            let results = Mutex<Set<String>>([])
            DispatchQueue.concurrentPerform(iterations: 8) { _ in
                let result: String
                do {
                    let container = try PersistentContainer(
                        name: "Test", managedObjectModel: model, storeDescription: wanted)
                    result = container.persistentStoreCoordinator.storeUUID
                } catch {
                    result = "\(error)"
                }
                results.withLock { _ = $0.insert(result) }
            }
            #expect(results.withLock { $0.count } == 1, "\(results.withLock { $0 })")
        }
    }

    @Test(
        "Opening a new store waits for another connection up to the busy timeout",
        arguments: ["BEGIN; SELECT * FROM sqlite_master", "BEGIN IMMEDIATE"])
    func otherConnection(_ transaction: String) throws {
        let url = folder.appendingPathComponent("Test.sqlite")
        try SQLShell.run("PRAGMA auto_vacuum = 2; VACUUM", url)
        let other = try OpenConnection(url)
        try other.run(transaction)
        var description = PersistentStoreDescription(url: url)
        description.busyTimeout = 0.25
        let (model, wanted) = (model, description)
        let start = ContinuousClock.now
        #expect(
            performing {
                _ = try PersistentContainer(name: "Test", managedObjectModel: model, storeDescription: wanted)
            }
                == "Opening the store in '\(url.path)' timed out after 0.25 s because another connection holds the store's lock; let it finish, or raise busyTimeout."
        )
        #expect(ContinuousClock.now - start >= .milliseconds(250))
        try other.run("COMMIT")
        _ = try PersistentContainer(name: "Test", managedObjectModel: model, storeDescription: wanted)
    }

    @Test("Contexts may wait for each other in a cycle")
    func nestedContexts() async throws {
        let store = try TestStore()
        let (first, second) = (store.context, store.container.newBackgroundContext())
        let third = store.container.newBackgroundContext()
        let order = first.performAndWait {
            second.performAndWait {
                third.performAndWait { first.performAndWait { second.performAndWait { "inside" } } }
            }
        }
        #expect(order == "inside")
        let again = await first.perform { second.performAndWait { first.performAndWait { "again" } } }
        #expect(again == "again")
    }
}
