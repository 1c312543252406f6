import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("SQLite's statistics")
struct StatisticsTests {
    private func statistics(_ store: TestStore) throws -> [String] {
        let url = store.url
        let table = try SQLShell.run("SELECT count(*) FROM sqlite_master WHERE name = 'sqlite_stat1'", url)
        return table == ["0"] ? [] : try SQLShell.run("SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY 1, 2", url)
    }

    private func open(_ store: TestStore, isReadOnly: Bool = false) throws {
        var description = PersistentStoreDescription(url: store.url)
        (description.analyzesWhenAdded, description.isReadOnly, description.busyTimeout) = (true, isReadOnly, 0)
        _ = try PersistentContainer(
            name: "Test", managedObjectModel: store.container.managedObjectModel, storeDescription: description)
    }

    @Test func `A store is analyzed when it is added, if requested`() throws {
        let store = try TestStore()
        try store.fill(items: 60, categories: 5, tags: 3)
        #expect(try statistics(store) == [])
        try open(store, isReadOnly: true)
        #expect(try statistics(store) == [])
        try open(store)
        #expect(try statistics(store).contains("ZITEM|Z_Item_byName|60 1"))
    }

    @Test func `A store that others write to opens without being analyzed`() throws {
        let store = try TestStore()
        try store.fill(items: 6, categories: 5, tags: 3)
        let other = try OpenConnection(store.url)
        try other.run("BEGIN IMMEDIATE")
        try open(store)
        try other.run("ROLLBACK")
        #expect(try statistics(store) == [])
    }

    /// Returns the first step of a fetch's plan, in a store with outdated statistics.
    private func step(
        _ request: FetchRequest<Item>, statistics: String? = "7 3", indexes: String? = nil
    ) throws -> PlanEntry.Row? {
        let store = try TestStore()
        try store.fill(items: 60, categories: 5, tags: 3)
        if let indexes { try SQLShell.run(indexes, store.url) }
        if let statistics {
            let url = store.url
            try SQLShell.run("ANALYZE; UPDATE sqlite_stat1 SET stat = '\(statistics)' WHERE tbl = 'ZITEM'", url)
        }
        let recording = try TestStore(isRecording: true) { $0.url = store.url }
        _ = try recording.context.fetch(request)
        // The end of the read transaction is a statement too, and comes a few milliseconds later, or before this line.
        let plans = recording.events.compactMap { event in
            if case .sql(let statement) = event.detail { recording.dictionary.plan(statement.plan) } else { nil }
        }
        return plans.last?.rows.first
    }

    @Test func `A recorded plan contains the row counts that SQLite expected`() throws {
        let all = try #require(try step(FetchRequest<Item>()))
        #expect(all.detail == "SCAN t0" && all.expectedRows == 7)
        #expect(all.indexes == ["ZCATEGORY", "ZNAME"])
        // A trailing word is not a number.
        let cheap = FetchRequest<Item>(predicate: PropertyPath("price") > 2)
        #expect(try step(cheap, statistics: "70000 3 unordered")?.expectedRows == 70_000)
        let named = FetchRequest<Item>(predicate: PropertyPath("name") == "Item 3")
        let found = try #require(try step(named, statistics: "70000 30"))
        #expect(found.detail.hasPrefix("SEARCH t0 USING INDEX Z_Item_byName (") && found.expectedRows == 30)
        #expect(found.indexes == ["ZCATEGORY", "ZNAME"] && found.table == "ZITEM" && found.uniqueIndexes == nil)
        let range = FetchRequest<Item>(predicate: PropertyPath("name") > "Item 3")
        let later = try #require(try step(range, statistics: "70000 30"))
        #expect(later.detail.hasPrefix("SEARCH t0 USING INDEX Z_Item_byName (") && later.expectedRows == nil)
    }

    @Test func `A recorded plan lists the indexes that cover plain columns and all rows`() throws {
        let indexes = """
            CREATE UNIQUE INDEX a ON ZITEM (ZPRICE, ZNAME); CREATE INDEX b ON ZITEM (ZPRICE DESC);
            CREATE INDEX c ON ZITEM (ZNAME COLLATE NOCASE, ZPRICE); CREATE INDEX d ON ZITEM (lower(ZNAME), ZPRICE);
            CREATE INDEX e ON ZITEM (ZNAME, ZPRICE) WHERE ZPRICE > 5; CREATE INDEX f ON ZITEM (ZNAME);
            """
        let step = try #require(try step(FetchRequest<Item>(), indexes: indexes))
        #expect(
            step.indexes == [
                "ZCATEGORY", "ZNAME", "ZNAME", "ZNAME COLLATE NOCASE,ZPRICE", "ZPRICE DESC", "ZPRICE,ZNAME",
            ])
        #expect(step.uniqueIndexes == ["ZPRICE,ZNAME"])
    }

    @Test func `Without statistics, a recorded plan has no expected row count`() throws {
        let all = try #require(try step(FetchRequest<Item>(), statistics: nil))
        #expect(all.detail == "SCAN t0" && all.expectedRows == nil)
    }
}
