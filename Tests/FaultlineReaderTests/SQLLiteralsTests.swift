import FaultlineTrace
import Testing

@testable import FaultlineReader

@Suite("SQL kept from a log")
struct SQLLiteralsTests {
    @Test(
        "contains no values of the program",
        arguments: [
            (
                "SELECT t0.ZA FROM ZB t0 WHERE t0.ZNAME = 'Ada' AND t0.ZAGE > 42",
                "SELECT t0.ZA FROM ZB t0 WHERE t0.ZNAME = ? AND t0.ZAGE > ?"
            ),
            ("WHERE a = 'it''s' OR b = ''", "WHERE a = ? OR b = ?"), ("WHERE a = 'open", "WHERE a = ?"),
            ("a = X'00fF' AND b = x'01'", "a = ? AND b = ?"),
            ("a IN (1, -2, 3.5e-7, .5, 0xFE)", "a IN (?, -?, ?, ?, ?)"),
            ("a = 1 -- secret 7\nAND b = 2", "a = ?  \nAND b = ?"), ("a /* 'secret' */ = 1e+5", "a   = ?"),
            ("INSERT INTO ZB(Z_PK, ZNAME) VALUES(12, 'Ada')", "INSERT INTO ZB(Z_PK, ZNAME) VALUES(?, ?)"),
            ("UPDATE ZB SET ZNAME='Ada' WHERE Z_PK=7", "UPDATE ZB SET ZNAME=? WHERE Z_PK=?"),
            ("a = $$it's$$ AND b = E'it\\'s' AND c = ARRAY['x', 'y']", "a = ? AND b = ? AND c = ARRAY[?, ?]"),
        ])
    func values(sql: String, kept: String) {
        #expect(SQLLiterals.removed(from: sql) == kept)
    }

    @Test(
        "keeps its names, parameters, limits and options",
        arguments: [
            "SELECT 0, t0.Z_PK, t0.ZCOL2 FROM Z_1TAGS t0 WHERE t0.Z_1A2 = ? LIMIT 100 OFFSET 20",
            #"SELECT "a 'b' 7", `c 8`, [d 9] FROM t12"#, "(NSCoreDataStringSearch( t0.ZTITLE, ?, 129, 0) )",
            "SELECT t0.Zäöü1 FROM ZB t0 WHERE t0.Z_PK IN (SELECT * FROM _Z_intarray0)", "BEGIN EXCLUSIVE", "COMMIT",
            "SELECT COUNT( DISTINCT t0.Z_PK) FROM ZITEM t0", "",
        ])
    func others(sql: String) {
        #expect(SQLLiterals.removed(from: sql) == sql)
    }

    @Test("contains no values in any event or entry")
    func log() throws {
        let lines = [
            "2024-05-01 10:00:00.000 App[4711:1a2b] CoreData: sql: SELECT 0, t0.Z_PK, t0.ZNAME FROM ZPERSON t0 WHERE t0.ZNAME = 'Ada Secret' AND t0.ZPIN = 471147",
            "2024-05-01 10:00:00.001 App[4711:1a2b] CoreData: annotation: sql connection fetch time: 0.0005s",
            "2024-05-01 10:00:00.002 App[4711:1a2b] CoreData: annotation: total fetch execution time: 0.0010s for 1 rows.",
            "",
        ]
        var told = ""
        let file = try TraceFile(lines.joined(separator: "\n").utf8, name: "app.log")
        try withExtendedLifetime(file) { _ = try TraceReader(path: file.path).read { told += "\($0)\n" } }
        #expect(told.contains("ZNAME = ?") && told.contains("ZPIN = ?"))
        #expect(!told.contains("Secret") && !told.contains("471147"))
    }
}
