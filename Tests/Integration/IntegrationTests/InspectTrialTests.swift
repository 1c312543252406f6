import CSQLite
import Foundation
import SharedData
import Synchronization
import Testing

@Suite("faultline inspect, advice tried on a copy")
struct InspectTrialTests {
    private struct Report: Decodable {
        struct Finding: Decodable {
            var rule, title: String
            var code: [String]
        }
        struct Withdrawn: Decodable { var title, reason: String }
        struct Part: Decodable {
            var kind, name: String
            var rows, size: UInt64
        }
        struct Table: Decodable {
            struct Column: Decodable {
                var name: String
                var meanSize: Double
                var isComputed: Bool
            }
            var name: String
            var rows, size, sampled: UInt64
            var columns: [Column]
        }
        var findings: [Finding]
        var withdrawn: [Withdrawn]
        var others: [Part]
        var tables: [Table]
        var size: UInt64

        var advice: [String] { findings.map(\.title) }
    }

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func inspect(_ sql: String, then more: String? = nil) throws -> Report {
        let path = directory.path("store.sqlite")
        try SQLiteFile.run(sql, on: path)
        if let more { try SQLiteFile.run(more, on: path) }
        return try report(of: path)
    }

    private func report(of path: String) throws -> Report {
        let result = try BuiltCommand.run(["inspect", "--format", "json", path])
        guard result.status == 0 else { throw CommandFailed(text: result.errors) }
        return try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
    }

    /// Returns SQL for the numbers from 1.
    private static func numbers(_ count: Int) -> String {
        "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < \(count))"
    }

    // MARK: - VACUUM

    /// Rows in an order other than that of their keys, some of them deleted.
    private static let jumping = """
        CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT);
        \(numbers(40_000)) INSERT INTO t SELECT (i * 7919) % 40009, printf('name %d of a row that has some text', i) FROM n;
        DELETE FROM t WHERE id % 70 = 0;
        """

    /// `inspect` used to report "Vacuum the file, warning 74", even right after VACUUM.
    @Test("does not advise VACUUM for a file with little empty space, nor after VACUUM")
    func littleEmpty() throws {
        #expect(try inspect(Self.jumping).advice.contains("Vacuum the file") == false)
        let path = directory.path("store.sqlite")
        try SQLiteFile.run("VACUUM", on: path)
        #expect(try self.report(of: path).advice.contains("Vacuum the file") == false)
    }

    @Test("advises VACUUM if it makes a copy smaller, but not again")
    func muchEmpty() throws {
        let report = try inspect(Self.jumping, then: "DELETE FROM t WHERE id < 25000")
        #expect(report.advice.contains("Vacuum the file"))
        let path = directory.path("store.sqlite")
        try SQLiteFile.run("VACUUM", on: path)
        #expect(try self.report(of: path).advice.contains("Vacuum the file") == false)
    }

    /// Rows of a little more than half a page leave space that VACUUM cannot remove.
    @Test("withdraws VACUUM if a copy keeps its size")
    func halfPages() throws {
        let report = try inspect(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT);
            \(Self.numbers(2000)) INSERT INTO t SELECT i, hex(zeroblob(1150)) FROM n;
            """)
        #expect(!report.advice.contains("Vacuum the file"))
        #expect(report.withdrawn.map(\.title).contains("Vacuum the file"))
    }

    // MARK: - Indexes

    private static let messages = """
        CREATE TABLE m(id INTEGER PRIMARY KEY, owner INTEGER, body TEXT, sent REAL);
        \(numbers(30_000)) INSERT INTO m SELECT i, i % 50, printf('body of message %d with some words', i), i * 7919 % 30011 FROM n;
        """

    @Test("keeps an index whose queries are slower without it")
    func neededIndex() throws {
        let report = try inspect(
            Self.messages + "CREATE INDEX owner ON m(owner); CREATE INDEX ownerAndDate ON m(owner, sent);")
        #expect(!report.advice.contains("Drop the index owner"))
        let withdrawn = try #require(report.withdrawn.first { $0.title == "Drop the index owner" })
        #expect(withdrawn.reason.hasPrefix("Without it, "))
    }

    @Test("advises to drop one of two identical indexes")
    func twin() throws {
        let report = try inspect(Self.messages + "CREATE INDEX a ON m(owner); CREATE INDEX b ON m(owner);")
        #expect(report.findings.filter { $0.rule == "R06" }.map(\.code) == [["DROP INDEX b;"]])
    }

    private static let orders = """
        CREATE TABLE status(id INTEGER PRIMARY KEY, label TEXT);
        CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, street TEXT, town TEXT, mail TEXT);
        CREATE TABLE purchase(id INTEGER PRIMARY KEY, status INTEGER REFERENCES status, note TEXT,
            person INTEGER REFERENCES person);
        \(numbers(3)) INSERT INTO status SELECT i, 'status ' || i FROM n;
        \(numbers(2000)) INSERT INTO person SELECT i, 'a', 'b', 'c', 'd' FROM n;
        \(numbers(40_000)) INSERT INTO purchase SELECT i, i % 3 + 1, printf('note %d with some words in it', i), i * 7919 % 2000 + 1 FROM n;
        """

    /// With an index on a column of three values, queries and inserts were slower.
    @Test("advises a selective index, but no index that is not selective")
    func selectivity() throws {
        let report = try inspect(Self.orders)
        #expect(report.findings.filter { $0.rule == "R06" }.map(\.title) == ["Index purchase by person"])
        #expect(report.withdrawn.map(\.title).contains("Index purchase by status"))
    }

    // MARK: - Sizes

    private static let notes = """
        CREATE TABLE Z_PRIMARYKEY(Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        CREATE TABLE Z_METADATA(Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        INSERT INTO Z_PRIMARYKEY VALUES(1, 'Note', 0, 100); INSERT INTO Z_METADATA VALUES(1, 'u', x'00');
        CREATE TABLE ZNOTE(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTEXT VARCHAR);
        CREATE TABLE ACHANGE(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER,
            ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB);
        CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE(ZTRANSACTIONID);
        CREATE TABLE ATRANSACTION(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT);
        \(numbers(1000)) INSERT INTO ZNOTE SELECT i, 1, 1, 'a note' FROM n;
        """

    private static func history(every seconds: Int) -> String {
        """
        \(numbers(10_000)) INSERT INTO ATRANSACTION SELECT i, 16002, 1, i * \(seconds) FROM n;
        \(numbers(60_000)) INSERT INTO ACHANGE SELECT i, 16001, 1, 1, 1, i % 1000, i / 6, NULL FROM n;
        """
    }

    /// A file that was 95 % persistent history used to be reported as a thousand notes.
    @Test(
        "with a trace, advises to drop an index that none of its statements uses",
        .enabled(if: PythonPackages.has("sqlite3"), "needs python3: apt-get install python3"))
    func unusedIndex() throws {
        let (store, trace) = (directory.path("store.sqlite"), directory.path("trace.json"))
        try SQLiteFile.run(
            """
            CREATE TABLE book(id INTEGER PRIMARY KEY, isbn TEXT, title TEXT, price REAL, words TEXT COLLATE NOCASE);
            CREATE INDEX byISBN ON book(isbn);
            CREATE INDEX byTitle ON book(title);
            CREATE INDEX byPrice ON book(price);
            CREATE INDEX byWords ON book(words);
            CREATE TABLE note(text TEXT);
            CREATE INDEX byText ON note(text);
            \(Self.numbers(5000)) INSERT INTO book SELECT i, i, i, hex(randomblob(50)), hex(randomblob(20)) FROM n;
            \(Self.numbers(5000)) INSERT INTO note SELECT i FROM n;
            """, on: store)
        let script = directory.path("books.py")
        try """
        import sqlite3, sys
        db = sqlite3.connect(sys.argv[1])
        db.execute("SELECT title FROM book WHERE isbn IN (?, ?, ?)", ("1", "2", "3")).fetchall()
        db.execute("UPDATE book SET price = 1 WHERE title = ?", ("7",))
        db.execute("SELECT id FROM book WHERE words LIKE 'A%'").fetchall()
        db.execute("INSERT INTO book(isbn, title) VALUES (?, ?)", ("a", "b"))
        db.execute("CREATE TEMP TABLE own(id)")
        db.execute("INSERT INTO own VALUES (1)")
        """.write(toFile: script, atomically: true, encoding: .utf8)
        let run = try BuiltCommand.run(["record", "--quiet", "-o", trace, "--", PythonPackages.python, script, store])
        try #require(run.status == 0, "\(run.errors)")
        let result = try BuiltCommand.run(["inspect", "--format", "json", store, "--trace", trace])
        #expect(result.errors == "faultline: 1 statement of the trace does not fit this store and is left out.\n")
        let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
        // The index of the notes may be used by another program.
        #expect(report.advice == ["Drop the index byPrice"])
        #expect(report.findings.first?.code == ["DROP INDEX byPrice;"])
        // Without the events that were removed, more indexes would look unused.
        let cut = directory.path("cut.json")
        try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("faultline.ended") }.joined(separator: "\n")
            .write(toFile: cut, atomically: true, encoding: .utf8)
        let incomplete = try BuiltCommand.run(["inspect", "--format", "json", store, "--trace", cut])
        #expect(incomplete.errors.contains("Events are missing from the trace, so unused indexes are not reported."))
        #expect(try JSONDecoder().decode(Report.self, from: Data(incomplete.output.utf8)).advice.isEmpty)
        let other = directory.path("other.sqlite")
        try SQLiteFile.run("CREATE TABLE t(x)", on: other)
        let stranger = try BuiltCommand.run(["inspect", other, "--trace", trace])
        #expect(stranger.status == 0)
        #expect(stranger.errors == "faultline: The trace has no statement that uses the tables of this store.\n")
    }

    @Test(
        "with a trace, keeps indexes whose use a plan without values does not show",
        .enabled(if: PythonPackages.has("sqlite3"), "needs python3: apt-get install python3"))
    func usedIndexes() throws {
        let (store, trace) = (directory.path("store.sqlite"), directory.path("trace.json"))
        try SQLiteFile.run(
            """
            CREATE TABLE book(id INTEGER PRIMARY KEY, kind TEXT, price REAL, year INTEGER);
            CREATE INDEX byKind ON book(kind);
            CREATE INDEX byPrice ON book(price);
            CREATE INDEX byDouble ON book(year * 2);
            CREATE INDEX byYear ON book(year) WHERE year > 1900;
            CREATE TABLE author(id INTEGER, part INTEGER, name TEXT, PRIMARY KEY (id, part));
            CREATE TABLE work(title TEXT, part INTEGER, author INTEGER,
                FOREIGN KEY (author, part) REFERENCES author(id, part) ON DELETE CASCADE);
            CREATE INDEX byAuthor ON work(part, author);
            CREATE TABLE change(book INTEGER, count INTEGER);
            CREATE INDEX byBook ON change(book);
            CREATE TRIGGER counted AFTER INSERT ON book
                BEGIN UPDATE change SET count = count + 1 WHERE book = new.id; END;
            CREATE TABLE own(key INTEGER, text TEXT);
            CREATE INDEX byKey ON own(key);
            \(Self.numbers(3000)) INSERT INTO book SELECT i, 'k' || (i % 9), i, i FROM n;
            \(Self.numbers(3000)) INSERT INTO author SELECT i, 1, i FROM n;
            \(Self.numbers(3000)) INSERT INTO work SELECT i, 1, i FROM n;
            \(Self.numbers(3000)) INSERT OR IGNORE INTO change SELECT i, 0 FROM n;
            \(Self.numbers(3000)) INSERT INTO own SELECT i, i FROM n;
            """, on: store)
        let script = directory.path("books.py")
        try """
        import sqlite3, sys
        db = sqlite3.connect(sys.argv[1], isolation_level=None)
        db.execute("PRAGMA foreign_keys = ON")
        db.create_function("shorter", 1, lambda text: text)
        db.execute("SELECT * FROM book WHERE kind = 'k1' ORDER BY price LIMIT 5").fetchall()
        db.execute("SELECT * FROM book WHERE price IN (1, 2)").fetchall()
        db.execute("SELECT * FROM book WHERE year * 2 = 3800").fetchall()
        db.execute("INSERT INTO book(kind, price) VALUES ('k', 1)")
        db.execute("DELETE FROM author WHERE id = 7")
        db.execute("UPDATE work SET title = 'x' WHERE title = 'y'")
        db.execute("UPDATE change SET count = 1 WHERE count = 7")
        db.execute("SELECT shorter(text) FROM own WHERE key = 3").fetchall()
        db.execute("UPDATE own SET text = 'x' WHERE text = 'y'")
        """.write(toFile: script, atomically: true, encoding: .utf8)
        let run = try BuiltCommand.run(["record", "--quiet", "-o", trace, "--", PythonPackages.python, script, store])
        try #require(run.status == 0, "\(run.errors)")
        let result = try BuiltCommand.run(["inspect", "--format", "json", store, "--trace", trace])
        let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
        #expect(report.advice.filter { $0.hasPrefix("Drop") } == [], "\(report.advice)")
    }

    @Test("names persistent history, and advises to delete old history")
    func history() throws {
        let report = try inspect(Self.notes + Self.history(every: 600))
        let history = try #require(report.others.first { $0.kind == "history" })
        #expect(history.rows == 70_000 && history.size > report.size * 9 / 10)
        #expect(report.advice == ["Delete persistent history that every reader has processed"])
        let text = try BuiltCommand.run(["inspect", directory.path("store.sqlite")]).output
        #expect(text.contains("  persistent history  70,000  "))
    }

    @Test("names history of a few days, but does not advise to delete it")
    func youngHistory() throws {
        let report = try inspect(Self.notes + Self.history(every: 20))
        #expect(report.advice == [] && report.others.first?.kind == "history")
        #expect(report.withdrawn.map(\.title).contains("Delete persistent history that every reader has processed"))
    }

    @Test("accounts for full-text indexes, generated columns, and everything else in the file")
    func everything() throws {
        let report = try inspect(
            """
            CREATE TABLE doc(id INTEGER PRIMARY KEY, body TEXT, upper TEXT AS (upper(body)) STORED, lower TEXT AS (lower(body)));
            \(Self.numbers(3000)) INSERT INTO doc(id, body) SELECT i, printf('some %d words %d', i, i * i) FROM n;
            CREATE VIRTUAL TABLE docs USING fts5(body); INSERT INTO docs(rowid, body) SELECT id, body FROM doc;
            """)
        #expect(report.tables.map(\.name) == ["doc"])
        let columns = report.tables[0].columns
        #expect(columns.map(\.name) == ["id", "body", "upper", "lower"] && columns[3].isComputed)
        #expect(columns[2].meanSize == columns[1].meanSize && columns[2].meanSize > 10 && columns[3].meanSize == 0)
        #expect(report.others.first { $0.kind == "virtualTable" }?.name == "docs (fts5)")
        // Every page of the file is in one of them.
        let sizes = report.tables.reduce(0) { $0 + $1.size } + report.others.reduce(0) { $0 + $1.size }
        #expect(sizes == report.size)
    }

    /// Each of 1,800 columns used to be examined with queries of its own, which took 20 s.
    @Test("samples fewer rows of a table with very many columns")
    func wide() throws {
        let columns = (0..<1800).map { "c\($0)" }
        let path = directory.path("wide.sqlite")
        try SQLiteFile.run(
            """
            CREATE TABLE w(id INTEGER PRIMARY KEY, \(columns.joined(separator: ", ")));
            \(Self.numbers(4000)) INSERT INTO w(id, c0, c1799) SELECT i, 'first ' || i, 'last' FROM n;
            """, on: path)
        let table = try #require(try self.report(of: path).tables.first)
        #expect(table.rows == 4000 && (300..<1000).contains(table.sampled) && table.columns.count == 1801)
        #expect(table.columns.last?.meanSize == 4)
    }
}

@Suite("faultline inspect, a store being written")
struct InspectedWhileWrittenTests {
    /// Inserts rows, two at a time, until it is stopped.
    private final class Writer: Sendable {
        private let stops = Atomic(false)
        private let hasEnded = DispatchSemaphore(value: 0)

        init(_ path: String, journal: String) throws {
            try SQLiteFile.run(
                """
                PRAGMA journal_mode = \(journal); CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, other TEXT);
                CREATE INDEX byName ON t(name);
                """, on: path)
            Thread.detachNewThread { [self] in
                var connection: OpaquePointer?
                sqlite3_open(path, &connection)
                sqlite3_busy_timeout(connection, 10_000)
                sqlite3_exec(connection, "PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 5", nil, nil, nil)
                while !stops.load(ordering: .relaxed) {
                    sqlite3_exec(
                        connection,
                        "INSERT INTO t(name, other) VALUES(hex(randomblob(200)), 'a'), (hex(randomblob(200)), 'b')",
                        nil,
                        nil, nil)
                }
                sqlite3_close(connection)
                hasEnded.signal()
            }
        }

        func stop() {
            stops.store(true, ordering: .relaxed)
            hasEnded.wait()
        }
    }

    /// `inspect` used to report "database disk image is malformed; see with PRAGMA integrity_check whether the store is
    /// damaged".
    @Test(
        "reads a consistent state of a store that a program writes continuously",
        arguments: ["wal", "delete", "truncate"])
    func moments(_ journal: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("busy.sqlite")
        let writer = try Writer(path, journal: journal)
        defer { writer.stop() }
        struct Report: Decodable {
            struct Table: Decodable { var rows: UInt64 }
            var tables: [Table]
        }
        var last: UInt64 = 0
        for _ in 0..<6 {
            let result = try BuiltCommand.run(["inspect", "--format", "json", path])
            try #require(result.status == 0, "\(result.errors)")
            let rows = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8)).tables.first?.rows ?? 0
            // Rows are inserted in pairs and never deleted.
            #expect(rows.isMultiple(of: 2) && rows >= last)
            last = rows
        }
        #expect(last > 0)
        // Only SQLite's own files are next to the store.
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        #expect(Set(files).isSubset(of: ["busy.sqlite", "busy.sqlite-wal", "busy.sqlite-shm", "busy.sqlite-journal"]))
    }
}

@Suite("faultline inspect and verify, another store's model")
struct OtherModelTests {
    @Test(
        "reject a model that does not match the store, with the differences",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func differences() throws {
        let folder = try SharedData.url("core-data-stores/duckduckgo").path
        let store = folder + "/Bookmarks_V3.sqlite"
        let newest = folder + "/BookmarksModel.xcdatamodeld/BookmarksModel 6.xcdatamodel"
        let trace = BuiltCommand.package.appendingPathComponent("Traces/n-plus-one/trace.json").path
        for command in [["inspect", store], ["verify", trace, "--store", store]] {
            let newer = try BuiltCommand.run(command + ["--model", newest])
            #expect(newer.status == 2 && newer.output == "")
            #expect(
                newer.errors.contains(
                    "faultline: The model does not match the store \"\(store)\": the store lacks "
                        + "'BookmarkEntity.isStub', "
                ))
            #expect(
                newer.errors.contains(
                    "the store's table ZBOOKMARKENTITY has a column ZFAVORITEFOLDER that the model lacks")
            )
            let other = try BuiltCommand.run(command + ["--model", folder + "/PrivacyStats.xcdatamodeld"])
            #expect(
                other.status == 2
                    && other.errors.contains("the store has an entity 'BookmarkEntity' that the model lacks")
            )
        }
    }

    @Test(
        "use the version of a model that matches the store",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func versions() throws {
        let folder = try SharedData.url("core-data-stores/duckduckgo").path
        for store in ["Bookmarks_V1", "Bookmarks_V2", "Bookmarks_V3"] {
            let result = try BuiltCommand.run(
                ["inspect", "\(folder)/\(store).sqlite", "--model", folder + "/BookmarksModel.xcdatamodeld"])
            #expect(result.status == 0, "\(result.errors)")
        }
    }

    @Test("reject a model for a file that is not a store", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func noStore() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("plain.sqlite")
        try SQLiteFile.run("CREATE TABLE t(a)", on: path)
        let model = try SharedData.url("core-data-stores/duckduckgo/BookmarksModel.xcdatamodeld").path
        let result = try BuiltCommand.run(["inspect", path, "--model", model])
        #expect(result.status == 2)
        #expect(
            result.errors
                == "faultline: \"\(path)\" is not a Core Data or Faultline store, so no model belongs to it; leave "
                + "out --model.\n"
        )
    }
}
