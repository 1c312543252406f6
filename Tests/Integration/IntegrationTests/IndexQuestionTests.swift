import Foundation
import TestFolders
import Testing

@Suite("The report of a program, which asks SQLite about indexes", .serialized, .timeLimit(.minutes(5)))
struct IndexQuestionTests {
    private let directory: TemporaryDirectory
    private var store: String { directory.path("shop.sqlite") }
    private var trace: String { directory.path("trace.json") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let preparation = """
        import sqlite3, sys
        c = sqlite3.connect(sys.argv[1])
        c.execute("CREATE TABLE entry(id INTEGER PRIMARY KEY, name TEXT, note TEXT, day TEXT)")
        with c:
            c.executemany("INSERT INTO entry(name, note, day) VALUES(?, ?, ?)",
                [("Name %d" % n, '{"author": "p%d"}' % (n % 9000), "2024-01-01") for n in range(40000)])

        """

    @discardableResult
    private func record(_ work: String) throws -> String {
        let script = directory.path("shop.py")
        try (Self.preparation + work + "\n").write(toFile: script, atomically: true, encoding: .utf8)
        let recorded = try BuiltCommand.run(["record", "-o", trace, "--", PythonPackages.python, script, store])
        try #require(recorded.status == 0, "\(recorded.errors)")
        return recorded.errors
    }

    private static let author = #"""
        for n in range(20): c.execute("SELECT id FROM entry WHERE json_extract(note, '$.author') = ?", ("p%d" % n,)).fetchall()
        """#

    @Test(
        "names the index on an expression at the program's line, and every command numbers it alike",
        .enabled(if: PythonPackages.has("sqlite3"), "needs python3"))
    func expression() throws {
        let report = try record(Self.author)
        #expect(report.contains("Create an index on entry(json_extract(note, '$.author'))."))
        #expect(
            report.contains("→ CREATE INDEX entry_json_extract_note_author ON entry(json_extract(note, '$.author'))"))
        #expect(report.contains("shop.py:7"))
        let explained = try BuiltCommand.run(["explain", trace, "1"])
        #expect(explained.status == 0 && explained.output.contains("entry_json_extract_note_author"))
        let events = try BuiltCommand.run(["events", trace, "--finding", "1"])
        #expect(events.status == 0 && events.output.contains("shop.py:7"), "\(events.output)\(events.errors)")
        let inspected = try BuiltCommand.run(["inspect", store, "--trace", trace])
        #expect(inspected.output.contains("entry_json_extract_note_author"), "\(inspected.errors)")
    }

    @Test(
        "asks on another file with --store, and tells if the one of the trace is gone",
        .enabled(if: PythonPackages.has("sqlite3"), "needs python3"))
    func moved() throws {
        try record(Self.author)
        let copy = directory.path("copy.sqlite")
        try FileManager.default.moveItem(atPath: store, toPath: copy)
        let gone = try BuiltCommand.run(["report", trace])
        let text = gone.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(text.contains("SQLite was not asked about indexes. Cannot read the store"))
        #expect(text.contains("Pass the database, or a copy of it, with --store."))
        let found = try BuiltCommand.run(["report", trace, "--store", copy])
        #expect(found.output.contains("Create an index on entry(json_extract(note, '$.author'))."))
        let other = try BuiltCommand.run(["report", trace, "--store", trace])
        #expect(other.status == 2 && other.errors.contains("as an SQLite file"), "\(other.errors)")
    }

    @Test(
        "asks about the tables of an attached database",
        .enabled(if: PythonPackages.has("sqlite3"), "needs python3"))
    func attached() throws {
        let report = try record(
            """
            c.execute("ATTACH ? AS logs", (sys.argv[1] + "-logs",))
            c.execute("CREATE TABLE logs.hit(id INTEGER PRIMARY KEY, page INT, day TEXT)")
            with c:
                c.executemany("INSERT INTO logs.hit(page, day) VALUES(?, ?)",
                    [(n * 7919 % 5000, "2024") for n in range(60000)])
            for n in range(40): c.execute("SELECT id FROM logs.hit WHERE page = ? ORDER BY day", (n,)).fetchall()
            """)
        #expect(report.contains("→ CREATE INDEX logs.hit_page"), "\(report)")
    }

    @Test(
        "keeps the literals that belong to a statement's form, and no others",
        .enabled(if: PythonPackages.has("sqlite3"), "needs python3"))
    func literals() throws {
        let statements = [
            ("json_extract(note, '$.author') = 'p1'", "json_extract(note, '$.author') = ?"),
            ("json_extract(note, '$.k4711') = 1", "json_extract(note, ?) = ?"),
            ("json_extract(note, '$.\"a b\"') = 1", "json_extract(note, ?) = ?"),
            ("note ->> '$.list[3].name' = 'x'", "note ->> '$.list[3].name' = ?"),
            ("note -> 'author' = 'x'", "note -> 'author' = ?"), ("name > 'author'", "name > ?"),
            ("strftime('%Y-%m', day) = '2024-01'", "strftime('%Y-%m', day) = ?"),
            ("strftime('secret', day) = '1'", "strftime(?, day) = ?"),
            ("date(day, 'unixepoch') = '2024'", "date(day, 'unixepoch') = ?"),
            ("date(day, 'secret') = '2024'", "date(day, ?) = ?"),
            ("substr(name, 1, 3) = 'Nam'", "substr(name, 1, 3) = ?"),
            ("substr(name, 4711) = 'a'", "substr(name, ?) = ?"),
            ("max(id, 3) = 4", "max(id, ?) = ?"), ("coalesce(name, '$.secret') = 'a'", "coalesce(name, ?) = ?"),
        ]
        try record(
            statements.map { #"c.execute(r"""SELECT id FROM entry WHERE \#($0.0)""").fetchall()"# }.joined(
                separator: "\n"))
        let query = try BuiltCommand.run(
            ["query", trace, "SELECT DISTINCT sql FROM sql WHERE sql LIKE 'SELECT id%'", "--format", "csv"])
        for (condition, kept) in statements {
            #expect(query.output.contains(kept), "\(condition): \(query.output)\(query.errors)")
        }
        for secret in ["4711", "secret", "a b"] { #expect(!query.output.contains(secret)) }
    }
}
