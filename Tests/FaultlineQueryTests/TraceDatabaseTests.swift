import CSQLite
import FaultlineDocuments
import FaultlineQuery
import FaultlineReport
import FaultlineTrace
import Testing
import TraceFixtures

@Suite("A trace as tables")
struct TraceDatabaseTests {
    private func database(_ messages: [TraceMessage]) throws -> TraceDatabase {
        let database = try TraceDatabase()
        for message in messages { try database.add(message) }
        try database.finish()
        return database
    }

    private func rows(_ sql: String, _ database: TraceDatabase) throws -> [[QueryValue]] {
        var rows: [[QueryValue]] = []
        try database.query(sql, heading: { _ in }, row: { rows.append($0) })
        return rows
    }

    @Test(arguments: EventKind.allCases)
    func `Every field of an event has a documented column in its table`(_ kind: EventKind) throws {
        let table = try #require(TraceTable.all.first { $0.name == kind.name })
        let event = TraceEvent.filled(kind).event
        var printer = EventJSON(dictionary: TraceDictionary())
        let fields = printer.members(event).map(\.0).filter { $0 != "kind" }
            .map(TraceTable.columnName(ofKey:))
        let columns = table.columns.map(\.name)
        #expect(Set(columns).count == columns.count)
        #expect(Set(fields).subtracting(columns).isEmpty)
        // The other columns hold the names behind numbers, or call sites.
        let names = [
            "sql", "planText", "callSite", "callFunction", "stackSite", "stackFunction", "scopeName", "migrationName",
        ]
        let others = Set(columns).subtracting(fields).subtracting(names).filter {
            !($0.hasSuffix("Name") && fields.contains(TraceTable.columnName(ofKey: String($0.dropLast(4)))))
                && $0 != "threadName"
        }
        #expect(others.isEmpty)
        #expect(table.columns.allSatisfy { $0.meaning.count > 5 && $0.meaning.hasSuffix(".") })
    }

    /// `SELECT limit FROM fetch` is a syntax error in SQLite, and so were `commit` and `values`.
    @Test func `No column name needs quotes, whatever SQLite's keywords are`() throws {
        let database = try database(Music().trace.closed())
        let columns = TraceTable.all.flatMap { table in table.columns.map { (table.name, $0.name) } }
        var keywords: Set<String> = []
        for place in 0..<sqlite3_keyword_count() {
            var (name, length) = (UnsafePointer<CChar>?.none, Int32(0))
            guard sqlite3_keyword_name(place, &name, &length) == SQLITE_OK, let name else { continue }
            let bytes = UnsafeRawBufferPointer(start: name, count: Int(length))
            keywords.insert(String(decoding: bytes, as: UTF8.self).lowercased())
        }
        #expect(keywords.contains("limit") && keywords.contains("values"))
        // SQLite accepts these keywords as names everywhere.
        #expect(Set(columns.map { $0.1.lowercased() }).intersection(keywords) == ["end", "plan", "rows", "trigger"])
        for (table, column) in columns {
            let sql = """
                SELECT \(column), max(\(column)) AS \(column), t.\(column) FROM \(table) AS t WHERE \(column) IS NOT NULL \
                GROUP BY \(column) HAVING \(column) > 0 ORDER BY \(column) LIMIT 1
                """
            #expect(throws: Never.self, "\(table).\(column)") { _ = try rows(sql, database) }
        }
    }

    @Test func `A renamed column holds the value of its event key`() throws {
        var music = Music()
        _ = music.fetch(music.shape("title == ?"), rows: 1) { fetch in (fetch.limit, fetch.offset) = (20, 40) }
        let database = try database(music.trace.closed())
        #expect(try rows("SELECT rowLimit, rowOffset FROM fetch", database) == [[.integer(20), .integer(40)]])
    }

    @Test func `Events are rows, with names and call sites`() throws {
        var music = Music()
        let shape = music.shape("title == ?", [.init(keyPath: "title", operation: "==")], sort: ["title ascending"])
        music.scoped(.request) { music in
            for rows in [3, 5, 9] as [UInt32] { music.fetchAndUse(shape, rows: rows) { $0.touchFirst(2) } }
        }
        let database = try database(music.trace.closed())
        #expect(
            try rows("SELECT entityName, shapeName, callSite, callFunction, sum(rows) FROM fetch", database) == [
                [
                    .text("Track"), .text("Track where title == ? by title"), .text("List.swift:42"), .text("tracks()"),
                    .integer(17),
                ]
            ])
        #expect(
            try rows("SELECT f.rows, u.touchedRows FROM fetch f JOIN use u ON u.fetch = f.id ORDER BY 1", database)
                == [3, 5, 9].map { [.integer($0), .integer(2)] })
        #expect(
            try rows("SELECT sum(value ->> 'rows') FROM use, json_each(use.runs)", database) == [[.integer(6)]])
        #expect(
            try rows("SELECT scopeName, scopeKind, phase FROM scope ORDER BY start", database) == [
                [.text("album"), .text("request"), .text("begin")], [.text("album"), .text("request"), .text("end")],
            ])
        #expect(
            try rows("SELECT kind, count(*) FROM events GROUP BY 1 ORDER BY 1", database) == [
                [.text("fetch"), .integer(3)], [.text("scope"), .integer(2)], [.text("use"), .integer(3)],
            ])
        #expect(
            try rows("SELECT process, program, isClosed, end IS NOT NULL FROM processes", database) == [
                [.integer(7), .text("/usr/bin/groceries"), .integer(1), .integer(1)]
            ])
    }

    @Test func `Stacks have their frames, innermost first`() throws {
        var music = Music()
        var fault = TraceEvent.Fault()
        fault.entity = music.track
        music.trace.event(.fault(fault), duration: 10, stack: music.readStack)
        let database = try database(music.trace.trace)
        #expect(
            try rows(
                """
                SELECT fault.stackSite, frames.depth, frames.module, frames.function, frames.line
                FROM fault JOIN frames USING (process, stack)
                """, database) == [
                    [.text("Scroll.swift:57"), .integer(0), .text("groceries"), .text("scroll()"), .integer(57)]
                ])
        // A process whose end was not recorded has no end time.
        #expect(try rows("SELECT end FROM processes", database) == [[.null]])
    }

    @Test func `The names of several processes do not mix`() throws {
        let traces = ([7, 8] as [UInt32]).flatMap { process in
            var music = Music(process: process)
            _ = music.fetch(music.shape(process == 7 ? "a == ?" : "b == ?"), rows: 1)
            return music.trace.closed()
        }
        #expect(
            try rows("SELECT process, shapeName FROM fetch ORDER BY 1", try database(traces)) == [
                [.integer(7), .text("Track where a == ?")], [.integer(8), .text("Track where b == ?")],
            ])
    }

    @Test func `An invalid query throws an error with SQLite's message`() throws {
        let database = try database(Music().trace.closed())
        for (sql, message) in [
            ("SELECT rowz FROM fetch", "no such column: rowz"), ("SELEC 1", #"near "SELEC": syntax error"#),
            ("SELECT 1; SELECT 2", "it is more than one statement"), (" -- nothing", "there is no statement in it"),
            ("DELETE FROM fetch", "it returns nothing, and a trace is not to be changed"),
            ("DELETE FROM fetch RETURNING id", "attempt to write a readonly database"),
        ] {
            do {
                _ = try rows(sql, database)
                Issue.record("\(sql) runs")
            } catch let error as QueryError {
                #expect(error.message == message)
            }
        }
        #expect(try rows("SELECT 1;  ", database) == [[.integer(1)]])
        #expect(try rows("SELECT 1; -- and no more", database) == [[.integer(1)]])
        #expect(try rows("SELECT char(65, 0, 66)", database) == [[.text("A\0B")]])
        #expect(
            try rows("SELECT NULL, 1.5, 'a', x'0aff'", database) == [
                [.null, .real(1.5), .text("a"), .blob([10, 255])]
            ])
        #expect(QueryValue.blob([10, 255]).text == "x'0aff'")
    }
}
