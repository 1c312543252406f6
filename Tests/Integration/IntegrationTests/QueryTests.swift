import CSQLite
import Foundation
import Testing

@Suite("faultline query")
struct QueryTests {
    private let trace = BuiltCommand.package.appendingPathComponent("Traces/n-plus-one/trace.json").path

    @Test("prints a table, or one JSON object per line")
    func formats() throws {
        let sql = """
            SELECT stackSite AS site, source, count(*) AS faults FROM fault GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 1
            """
        let text = try BuiltCommand.run(["query", trace, sql])
        #expect(text.status == 0 && text.errors == "")
        let lines = text.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[0].split(separator: " ") == ["site", "source", "faults"])
        let json = try BuiltCommand.run(["query", trace, sql, "--format", "json"])
        let row = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(lines[1].split(separator: " ").last.map(String.init) == (row["faults"] as? Int).map(String.init))
        #expect((row["site"] as? String)?.contains(".swift:") == true)
        // The same as the report's own count.
        let report = try ReportDocument(of: trace)
        let all = try BuiltCommand.run(["query", trace, "SELECT count(*) FROM fault"])
        let faults = report.totals.events["fault"].map { String($0) }
        #expect(all.output.split(whereSeparator: \.isWhitespace).last.map(String.init) == faults)
    }

    /// `SELECT * FROM fetch JOIN sql` printed "id", "process", "duration" and more twice in one object.
    @Test("prints no key of a JSON object twice")
    func keys() throws {
        func line(_ sql: String) throws -> String {
            let result = try BuiltCommand.run(["query", trace, sql, "--format", "json"])
            #expect(result.status == 0, "\(result.errors)")
            return result.output
        }
        let keyed = try line("SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS a, 5 AS b")
        #expect(keyed == #"{"a":1,"a_3":2,"a_2":3,"a_4":4,"b":5}"# + "\n")
        #expect(try line("SELECT 1 AS a, 2 AS b") == #"{"a":1,"b":2}"# + "\n")
        let joined = try line("SELECT * FROM fetch JOIN sql ON sql.parent = fetch.id LIMIT 1")
        let keys = joined.matches(of: #/[{,]"(\w+)":/#).map { String($0.1) }
        #expect(keys.count > 60 && Set(keys).count == keys.count && keys.contains("duration_2"))
    }

    @Test("without a query lists the tables and what their columns contain")
    func tables() throws {
        let result = try BuiltCommand.run(["query", trace])
        #expect(result.status == 0)
        #expect(result.output.contains("fetch: A fetch request that was executed.\n"))
        #expect(
            result.output.contains(
                "    touchedRows             integer  Distinct rows that the program accessed in the result.\n"))
        #expect(result.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test("writes the tables to a file, and never over one that is not its own")
    func file() throws {
        let directory = try TemporaryDirectory()
        let file = directory.path("trace.sqlite")
        #expect(try BuiltCommand.run(["query", trace, "-o", file]).status == 0)
        let sql = "SELECT count(*), sum(duration) FROM events"
        let whole = try BuiltCommand.run(["query", trace, sql])
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        #expect(sqlite3_open_v2(file, &connection, SQLITE_OPEN_READONLY, nil) == SQLITE_OK)
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        #expect(sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK)
        #expect(sqlite3_step(statement) == SQLITE_ROW)
        let kept = (0..<2).map { String(sqlite3_column_int64(statement, $0)) }
        #expect(whole.output.split(separator: "\n").last?.split(separator: " ").map(String.init) == kept)
        #expect(try BuiltCommand.run(["query", trace, "-o", file]).status == 0)
        let changed = try #require(FileHandle(forWritingAtPath: file))
        try changed.seekToEnd()
        try changed.write(contentsOf: Data("mine".utf8))
        let again = try BuiltCommand.run(["query", trace, "-o", file])
        #expect(again.status == 2)
        #expect(
            again.errors
                == "faultline: Cannot write \"\(file)\": it exists and is not an output of Faultline that nobody changed; "
                + "name another file with -o, or replace it with --force.\n")
        for suffix in ["-wal", "-journal", "-shm"] {
            let beside = directory.path("other.sqlite" + suffix)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: beside))
            let refused = try BuiltCommand.run(["query", trace, "-o", directory.path("other.sqlite")])
            #expect(refused.status == 2)
            #expect(
                refused.errors == "faultline: Cannot write \"\(directory.path("other.sqlite"))\": SQLite would treat "
                    + "\"\(beside)\" as part of it; name another file with -o.\n")
            #expect(try String(contentsOfFile: beside, encoding: .utf8) == "mine")
            try FileManager.default.removeItem(atPath: beside)
        }
        let nameless = try BuiltCommand.run(["query", trace, "-o", ""])
        #expect(nameless.status == 2)
        #expect(nameless.errors == "faultline: The output file has no name; name one with -o.\n")
        let nullDevice = directory.path("missing/trace.sqlite")
        let failed = try BuiltCommand.run(["query", trace, "-o", nullDevice])
        #expect(failed.status == 2)
        #expect(
            failed.errors == "faultline: Cannot write \"\(nullDevice)\": there is no folder "
                + "\"\(directory.path("missing"))\"; make it, or name another file with -o.\n")
    }

    @Test("reports errors in a query or in the trace")
    func mistakes() throws {
        let result = try BuiltCommand.run(["query", trace, "SELECT rowz FROM fetch"])
        #expect(result.status == 2 && result.output == "")
        #expect(
            result.errors
                == "faultline: Cannot run the query (no such column: rowz); \"faultline query \(trace)\" lists the "
                + "tables and their columns.\n"
        )
        #expect(try BuiltCommand.run(["query", "/not/there", "SELECT 1"]).status == 2)
    }
}
