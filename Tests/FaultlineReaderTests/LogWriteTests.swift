import FaultlineReader
import FaultlineTrace
import Testing

@Suite("The writes of a log's statements")
struct LogWriteTests {
    private func save(_ statements: [String]) -> [String] {
        (["BEGIN EXCLUSIVE"] + statements + ["COMMIT"]).map { "sql: " + $0 }
    }

    @Test("Join tables, history and CloudKit's tables are not entities")
    func ownTables() throws {
        let insert = "INSERT INTO ZITEM(Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES(?, ?, ?, ?)"
        let own = [
            "INSERT OR REPLACE INTO Z_1TAGS(Z_1ITEMS, Z_2TAGS) VALUES(?, ?)",
            "DELETE FROM Z_1TAGS WHERE Z_1ITEMS = ? AND Z_2TAGS = ?",
            "INSERT INTO ATRANSACTION(Z_PK, Z_ENT, Z_OPT, ZTIMESTAMP) VALUES(?, ?, ?, ?)",
            "INSERT INTO ACHANGE(Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) VALUES(?,?,?,?,?,?,?)",
            "INSERT OR IGNORE INTO ATRANSACTIONSTRING(Z_PK, ZNAME) VALUES(?, ?)",
            "INSERT INTO ANSCKRECORDMETADATA(Z_PK, Z_ENT, ZCKRECORDNAME) VALUES(?, ?, ?)",
            "UPDATE ANSCKMETADATAENTRY SET ZTRANSFORMEDVALUE = ? WHERE Z_PK = ?",
            "UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ? AND Z_MAX = ?",
        ]
        #expect(try LogText(lines: save([insert] + own)).operations == ["save Item +1 ~0 -0 –"])
        // Without an object, it is not a save by the program.
        #expect(try LogText(lines: save(own)).operations == [])
        let reads = [
            "sql: SELECT t0.Z_1ITEMS, t0.Z_2TAGS FROM Z_1TAGS t0 WHERE  t0.Z_1ITEMS IN (SELECT * FROM _Z_intarray0)",
            "sql: SELECT 0, t0.Z_PK FROM ATRANSACTION t0 WHERE t0.ZTIMESTAMP > ?",
            "sql: SELECT t0.Z_PK, t0.ZCKRECORDNAME FROM ANSCKRECORDMETADATA t0",
        ]
        let log = try LogText(lines: reads + ["annotation: total fetch execution time: 0.0500s for 7 rows."])
        #expect(log.operations == [] && log.others == ["read – –", "read – –", "read 7 50000 µs"])
    }

    private let update = "UPDATE OR FAIL ZITEM SET ZREAD = ?, Z_OPT = (Z_OPT + 1)  WHERE  ZREAD = ? "

    @Test("The times of a transaction's writes are those of its save, around which nothing is counted twice")
    func times() throws {
        let time = { (seconds: String) in "annotation: sql execution time: \(seconds)s" }
        let log = try LogText(lines: [
            "sql: BEGIN EXCLUSIVE", "sql: " + update, time("4.8000"),
            "sql: INSERT INTO ZITEM(Z_PK, Z_ENT, Z_OPT) VALUES(?, ?, ?)", time("0.2000"), "sql: COMMIT",
        ])
        #expect(log.operations == ["save Item +1 ~0 -0 and – 5000000 µs"] && log.others == [])
        let save = try #require(log.events.first { $0.kind == .save })
        for statement in log.events where statement.kind == .sql {
            #expect(statement.parent == save.id && statement.start >= save.start && statement.end <= save.end)
        }
        // COMMIT has no time in Core Data's log.
        #expect(log.gaps.contains { $0.kind == .writeTimes })
        guard case .save(let fields) = save.detail else { return }
        #expect(fields.commit == 0 && fields.isBatchRequest && fields.trips == 4)
        // Faultline's own log has it.
        let whole = try LogText(lines: [
            "sql: BEGIN IMMEDIATE", time("0.0010"), "sql: " + update, time("1.0000"), "sql: COMMIT", time("0.0300"),
        ])
        #expect(whole.operations == ["save Item +0 ~0 -0 and – 1031000 µs"] && whole.summary.linesNotUnderstood == 0)
        #expect(!whole.gaps.contains { $0.kind == .writeTimes })
        let commits = whole.events.compactMap { event -> UInt64? in
            if case .save(let save) = event.detail { save.commit } else { nil }
        }
        #expect(commits == [30_000_000])
    }

    @Test(
        "A transaction that is rolled back, or never ends, is no save", arguments: ["sql: ROLLBACK", "sql: pragma x"])
    func notSaved(_ last: String) throws {
        let log = try LogText(lines: [
            "sql: BEGIN EXCLUSIVE", "sql: " + update, "annotation: sql execution time: 1.0000s", last,
        ])
        #expect(log.operations == [] && log.events.allSatisfy { $0.parent == 0 })
        #expect(log.others.contains("write – 1000000 µs"))
        // The next transaction is one of its own.
        let next = try LogText(lines: ["sql: BEGIN EXCLUSIVE", "sql: " + update, last] + save([update]))
        #expect(next.operations == ["save Item +0 ~0 -0 and – –"])
        #expect(next.events.filter { $0.kind == .sql && $0.parent != 0 }.count == 3)
    }

    @Test("A save without times has none, and one with times at its lines has their distance")
    func span() throws {
        #expect(try LogText(lines: save([update])).operations == ["save Item +0 ~0 -0 and – –"])
        let lines = zip(["31.100", "31.350", "33.600"], ["BEGIN EXCLUSIVE", update, "COMMIT"]).map {
            "|2022-11-05 10:12:\($0) App[4711:1f2e] CoreData: sql: \($1)"
        }
        #expect(try LogText(lines: lines).operations == ["save Item +0 ~0 -0 and – 2500000 µs"])
    }

    @Test("A migration has the time that the log states, and the statements in it are its parts")
    func migration() throws {
        let statements = [
            "sql: BEGIN EXCLUSIVE", "sql: ALTER TABLE ZNOTE ADD COLUMN ZPINNED INTEGER",
            "annotation: sql execution time: 0.0102s", "sql: UPDATE ZNOTE SET ZPINNED = 0",
            "annotation: sql execution time: 2.3104s", "sql: CREATE INDEX Z_NOTE_I ON ZNOTE (ZPINNED)",
            "annotation: sql execution time: 0.0500s", "sql: COMMIT",
        ]
        let begin = "annotation: (migration)\t will attempt automatic schema migration"
        let inferring = "annotation: (migration) inferring a mapping model"
        let end = "annotation: (migration) in-place migration completed successfully in 2.41 seconds"
        let log = try LogText(lines: [begin, inferring] + statements + [end] + save([update]))
        #expect(
            log.operations == [
                "rows Note inferred 10200 µs", "rows Note inferred 2310400 µs", "index inferred 50000 µs",
                "whole inferred 2410000 µs", "save Item +0 ~0 -0 and – –",
            ])
        #expect(log.others == [] && log.summary.linesNotUnderstood == 0)
        // Without the line that says it completed, the statements are what they look like.
        #expect(try LogText(lines: [begin] + statements).operations == ["save Note +0 ~0 -0 and – 2370600 µs"])
        let mapped = "annotation: (migration) found compatible mapping model"
        let failed = "annotation: (migration) migration failed"
        #expect(try LogText(lines: [mapped, failed]).operations == ["whole objects failed –"])
        // Faultline's own lines.
        let own = [
            "annotation: (migration) Migrating the store '/a/b.sqlite' (20480 bytes), in place, with a mapping model",
            "annotation: (migration) Migrated the store in 0.0123s",
        ]
        #expect(try LogText(lines: own).operations == ["whole objects 12300 µs"])
    }

    @Test("A store that cannot be opened for want of a migration is a migration that failed")
    func failedMigration() throws {
        let error = [
            "error: -addPersistentStoreWithType:SQLite configuration:(null) URL:file:///a/b.sqlite options:{",
            "|    NSInferMappingModelAutomaticallyOption = 1;",
            "|} ... returned error Error Domain=NSCocoaErrorDomain Code=134130 \"x\" UserInfo={metadata={",
            "|    NSStoreModelVersionHashes = {",
        ]
        #expect(try LogText(lines: error).operations == ["whole inferred failed –"])
        let other = error[0] + " returned error Error Domain=NSCocoaErrorDomain Code=259"
        #expect(try LogText(lines: [other]).operations == [])
    }

    @Test("Maintenance of the file is shown, without durations")
    func maintenance() throws {
        let log = try LogText(lines: [
            "debug: PostSaveMaintenance: incremental_vacuum with freelist_count - 24 and pages_to_free 4",
            "debug: WAL checkpoint: Database busy",
            "annotation: PostSaveMaintenance: fileSize 30409752 greater than prune threshold",
        ])
        #expect(log.others == ["other 0 –", "other 0 –"])
        #expect(log.statements == ["PRAGMA incremental_vacuum", "PRAGMA wal_checkpoint"])
    }

    @Test(
        "Batch requests record the rows they name, or an unknown number",
        arguments: [
            ("INSERT INTO ZITEM(Z_PK, ZTITLE) VALUES (?,?),(?,?),(?,?)", "Item +3 ~0 -0"),
            ("INSERT INTO ZITEM(Z_PK, ZA) VALUES(?, ?) ON CONFLICT(ZA) DO UPDATE SET ZB = (?)", "Item +1 ~0 -0"),
            ("INSERT INTO ZITEM(Z_PK) SELECT Z_PK FROM ZOLD", "Item +0 ~0 -0 and –"),
            ("UPDATE ZITEM SET ZREAD = ?, Z_OPT = (Z_OPT + 1) WHERE ZLIST = ?", "Item +0 ~0 -0 and –"),
            ("UPDATE OR FAIL ZITEM SET ZREAD = ?, Z_OPT = ?  WHERE Z_PK=? AND Z_OPT=?", "Item +0 ~1 -0"),
            ("DELETE FROM ZITEM WHERE Z_PK IN (?, ?, ?)", "Item +0 ~0 -3"),
            ("DELETE FROM ZITEM WHERE Z_PK IN (SELECT * FROM _Z_intarray0)", "Item +0 ~0 -0 and –"),
            ("DELETE FROM \"ZITEM\" WHERE Z_PK = ? AND Z_OPT = ?", "Item +0 ~0 -1"),
        ])
    func batches(_ statement: String, _ changes: String) throws {
        #expect(try LogText(lines: save([statement])).operations == ["save \(changes) –"])
    }
}
