import FaultlineReader
import FaultlineTrace
import Testing

@Suite("Gaps of a log")
struct LogGapTests {
    private let select = "sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTITLE FROM ZBOOK t0"

    @Test("Missing durations and rows are reported as unknown, and 0.0000s is a duration")
    func unrecorded() throws {
        #expect(try LogText(lines: [select]).operations == ["objects Book – rows –"])
        #expect(
            try LogText(lines: [select, "annotation: sql execution time: 0.0023s"]).operations
                == ["objects Book – rows 2300 µs"])
        #expect(
            try LogText(lines: [select, "annotation: total fetch execution time: 0.0000s for 0 rows."]).operations
                == ["objects Book 0 rows 0 µs"])
        let save = try LogText(lines: ["sql: BEGIN EXCLUSIVE", "sql: INSERT INTO ZBOOK(Z_PK) VALUES(?)", "sql: COMMIT"])
        #expect(save.operations == ["save Book +1 ~0 -0 –"])
        let statements = save.events.filter { $0.kind == .sql }
        #expect(save.others == [] && statements.count == 3)
        #expect(statements.allSatisfy { $0.unrecorded.contains(.duration) })
        // If lines have times, these give the duration.
        let timed = ["BEGIN EXCLUSIVE", "INSERT INTO ZBOOK(Z_PK) VALUES(?)", "COMMIT"].enumerated().map {
            "|2014-07-30 11:45:15.64\($0) App[5:a1] CoreData: sql: \($1)"
        }
        #expect(try LogText(lines: timed).operations == ["save Book +1 ~0 -0 2000 µs"])
    }

    @Test("Missing values and plans are reported with the level that would log them")
    func level() throws {
        let bind = "details: SQLite bind[0] = 7"
        let plan = ["details: SQLite: EXPLAIN QUERY PLAN SELECT 0", "|2 0 0 SCAN t0"]
        let remedies = { (lines: [String]) in
            try LogText(lines: lines).gaps.filter { !$0.remedy.isEmpty }.map { "\($0.kind) \($0.remedy)" }
        }
        let (values, plans) = ("values -com.apple.CoreData.SQLDebug 2", "plans -com.apple.CoreData.SQLDebug 4")
        // Without the rows of level 2, names are those of tables.
        let names = "entityNames -com.apple.CoreData.SQLDebug 2"
        #expect(try remedies([select]) == [names, values, plans])
        #expect(try remedies([select, bind]) == [names, plans])
        let named =
            "annotation: fetch using NSSQLiteStatement <0x60> on entity 'Book' with sql text '…' returned 2 rows"
        #expect(try remedies([select, bind, named] + plan) == [])
        #expect(try LogText(lines: [select]).gaps.map(\.kind).contains(.use))
    }

    @Test("Lines that look like Core Data's but cannot be parsed are counted")
    func notUnderstood() throws {
        let strange = [
            "annotation: sql connection fetch time: fast",
            "annotation: total fetch execution time: 0.1s for many rows.",
            "sql: FROBNICATE ZBOOK", "|annotation: total fetch execution time: 0.0002s for 3 rows.",
            "|App: annotation: sql connection fetch time: 0.0001s",
        ]
        let log = try LogText(lines: [select] + strange)
        // A total without a mark is read like one with it, and has no statement either.
        #expect(log.summary.linesNotUnderstood == 4 && log.summary.unread == 4)
        #expect(log.summary.firstNotUnderstood?.number == 2)
        #expect(log.summary.firstNotUnderstood?.reason == "annotation: sql connection fetch time: fast")
        // A total without its statement.
        let alone = try LogText(lines: ["annotation: total fetch execution time: 0.1s for 2 rows."])
        #expect(alone.summary.linesNotUnderstood == 1 && alone.operations == [])
    }

    @Test("Irrelevant Core Data lines and other output are not counted as unparsed")
    func understood() throws {
        let lines = [
            "annotation: Connecting to sqlite database file at \"/a/b.sqlite\"", "annotation: Bound intarray values.",
            "annotation: Core Data multi-threading assertions enabled.", "sql: pragma journal_mode=wal",
            "debug: WAL checkpoint: Database did checkpoint. Log size: 1012 checkpointed: 1012",
            "annotation: PostSaveMaintenance: wal_checkpoint(TRUNCATE) ", "sql: CREATE TABLE ZBOOK ( Z_PK INTEGER )",
            "error: -addPersistentStoreWithType: returned error", "|The total was fetched in no time", "|SELECT 1",
            "sql: SELECT TBL_NAME FROM SQLITE_MASTER WHERE TBL_NAME = 'Z_METADATA'", "sql: COMMIT", select,
        ]
        #expect(try LogText(lines: lines).summary.linesNotUnderstood == 0)
    }
}
