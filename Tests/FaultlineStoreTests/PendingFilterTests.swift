import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("An equality finds unsaved objects as any other comparison does")
struct PendingFilterTests {
    /// Returns unsaved items of two categories, one saved and one new, with names in two Unicode spellings.
    private func makeStore(isRecording: Bool = false) throws -> (TestStore, saved: Category, new: Category) {
        let store = try TestStore(isRecording: isRecording)
        try store.fill(items: 4, categories: 1)
        let saved = try store.context.fetch(FetchRequest<Category>())[0]
        let new = Category(context: store.context)
        new.name = "New"
        for (place, name) in ["caf\u{e9}", "cafe\u{301}", "cafe", "Cafe", "", "cafe"].enumerated() {
            let item = Item(context: store.context)
            item.name = name
            item.amount = place % 3
            item.category = place % 2 == 0 ? saved : new
        }
        return (store, saved, new)
    }

    private func names(_ store: TestStore, _ predicate: FetchPredicate) throws -> [String] {
        try store.context.fetch(FetchRequest<Item>(predicate: predicate)).map(\.name)
    }

    @Test("Texts are compared by bytes, and numbers and objects by value")
    func equalities() throws {
        let (store, saved, new) = try makeStore()
        let name = PropertyPath("name")
        #expect(try names(store, name == "caf\u{e9}").map { Array($0.utf8) } == [Array("caf\u{e9}".utf8)])
        #expect(try names(store, name == "cafe\u{301}").map { Array($0.utf8) } == [Array("cafe\u{301}".utf8)])
        #expect(try names(store, name == "cafe") == ["cafe", "cafe"])
        #expect(try names(store, name == "") == [""])
        #expect(try names(store, PropertyPath("amount") == 1 && name == "") == [""])
        #expect(try names(store, PropertyPath("category") == new) == ["cafe\u{301}", "Cafe", "cafe"])
        #expect(try names(store, PropertyPath("category") == saved).count == 4 + 3)
    }

    @Test("An equality that need not hold excludes nothing")
    func alternatives() throws {
        let (store, _, _) = try makeStore()
        let name = PropertyPath("name")
        #expect(try names(store, name == "Cafe" || name == "") == ["Cafe", ""])
        #expect(try names(store, !(name == "cafe") && PropertyPath("amount") == 2).isEmpty)
        #expect(try names(store, .comparison("name", .equalTo, "CAFE", options: .caseInsensitive)).count == 3)
        #expect(try store.context.count(for: FetchRequest<Item>(predicate: name == "cafe")) == 2)
    }

    @Test("A changed object is found by its new value, and a deleted object is not found")
    func changes() throws {
        let (store, _, _) = try makeStore()
        let items = try store.context.fetch(FetchRequest<Item>(predicate: PropertyPath("name") == "cafe")).map { $0 }
        items[0].name = "bar"
        store.context.delete(items[1])
        #expect(try names(store, PropertyPath("name") == "cafe").isEmpty)
        #expect(try names(store, PropertyPath("name") == "bar") == ["bar"])
        try store.context.save()
        #expect(try names(store, PropertyPath("name") == "bar") == ["bar"])
    }

    @Test("The fetch event counts the objects compared, or none without pending changes")
    func events() throws {
        let (store, _, _) = try makeStore(isRecording: true)
        var request = FetchRequest<Item>(predicate: PropertyPath("name") == "cafe")
        _ = try store.context.fetch(request)
        _ = try store.context.count(for: request)
        request.includesPendingChanges = false
        _ = try store.context.fetch(request)
        let fetches = store.events.compactMap { event -> TraceEvent.Fetch? in
            if case .fetch(let fetch) = event.detail { fetch } else { nil }
        }.suffix(3)
        #expect(fetches.map(\.pendingObjects) == [6, 6, 0])
        #expect(fetches.map { $0.pending > 0 } == [true, true, false])
    }
}
