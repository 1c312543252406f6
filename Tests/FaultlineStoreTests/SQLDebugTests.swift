import FaultlineModel
import Foundation
import Logging
import Synchronization
import Testing

@testable import FaultlineStore

@Suite("The SQL log has the same lines as Core Data's")
struct SQLDebugTests {
    private static func request(_ kind: String, _ function: String) -> String {
        "CoreData: annotation: \(kind) # at FaultlineStoreTests/SQLDebugTests.swift:# in \(function)"
    }

    private static let head =
        "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZAMOUNT, t0.ZNAME, t0.ZPRICE, t0.ZCATEGORY FROM ZITEM t0"

    @Test("Opening an existing store logs its connection and settings")
    func opening() throws {
        let store = try TestStore()
        let lines = TestStore.Lines()
        _ = try PersistentContainer(
            name: "Again", managedObjectModel: store.container.managedObjectModel, storeURL: store.url,
            sqlDebug: SQLDebugLog(level: 1) { lines.add($0) })
        #expect(
            lines.take() == [
                "CoreData: annotation: Connecting to sqlite database file at \"\(store.url.path)\"",
                "CoreData: sql: SELECT TBL_NAME FROM SQLITE_MASTER WHERE TBL_NAME = 'Z_METADATA'",
                "CoreData: sql: pragma recursive_triggers=1", "CoreData: sql: pragma journal_mode=wal",
                "CoreData: sql: pragma synchronous=2", "CoreData: sql: pragma cache_size=-32768",
                "CoreData: sql: SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA",
            ])
    }

    @Test("Level 1 logs a fetch with prefetching, faults and a count")
    func level1() throws {
        let store = try TestStore(level: 1)
        try store.fill(items: 3)
        _ = store.lines.take()
        let context = store.context
        let items = try context.fetch(FetchRequest<Item>(relationshipKeyPathsForPrefetching: ["tags"]))
        #expect(
            store.lines.take() == [
                Self.request("fetch", "level1()"),
                "CoreData: sql: " + Self.head, "CoreData: annotation: sql connection fetch time: #s",
                "CoreData: annotation: Bound intarray _Z_intarray0", "CoreData: annotation: Bound intarray values.",
                "CoreData: sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZLABEL, t1.Z_2ITEMS FROM ZTAG t0 JOIN Z_2TAGS t1 ON t0.Z_PK = t1.Z_4TAGS WHERE  t1.Z_2ITEMS IN (SELECT * FROM _Z_intarray0)  ORDER BY t1.Z_2ITEMS",
                "CoreData: annotation: sql connection fetch time: #s",
                "CoreData: annotation: total fetch execution time: #s for 0 rows.",
                "CoreData: annotation: Prefetching with key 'tags'.  Got 0 rows.",
                "CoreData: annotation: total fetch execution time: #s for 3 rows.",
            ])
        let item = items[0]
        _ = item.name
        #expect(store.lines.take() == ["CoreData: annotation: fault fulfilled from row cache for : \(item.objectID)"])
        #expect(item.category?.items.count == 3)
        let category = try #require(item.category)
        #expect(
            store.lines.take() == [
                "CoreData: sql: SELECT 0, t0.Z_PK FROM ZITEM t0 WHERE  t0.ZCATEGORY = ?",
                "CoreData: annotation: sql connection fetch time: #s",
                "CoreData: annotation: total fetch execution time: #s for 3 rows.",
                "CoreData: annotation: to-many relationship fault \"items\" for objectID \(category.objectID) fulfilled from database.  Got 3 rows",
            ])
        context.refresh(item, mergeChanges: false)
        context.persistentStoreCoordinator.stores[0].rows.remove(root: 1, key: item.objectID.key)
        _ = item.name
        #expect(
            store.lines.take() == [
                "CoreData: sql: \(Self.head) WHERE  t0.Z_PK = ?", "CoreData: annotation: sql connection fetch time: #s",
                "CoreData: annotation: total fetch execution time: #s for 1 rows.",
                "CoreData: annotation: fault fulfilled from database for : \(item.objectID)",
            ])
        _ = try context.count(for: FetchRequest<Item>())
        #expect(
            store.lines.take() == [
                Self.request("count", "level1()"), "CoreData: sql: SELECT COUNT(*) FROM ZITEM",
                "CoreData: annotation: total count request execution time: #s for count of 3.",
            ])
    }

    @Test("A save logs Core Data's two transactions, and times that Core Data omits")
    func save() throws {
        let store = try TestStore(level: 1)
        _ = store.lines.take()
        Item(context: store.context).name = "x"
        try store.context.save()
        #expect(
            store.lines.take() == [
                Self.request("save", "save()"),
                "CoreData: sql: BEGIN EXCLUSIVE", "CoreData: sql: SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?",
                "CoreData: sql: UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ? AND Z_MAX = ?",
                "CoreData: annotation: sql execution time: #s", "CoreData: sql: COMMIT",
                "CoreData: sql: BEGIN EXCLUSIVE",
                "CoreData: sql: INSERT INTO ZITEM(Z_PK, Z_ENT, Z_OPT, ZAMOUNT, ZNAME, ZPRICE, ZCATEGORY) VALUES(?, ?, ?, ?, ?, ?, ?)",
                "CoreData: annotation: sql execution time: #s", "CoreData: sql: COMMIT",
            ])
    }

    @Test("Level 2 adds bound values and row counts, level 3 also rows, and level 4 query plans")
    func higherLevels() throws {
        let store = try TestStore(level: 2)
        try store.fill(items: 2)
        _ = store.lines.take()
        let request = FetchRequest<Item>(predicate: PropertyPath("name") == "Item 1" && PropertyPath("price") != 7)
        let sql = Self.head + " WHERE ( t0.ZNAME = ? AND ( t0.ZPRICE <> ? OR  t0.ZPRICE IS NULL))"
        _ = try store.context.fetch(request)
        let first = [
            Self.request("fetch", "higherLevels()"), "CoreData: sql: " + sql,
            "CoreData: details: SQLite bind[0] = \"Item 1\"",
            "CoreData: details: SQLite bind[1] = 7", "CoreData: annotation: sql connection fetch time: #s",
        ]
        let returned =
            "CoreData: annotation: fetch using NSSQLiteStatement <#> on entity 'Item' with sql text '\(sql) ' returned 1 rows"
        let total = "CoreData: annotation: total fetch execution time: #s for 1 rows."
        #expect(store.lines.take() == first + [returned, total])

        let log = store.container.persistentStoreCoordinator.stores[0].log
        log.level = 3
        let item = try store.context.fetch(request)[0]
        let values = " with values: (\n    \"<Item: (entity: Item; id: \(item.objectID); data: <fault>)\"\n)"
        #expect(store.lines.take() == first + [returned + values, total])
        _ = try store.context.count(for: FetchRequest<Item>(predicate: PropertyPath("amount") > 0))
        #expect(
            store.lines.take().suffix(2) == [
                "CoreData: annotation: count request <NSFetchRequest: 0x0> (entity: Item; predicate: (amount > 0); sortDescriptors: ((null)); type: NSCountResultType;) returned 2",
                "CoreData: annotation: total count request execution time: #s for count of 2.",
            ])

        log.level = 4
        _ = try store.context.fetch(request)
        let plan = try #require(store.lines.take().last)
        #expect(plan.hasPrefix("CoreData: details: SQLite: EXPLAIN QUERY PLAN \(sql)\n"))
        #expect(plan.contains(" 0 0 SEARCH t0 USING INDEX Z_Item_byName (ZNAME=?)"))
    }

    @Test(
        "A request's line has its number and its line in the program, and stderr the time, program, process and thread")
    func callSites() throws {
        let lines = TestStore.Lines()
        let log = SQLDebugLog(level: 1) { lines.add(String($0.drop { $0 != " " })) }
        log.request("fetch", ("Groceries/List.swift", 42, "showList()"))
        log.request("save", ("Groceries/List.swift", 43, "add(_:)"))
        #expect(
            lines.takeAll() == [
                " annotation: fetch 1 at Groceries/List.swift:42 in showList()",
                " annotation: save 2 at Groceries/List.swift:43 in add(_:)",
            ])
        let pattern = #/\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{3} [^\[]+\[\d+:[0-9a-f]+\] /#
        #expect(try pattern.wholeMatch(in: SQLDebugLog.linePrefix()) != nil)
    }

    @Test("The command line determines the level, or else the environment")
    func requestedLevel() {
        #expect(
            SQLDebugLog.requestedLevel(["app", "-com.apple.CoreData.SQLDebug", "3"], ["FAULTLINE_SQLDEBUG": "1"]) == 3)
        #expect(SQLDebugLog.requestedLevel(["app"], ["FAULTLINE_SQLDEBUG": "1"]) == 1)
        #expect(SQLDebugLog.requestedLevel(["app", "-com.apple.CoreData.SQLDebug"], [:]) == 0)
    }

    @Test("Lines go to the host's logger once it is set")
    func logger() throws {
        let lines = TestStore.Lines()
        let log = SQLDebugLog(level: 1) { _ in Issue.record("a line beside the logger") }
        log.logger = Logger(label: "test") { _ in LineHandler(lines: lines) }
        log.connecting("/x")
        #expect(lines.take() == ["debug CoreData: annotation: Connecting to sqlite database file at \"/x\""])
    }
}

private struct LineHandler: LogHandler {
    let lines: TestStore.Lines
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .trace
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.add("\(event.level) \(event.message)")
    }
}
