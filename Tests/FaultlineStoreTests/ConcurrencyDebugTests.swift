import FaultlineModel
import Foundation
import Testing

@testable import FaultlineStore

@Suite("With checks enabled, misuse of a context ends the program")
struct ConcurrencyDebugTests {
    @Test("Core Data's argument or an environment variable enables the checks, and the argument wins")
    func request() {
        let on = ["FAULTLINE_CONCURRENCYDEBUG": "1"]
        let argument = "-com.apple.CoreData.ConcurrencyDebug"
        #expect(!ConcurrencyDebug.isRequested([], [:]))
        #expect(ConcurrencyDebug.isRequested([], on))
        #expect(!ConcurrencyDebug.isRequested([], ["FAULTLINE_CONCURRENCYDEBUG": "0"]))
        #expect(ConcurrencyDebug.isRequested(["app", argument, "1"], [:]))
        #expect(ConcurrencyDebug.isRequested(["app", argument, "3"], [:]))
        #expect(!ConcurrencyDebug.isRequested(["app", argument, "0"], on))
        #expect(!ConcurrencyDebug.isRequested(["app", argument], [:]))
    }

    /// Returns a store that has one item and checks the use of its contexts.
    private static func checkedStore() throws -> TestStore {
        setenv("FAULTLINE_CONCURRENCYDEBUG", "1", 1)
        let store = try TestStore()
        try store.context.performAndWait {
            Item(context: store.context).name = "Milk"
            try store.context.save()
        }
        return store
    }

    private func sentence(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test("Correct use passes the checks, on private queues and on the main thread")
    func rightUse() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let store = try Self.checkedStore()
            let context = store.context
            let ids = try await context.perform {
                let items = try context.fetch(FetchRequest<Item>())
                items[0].amount = 3
                items[0].category = FaultlineStoreTests.Category(context: context)
                items[0].tags.add(Tag(context: context))
                try context.save()
                context.refresh(items[0], mergeChanges: false)
                return [items[0].amount, items[0].tags.count]
            }
            precondition(ids == [3, 1])
            let main = store.container.viewContext
            try await MainActor.run {
                let item = try main.fetch(FetchRequest<Item>())[0]
                item.amount = 4
                try main.save()
                context.performAndWait { main.performAndWait { precondition(item.amount == 4) } }
            }
        }
        #expect(sentence(result).contains("CoreData: annotation: Core Data multi-threading assertions enabled.\n"))
    }

    @Test("Using a private-queue context on another thread ends the program")
    func privateContext() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let store = try Self.checkedStore()
            _ = try store.context.fetch(FetchRequest<Item>())
        }
        #expect(
            sentence(result).contains(
                "Context 'background 1' was used off its queue; use it inside perform or performAndWait."))
    }

    @Test("Using the main-queue context on another thread ends the program")
    func mainContext() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let store = try Self.checkedStore()
            let main = store.container.viewContext
            await withCheckedContinuation { done in
                Thread {
                    _ = main.hasChanges
                    done.resume()
                }.start()
            }
        }
        #expect(
            sentence(result).contains(
                "Context 'viewContext' was used off the main thread; use it inside perform or performAndWait."))
    }

    @Test("Reading or setting an object outside its context's queue ends the program")
    func objects() async throws {
        let read = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let store = try Self.checkedStore()
            let place = try store.context.performAndWait {
                UInt(bitPattern: Unmanaged.passRetained(try store.context.fetch(FetchRequest<Item>())[0]).toOpaque())
            }
            let item = Unmanaged<Item>.fromOpaque(UnsafeRawPointer(bitPattern: place)!).takeUnretainedValue()
            _ = item.name
        }
        let text = sentence(read)
        #expect(text.contains("Item 0x000200000000000"))
        #expect(
            text.contains(
                "> was used off the queue of its context 'background 1'; use it inside perform or performAndWait."))
        let set = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let store = try Self.checkedStore()
            let place = store.context.performAndWait {
                UInt(bitPattern: Unmanaged.passRetained(Item(context: store.context)).toOpaque())
            }
            let item = Unmanaged<Item>.fromOpaque(UnsafeRawPointer(bitPattern: place)!).takeUnretainedValue()
            item.name = "Bread"
        }
        #expect(sentence(set).contains("> was used off the queue of its context 'background 1'; use it inside"))
    }

    @Test("Without the variable or argument, nothing is checked")
    func off() async throws {
        await #expect(processExitsWith: .success) {
            unsetenv("FAULTLINE_CONCURRENCYDEBUG")
            let store = try TestStore()
            Item(context: store.context).name = "Milk"
            try store.context.save()
        }
    }
}
