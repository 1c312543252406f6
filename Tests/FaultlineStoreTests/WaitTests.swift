import Dispatch
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("Who waits for what is in the trace")
struct WaitTests {
    private func waits(_ store: TestStore, for resource: TraceEvent.Wait.Resource) -> [(TraceEvent, TraceEvent.Wait)] {
        store.events.compactMap { event in
            guard case .wait(let wait) = event.detail, wait.resource == resource else { return nil }
            return (event, wait)
        }
    }

    @Test("Work that waits for a context's queue says so, and whose work it waited for", arguments: [true, false])
    func contextQueue(_ isBlocking: Bool) async throws {
        let store = try TestStore(isRecording: true)
        let context = store.context
        let (begun, asked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let thread = Thread {
            // The holder: until the others have asked.
            context.performAndWait {
                begun.signal()
                asked.wait()
            }
        }
        let holderLine = #line - 5
        thread.start()
        let line = #line + 6
        await withCheckedContinuation { done in
            DispatchQueue.global().async {
                begun.wait()
                if isBlocking {
                    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { asked.signal() }
                    context.performAndWait {}
                    done.resume()
                } else {
                    Task {
                        async let result: Void = context.perform(schedule: .enqueued) {}
                        await Task.yield()
                        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { asked.signal() }
                        try await result
                        done.resume()
                    }
                }
            }
        }
        let (event, wait) = try #require(waits(store, for: .contextQueue).first)
        let dictionary = store.dictionary
        #expect(wait.isBlocking == isBlocking)
        #expect(event.duration > 0)
        #expect(dictionary.context(event.context)?.name == context.name)
        #expect(dictionary.context(wait.holder)?.name == context.name)
        #expect(dictionary.site(wait.holderSite)?.line == holderLine)
        #expect(dictionary.site(event.site)?.file == "FaultlineStoreTests/WaitTests.swift")
        #expect((line...line + 5).contains(dictionary.site(event.site)?.line ?? 0))
        #expect(wait.holderThread != 0)
        if isBlocking { #expect(wait.holderThread != event.thread) }
    }

    @Test("A queue that nobody is on is not waited for")
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

    @Test("A lock of SQLite's that another connection of this process holds is a wait, also one in vain")
    func sqlite() throws {
        let store = try TestStore(isRecording: true) { $0.busyTimeout = 0.02 }
        try store.fill(items: 1)
        let item = try store.context.fetch(FetchRequest<Item>())[0]
        item.amount = 2
        let other = try OpenConnection(store.url)
        try other.run("BEGIN IMMEDIATE")
        #expect(performing { try store.context.save() }.contains("holds the store locked"))
        try other.run("COMMIT")
        let (event, wait) = try #require(waits(store, for: .sqlite).first)
        #expect(wait.isBlocking)
        #expect(wait.error == 5)
        #expect(wait.tries > 1)
        #expect(wait.holderProcess == 0, "it is this process")
        let dictionary = store.dictionary
        #expect(dictionary.context(event.context)?.name == store.context.name)
        let statement = try #require(store.events.first { $0.id == event.parent })
        guard case .sql(let sql) = statement.detail else { return }
        #expect(dictionary.statement(sql.statement)?.sql == "BEGIN EXCLUSIVE")
        #expect(store.events.first { $0.id == statement.parent }?.kind == .save)
    }

    @Test("A save that waits for another context's says which, and where that one saves")
    func coordinator() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 1)
        let (here, there) = (store.context, store.container.newBackgroundContext())
        // The other connection holds up the first save, and so the coordinator for the second. It has a lock of its own.
        nonisolated(unsafe) let other = try OpenConnection(store.url)
        try other.run("BEGIN IMMEDIATE")
        let done = DispatchSemaphore(value: 0)
        let line = #line + 5
        for context in [here, there] {
            Thread {
                context.performAndWait {
                    Item(context: context).name = context.name
                    try? context.save()
                }
                done.signal()
            }.start()
        }
        // Both have asked once the second waits in the trace of nobody: it is only told when it is over.
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(100)) { try? other.run("COMMIT") }
        for _ in 0..<2 { done.wait() }
        #expect(try store.sql("SELECT COUNT(*) FROM ZITEM") == ["3"])
        let (event, wait) = try #require(waits(store, for: .coordinator).first)
        let dictionary = store.dictionary
        let names = [event.context, wait.holder].map { dictionary.context($0)?.name ?? "" }
        #expect(Set(names) == [here.name, there.name])
        #expect(dictionary.site(wait.holderSite)?.line == line)
        #expect(dictionary.site(event.site)?.line == line)
        #expect(store.events.first { $0.id == event.parent }?.kind == .save)
    }
}
