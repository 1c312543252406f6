import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("Text is sorted in the order that the request names")
struct TextOrderTests {
    private func names(_ store: TestStore, _ sort: FetchSortDescriptor...) throws -> [String] {
        try store.context.fetch(FetchRequest<Item>(sortDescriptors: sort)).map(\.name)
    }

    private func makeStore(_ names: [String]) throws -> TestStore {
        let store = try TestStore(isRecording: true)
        for name in names { Item(context: store.context).name = name }
        try store.context.save()
        return store
    }

    @Test(
        "The SQL and the trace contain the order",
        arguments: [
            (.lexical, "", "name ascending", ["Item 10", "Item 9", "Zebra", "apple", "item 2", "Äpfel"]),
            (
                .caseInsensitive, " COLLATE FaultlineNoCase", "name caseInsensitive ascending",
                ["apple", "Item 10", "item 2", "Item 9", "Zebra", "Äpfel"]
            ),
            (
                .localized, " COLLATE NSCollateLocaleSensitive", "name localized ascending",
                ["Äpfel", "apple", "Item 10", "item 2", "Item 9", "Zebra"]
            ),
            (
                .localizedStandard, " COLLATE NSCollateFinderlike", "name localizedStandard ascending",
                ["Äpfel", "apple", "item 2", "Item 9", "Item 10", "Zebra"]
            ),
        ] as [(TextOrder, String, String, [String])])
    func orders(order: TextOrder, sql: String, shape: String, sorted: [String]) throws {
        let store = try makeStore(["Zebra", "Item 10", "apple", "Äpfel", "Item 9", "item 2"])
        #expect(try names(store, .ascending("name", order)) == sorted)
        #expect(store.statements().last?.hasSuffix("ORDER BY t0.ZNAME\(sql)") == true)
        guard case .fetch(let fetch)? = store.events.last(where: { $0.kind == .fetch })?.detail else {
            Issue.record("no fetch")
            return
        }
        #expect(store.dictionary.shape(fetch.shape)?.sort == [shape])
        #expect(try names(store, .descending("name", order)) == sorted.reversed())
        #expect(store.statements().last?.hasSuffix("ORDER BY t0.ZNAME\(sql) DESC") == true)
    }

    @Test("Unsaved changes are sorted as they are after the save", arguments: TextOrder.allCases)
    func pending(order: TextOrder) throws {
        var random = RandomNumbers(seed: 5)
        let letters = ["a", "A", "ä", "b", "B", "1", "2", "10", " ", "z", "É", "ß"]
        func text() -> String { (0..<4).map { _ in random.one(letters) }.joined() }
        let store = try makeStore((0..<30).map { _ in text() })
        let items = try store.context.fetch(FetchRequest<Item>()).map { $0 }
        for item in items.prefix(8) { item.name = text() }
        for _ in 0..<8 { Item(context: store.context).name = text() }
        let unsaved = try names(store, .ascending("name", order), .ascending("name"))
        try store.context.save()
        store.context.reset()
        #expect(try names(store, .ascending("name", order), .ascending("name")) == unsaved)
    }

    @Test("Numbers are not affected")
    func numbers() throws {
        let store = try TestStore()
        try store.fill(items: 12)
        let prices = try store.context.fetch(
            FetchRequest<Item>(sortDescriptors: [.ascending("price", .localizedStandard)])
        ).map(\.price)
        #expect(prices == (0..<12).map { Double($0) })
    }
}
