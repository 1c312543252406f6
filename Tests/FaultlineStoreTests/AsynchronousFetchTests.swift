import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("An asynchronous fetch request")
@MainActor
struct AsynchronousFetchTests {
    private let store: TestStore
    private let context: ManagedObjectContext

    init() throws {
        store = try TestStore(isRecording: true)
        try store.fill(items: 5, categories: 2)
        context = store.container.viewContext
    }

    private func request(_ change: (inout FetchRequest<Item>) -> Void = { _ in }) -> AsynchronousFetchRequest<Item> {
        var request = FetchRequest<Item>(sortDescriptors: [.descending("name")])
        change(&request)
        return AsynchronousFetchRequest(fetchRequest: request)
    }

    @Test("returns the objects of a fetch, with the same statement and one event of another thread")
    func objects() async throws {
        let found = try await context.execute(request { $0.relationshipKeyPathsForPrefetching = ["category"] })
        #expect(found.map(\.name) == ["Item 4", "Item 3", "Item 2", "Item 1", "Item 0"])
        let event = try #require(store.events.last { $0.kind == .fetch })
        guard case .fetch(let fetch) = event.detail else { return }
        #expect(fetch.rows == 5 && fetch.resultType == .objects)
        #expect(store.dictionary.site(event.site)?.file == "FaultlineStoreTests/AsynchronousFetchTests.swift")
        let statements = store.statements().count
        #expect(found[0].category?.name == "Category 0")
        #expect(store.statements().count == statements, "Rows and prefetched rows are in memory.")
        let again = try context.fetch(FetchRequest<Item>(sortDescriptors: [.descending("name")]))
        #expect(again[0] === found[0])
    }

    @Test("loads later batches on demand, and only the requested properties of partial objects")
    func batches() async throws {
        let found = try await context.execute(request { $0.fetchBatchSize = 2 })
        #expect(found.count == 5 && found[4].name == "Item 0")
        let partial = try await context.execute(request { $0.propertiesToFetch = ["name"] })
        #expect(partial.count == 5 && partial[1].name == "Item 3")
    }

    @Test("takes unsaved changes into account")
    func unsavedChanges() async throws {
        let items = try context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        items[0].name = "Zucchini"
        context.delete(items[1])
        let new = Item(context: context)
        new.name = "Item 31"
        let found = try await context.execute(request { $0.fetchLimit = 4 })
        #expect(found.map(\.name) == ["Zucchini", "Item 4", "Item 31", "Item 3"])
        context.rollback()
    }

    @Test("throws what a fetch throws, and needs a main-queue context")
    func errors() async throws {
        await #expect(throws: StoreError.self) {
            _ = try await context.execute(request { $0.predicate = PropertyPath("nmae") == "x" })
        }
        do {
            _ = try await store.context.execute(request())
            Issue.record("A context with a queue of its own is refused.")
        } catch {
            #expect(
                "\(error)"
                    == "Fetching Item: an asynchronous fetch request is for a context of the main queue; call fetch inside perform, which does not block its caller."
            )
        }
    }

    @Test("throws CancellationError in a cancelled task")
    func cancellation() async throws {
        let context = context
        let task = Task { @MainActor in
            _ = try await context.execute(AsynchronousFetchRequest(fetchRequest: FetchRequest<Item>()))
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await context.execute(request()).count == 5)
    }
}
