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
        #expect(try LogText(lines: save([insert] + own)).operations == ["save ZITEM +1 ~0 -0 –"])
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

    @Test(
        "Batch requests record the rows they name, or an unknown number",
        arguments: [
            ("INSERT INTO ZITEM(Z_PK, ZTITLE) VALUES (?,?),(?,?),(?,?)", "ZITEM +3 ~0 -0"),
            ("INSERT INTO ZITEM(Z_PK, ZA) VALUES(?, ?) ON CONFLICT(ZA) DO UPDATE SET ZB = (?)", "ZITEM +1 ~0 -0"),
            ("INSERT INTO ZITEM(Z_PK) SELECT Z_PK FROM ZOLD", "ZITEM +0 ~0 -0 and –"),
            ("UPDATE ZITEM SET ZREAD = ?, Z_OPT = (Z_OPT + 1) WHERE ZLIST = ?", "ZITEM +0 ~0 -0 and –"),
            ("UPDATE OR FAIL ZITEM SET ZREAD = ?, Z_OPT = ?  WHERE Z_PK=? AND Z_OPT=?", "ZITEM +0 ~1 -0"),
            ("DELETE FROM ZITEM WHERE Z_PK IN (?, ?, ?)", "ZITEM +0 ~0 -3"),
            ("DELETE FROM ZITEM WHERE Z_PK IN (SELECT * FROM _Z_intarray0)", "ZITEM +0 ~0 -0 and –"),
            ("DELETE FROM \"ZITEM\" WHERE Z_PK = ? AND Z_OPT = ?", "ZITEM +0 ~0 -1"),
        ])
    func batches(_ statement: String, _ changes: String) throws {
        #expect(try LogText(lines: save([statement])).operations == ["save \(changes) –"])
    }
}
