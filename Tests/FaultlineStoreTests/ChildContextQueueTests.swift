import Dispatch
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
import Foundation
import Synchronization
import Testing

@testable import FaultlineStore

/// Runs work on a thread of its own.
func onThread(_ work: @escaping @Sendable () -> Void) { Thread { work() }.start() }

/// Waits until `count` pieces of work are queued on a context, by threads that already run.
func waitForWork(_ count: Int, on context: ManagedObjectContext) {
    while context.queued.load(ordering: .relaxed) < count { sched_yield() }
}

@Suite("A child and its parent share the parent's queue without deadlock")
struct ChildContextQueueTests {
    private static func makeStore() throws -> TestStore {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 3)
        return store
    }

    @Test("A thread that waits for a child lends it the parent's queue", arguments: [false, true])
    func lending(_ isGrandchild: Bool) async throws {
        let store = try Self.makeStore()
        let parent = store.context
        let middle = ManagedObjectContext(parent: parent)
        let child = isGrandchild ? ManagedObjectContext(parent: middle) : middle
        parent.performAndWait {
            Item(context: parent).name = "new"
        }
        let (isOnParent, isOnChild) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let names = await withCheckedContinuation { done in
            onThread {
                child.performAndWait {
                    isOnChild.signal()
                    isOnParent.wait()
                    // The other thread holds the parent's queue and waits for this one.
                    waitForWork(2, on: child)
                    let request = FetchRequest<Item>(sortDescriptors: [.ascending("name")])
                    let names = (try? child.fetch(request).map(\.name)) ?? []
                    Item(context: child).name = "child"
                    try? child.save()
                    done.resume(returning: names)
                }
            }
            onThread {
                isOnChild.wait()
                parent.performAndWait {
                    isOnParent.signal()
                    child.performAndWait { _ = child.insertedObjects }
                }
            }
        }
        #expect(names == ["Item 0", "Item 1", "Item 2", "new"])
        let exists = middle.performAndWait { (try? middle.count(for: FetchRequest<Item>())) == 5 }
        #expect(exists)
    }

    @Test("A child that already waits for its parent's queue gets it once the parent waits for the child")
    func lendingToOneWhoWaits() async throws {
        let store = try Self.makeStore()
        let parent = store.context
        let child = ManagedObjectContext(parent: parent)
        let (isOnParent, isOnChild) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let count = await withCheckedContinuation { done in
            onThread {
                child.performAndWait {
                    isOnChild.signal()
                    isOnParent.wait()
                    done.resume(returning: (try? child.count(for: FetchRequest<Item>())) ?? 0)
                }
            }
            onThread {
                isOnChild.wait()
                parent.performAndWait {
                    isOnParent.signal()
                    // The child has requested this queue.
                    waitForWork(2, on: parent)
                    child.performAndWait {}
                }
            }
        }
        #expect(count == 3)
    }

    @Test("A child on its parent's thread uses the parent immediately")
    func nesting() throws {
        let store = try Self.makeStore()
        let parent = store.context
        let counts = try parent.performAndWait { () throws -> [Int] in
            let child = ManagedObjectContext(parent: parent)
            return try child.performAndWait { () throws -> [Int] in
                Item(context: child).name = "new"
                let grandchild = ManagedObjectContext(parent: child)
                let seen = try grandchild.performAndWait { () throws -> Int in
                    Item(context: grandchild).name = "newer"
                    try grandchild.save()
                    return try parent.performAndWait { try grandchild.count(for: FetchRequest<Item>()) }
                }
                try child.save()
                return [seen, try parent.count(for: FetchRequest<Item>())]
            }
        }
        #expect(counts == [5, 5])
    }

    @Test("A private-queue child reads from a main-queue parent whether or not the main thread is blocked")
    @MainActor
    func mainParent() async throws {
        let store = try Self.makeStore()
        let parent = store.container.viewContext
        Item(context: parent).name = "new"
        let child = ManagedObjectContext(parent: parent)
        let request = FetchRequest<Item>(predicate: PropertyPath("name") == "new")
        // The main thread is free.
        let id = try await child.perform { () throws -> ManagedObjectID in
            let item = try #require(try child.fetch(request).first)
            item.amount = 4
            try child.save()
            return item.objectID
        }
        #expect((parent.object(with: id) as? Item)?.amount == 4)
        // The main thread waits for the child's queue, which is in use.
        let isOnChild = DispatchSemaphore(value: 0)
        onThread {
            child.performAndWait {
                isOnChild.signal()
                waitForWork(2, on: child)
                (try? child.fetch(request).first)?.price = 8
                try? child.save()
            }
        }
        isOnChild.wait()
        let price = try child.performAndWait { try child.fetch(request).first?.price }
        #expect(price == 8)
        #expect((parent.object(with: id) as? Item)?.price == 8)
    }

    @Test("A main-queue child uses a parent with a private queue")
    @MainActor
    func mainChild() async throws {
        let store = try Self.makeStore()
        let parent = store.context
        parent.performAndWait { Item(context: parent).name = "new" }
        let child = ManagedObjectContext(parent: parent, concurrencyType: .mainQueue)
        #expect(try child.count(for: FetchRequest<Item>()) == 4)
        Item(context: child).name = "newer"
        try child.save()
        // The parent's thread waits for the main queue, on which this code runs.
        let (isOnParent, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        onThread {
            parent.performAndWait {
                isOnParent.signal()
                child.performAndWait {}
            }
            done.signal()
        }
        isOnParent.wait()
        #expect(try child.count(for: FetchRequest<Item>()) == 5)
        await withCheckedContinuation { resumed in
            onThread {
                done.wait()
                resumed.resume()
            }
        }
    }

    @Test("A child's wait for its parent's queue is recorded with the queue's owner")
    func waits() throws {
        let store = try Self.makeStore()
        let parent = store.context
        let child = ManagedObjectContext(parent: parent)
        let (begun, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        onThread {
            parent.performAndWait {
                begun.signal()
                // The child counts as work of the parent before it waits.
                while !parent.gate.isAwaited { sched_yield() }
            }
            isDone.signal()
        }
        begun.wait()
        #expect(try child.performAndWait { try child.count(for: FetchRequest<Item>()) } == 3)
        isDone.wait()
        let dictionary = store.dictionary
        let waits = store.events.compactMap { event -> (TraceEvent, TraceEvent.Wait)? in
            guard case .wait(let wait) = event.detail else { return nil }
            return (event, wait)
        }
        let (event, wait) = try #require(waits.first)
        #expect(waits.count == 1)
        #expect(wait.resource == .contextQueue && wait.isBlocking)
        #expect(dictionary.context(event.context)?.name == child.name)
        #expect(dictionary.context(wait.owner)?.name == parent.name)
        #expect(wait.ownerThread != 0 && wait.ownerThread != event.thread)
    }

    @Test("Concurrent work on a parent and its child loses no changes")
    func parentWaits() async throws {
        let store = try Self.makeStore()
        let parent = store.context
        let child = ManagedObjectContext(parent: parent)
        for number in 0..<50 {
            async let saved: Void = child.perform {
                Item(context: child).name = "child \(number)"
                try child.save()
            }
            async let made: Void = parent.perform { Item(context: parent).name = "parent \(number)" }
            _ = try await (saved, made)
        }
        try await parent.perform { try parent.save() }
        #expect(try store.sql("SELECT COUNT(*) FROM ZITEM") == ["103"])
    }

    // MARK: - Events

    @Test("A child's save is recorded without a trip, and its faults with the fetch they originate from")
    func events() throws {
        let store = try Self.makeStore()
        let parent = store.context
        try parent.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))[0].amount = 2
        let child = ManagedObjectContext(parent: parent, name: "form")
        let items = try child.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        let before = store.events.count
        for item in items { item.amount += 1 }
        Item(context: child).name = "new"
        child.delete(items[2])
        let line = #line + 1
        try child.save()
        let (events, dictionary) = (store.events.dropFirst(before), store.dictionary)
        let saves = events.compactMap { event -> (TraceEvent, TraceEvent.Save)? in
            guard case .save(let save) = event.detail else { return nil }
            return (event, save)
        }
        let (event, save) = try #require(saves.first)
        #expect(saves.count == 1)
        #expect(save.trips == 0 && save.commit == 0 && save.bytes == 0)
        #expect([save.inserted, save.updated, save.deleted, save.changedColumns] == [1, 2, 1, 2])
        #expect(save.entities.map { [$0.inserted, $0.updated, $0.deleted] } == [[1, 2, 1]])
        #expect(dictionary.context(event.context)?.name == "form")
        #expect(dictionary.site(event.site)?.line == line)
        let fetch = store.events.last { $0.kind == .fetch && dictionary.context($0.context)?.name == "form" }
        let faults = events.compactMap { event -> TraceEvent.Fault? in
            guard case .fault(let fault) = event.detail, dictionary.context(event.context)?.name == "form",
                fault.type == .object
            else { return nil }
            return fault
        }
        #expect(faults.count == 3)
        #expect(faults.allSatisfy { $0.origin == fetch?.id && $0.source == .rowCache })
        #expect(events.allSatisfy { $0.kind != .sql || $0.parent != event.id })
    }
}
