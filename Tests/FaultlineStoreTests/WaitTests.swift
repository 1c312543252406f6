import Dispatch
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
import Foundation
import Synchronization
import Testing

@testable import FaultlineStore

#if FAULTLINE_VISIBLE_LOCKS
typealias Mutex = VisibleMutex
#endif

@Suite("The trace records waits and lock owners")
struct WaitTests {
    private func waits(_ store: TestStore, for resource: TraceEvent.Wait.Resource) -> [(TraceEvent, TraceEvent.Wait)] {
        store.events.compactMap { event in
            guard case .wait(let wait) = event.detail, wait.resource == resource else { return nil }
            return (event, wait)
        }
    }

    @Test("A wait for a context's queue is recorded with the owner and its call site", arguments: [true, false])
    func contextQueue(_ isBlocking: Bool) async throws {
        let store = try TestStore(isRecording: true)
        let context = store.context
        let asked = DispatchSemaphore(value: 0)
        let holderLine = #line + 4
        await withCheckedContinuation { begun in
            onThread {
                // The owner holds the queue until the others have requested it.
                context.performAndWait {
                    begun.resume()
                    asked.wait()
                }
            }
        }
        onThread {
            waitForWork(2, on: context)
            asked.signal()
        }
        let line = #line + 1
        if isBlocking {
            await withCheckedContinuation { done in
                onThread {
                    context.performAndWait {}
                    done.resume()
                }
            }
        } else {
            await context.perform(schedule: .enqueued) {}
        }
        let (event, wait) = try #require(waits(store, for: .contextQueue).first)
        let dictionary = store.dictionary
        #expect(wait.isBlocking == isBlocking)
        #expect(event.duration > 0)
        #expect(dictionary.context(event.context)?.name == context.name)
        #expect(dictionary.context(wait.owner)?.name == context.name)
        #expect(dictionary.site(wait.ownerSite)?.line == holderLine)
        #expect(dictionary.site(event.site)?.file == "FaultlineStoreTests/WaitTests.swift")
        #expect(dictionary.site(event.site)?.line == line + (isBlocking ? 3 : 8))
        #expect(wait.ownerThread != 0)
        if isBlocking { #expect(wait.ownerThread != event.thread) }
    }

    @Test("A free queue causes no wait")
    func freeQueue() async throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 1)
        let context = store.context
        for _ in 0..<10 {
            context.performAndWait { context.performAndWait {} }
            try await context.perform { _ = try context.count(for: FetchRequest<Item>()) }
        }
        #expect(waits(store, for: .contextQueue).isEmpty)
    }

    @Test("A wait for SQLite's lock held by another connection is recorded, even if it times out")
    func sqlite() throws {
        let store = try TestStore(isRecording: true) { $0.busyTimeout = 0.02 }
        try store.fill(items: 1)
        let item = try store.context.fetch(FetchRequest<Item>())[0]
        item.amount = 2
        let other = try OpenConnection(store.url)
        try other.run("BEGIN IMMEDIATE")
        #expect(performing { try store.context.save() }.contains("holds the store's lock"))
        try other.run("COMMIT")
        let (event, wait) = try #require(waits(store, for: .sqlite).first)
        #expect(wait.isBlocking)
        #expect(wait.error == 5)
        #expect(wait.tries > 1)
        #expect(wait.ownerProcess == 0, "it is this process")
        let dictionary = store.dictionary
        #expect(dictionary.context(event.context)?.name == store.context.name)
        let statement = try #require(store.events.first { $0.id == event.parent })
        guard case .sql(let sql) = statement.detail else {
            Issue.record("The event is no sql.")
            return
        }
        #expect(dictionary.statement(sql.statement)?.sql == "BEGIN EXCLUSIVE")
        #expect(store.events.first { $0.id == statement.parent }?.kind == .save)
    }

    @Test("A save that waits for another context's save records that context and its call site")
    func coordinator() throws {
        let folder = try TestStore.makeFolder()
        let recorder = Recorder.memory()
        let second = Mutex<(@Sendable () -> Void)?>(nil)
        var description = PersistentStoreDescription(url: folder.appendingPathComponent("Test.sqlite"))
        description.synchronization = .off
        let container = try PersistentContainer(
            name: "Test", managedObjectModel: ManagedObjectModel(entities: Groceries.entities()),
            storeDescription: description, classes: Groceries.classes, recorder: recorder,
            sqlDebug: SQLDebugLog(level: 1) { line in
                guard line.contains("BEGIN EXCLUSIVE") else { return }
                // The first save still holds the coordinator.
                second.withLock { work in
                    defer { work = nil }
                    return work
                }?()
            })
        let (here, there) = (container.newBackgroundContext(), container.newBackgroundContext())
        let done = DispatchSemaphore(value: 0)
        second.withLock { work in
            work = {
                Thread {
                    there.performAndWait {
                        Item(context: there).name = "there"
                        try? there.save()
                    }
                    done.signal()
                }.start()
                let store = container.persistentStoreCoordinator.stores[0]
                while store.writer.waiting.load(ordering: .relaxed) == 0 { sched_yield() }
            }
        }
        Item(context: here).name = "here"
        let line = #line + 1
        try here.save()
        done.wait()
        #expect(try SQLShell.run("SELECT ZNAME FROM ZITEM ORDER BY ZNAME", description.url) == ["here", "there"])
        var dictionary = TraceDictionary()
        for case .entry(_, let id, let entry) in recorder.messages() { dictionary.insert(entry, id: id) }
        let events = recorder.events()
        let event = try #require(
            events.first {
                guard case .wait(let wait) = $0.detail else { return false }
                return wait.resource == .coordinator
            })
        guard case .wait(let wait) = event.detail else {
            Issue.record("The event is no wait.")
            return
        }
        #expect(wait.isBlocking)
        #expect(dictionary.context(event.context)?.name == there.name)
        #expect(dictionary.context(wait.owner)?.name == here.name)
        #expect(dictionary.site(wait.ownerSite)?.line == line)
        #expect(dictionary.site(event.site)?.line != line)
        #expect(wait.ownerThread != 0 && wait.ownerThread != event.thread)
        #expect(events.first { $0.id == event.parent }?.kind == .save)
    }
}
