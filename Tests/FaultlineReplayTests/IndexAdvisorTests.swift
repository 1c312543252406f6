import CSQLite
import FaultlineTrace
import Foundation
import TestFolders
import Testing
import TraceFixtures

@testable import FaultlineProfile
@testable import FaultlineReplay
@testable import FaultlineRules

@Suite("Questions to SQLite about indexes")
struct IndexAdvisorTests {
    /// A database whose tables have no indexes, with values that show what each one would save.
    private static func database(_ changes: [String] = []) throws -> String {
        let path = TestFolder.file("sqlite").path
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let file = try DatabaseFile(copy: path, named: "shop.sqlite")
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19999)"
        for statement in [
            "CREATE TABLE book(id INTEGER PRIMARY KEY, author INT, day TEXT, kind TEXT, note TEXT)",
            """
            INSERT INTO book(author, day, kind, note) \(numbers)
            SELECT nullif(i % 5000, 0), '2024-' || printf('%05d', i % 1000), iif(i % 100, 'usual', 'rare'),
            '{"by": "p' || (i % 4000) || '"}' FROM n
            """,
            "CREATE TABLE shelf(id INTEGER PRIMARY KEY, author INT)",
            "INSERT INTO shelf(author) \(numbers) SELECT i FROM n LIMIT 100",
            "CREATE TABLE message(id INTEGER PRIMARY KEY, body TEXT)",
            "CREATE TABLE session(id INTEGER PRIMARY KEY, first INT REFERENCES message(id), last INT REFERENCES message(id))",
            "INSERT INTO message(body) \(numbers) SELECT 'm' || i FROM n",
            "INSERT INTO session(first, last) \(numbers) SELECT i / 2 + 1, i / 2 + 2 FROM n",
            "CREATE TABLE \"sel ect\"(\"group\" TEXT, k1 INT, PRIMARY KEY (k1)) WITHOUT ROWID",
            "INSERT INTO \"sel ect\" \(numbers) SELECT 'g' || i, i FROM n",
            "CREATE VIEW rare AS SELECT * FROM book WHERE kind = 'rare'",
        ] + changes { try file.run(statement) }
        return path
    }

    private static let shared = Result { try database() }

    private func examine(
        _ sql: String, values: String? = nil, rows: UInt64 = 1, steps: UInt64 = 0, besides others: [String] = [],
        on path: String? = nil
    ) throws -> StatementExamination {
        let advisor = try IndexAdvisor(path: try path ?? Self.shared.get())
        advisor.valuesPatience = 600_000_000_000
        let statement = StatementToExamine(
            sql: sql, executions: 1, rows: rows, steps: steps, samples: [values].compactMap { $0 })
        let examinations = advisor.examine(
            [statement], besides: others.map { StatementToExamine(sql: $0, executions: 1, rows: 1) })
        return try #require(examinations[sql])
    }

    private func tuning(_ examination: StatementExamination) throws -> StatementTuning {
        guard case .change(let tuning) = examination else {
            Issue.record("\(examination)")
            throw CancellationError()
        }
        return tuning
    }

    private static let indexed: [(sql: String, indexes: [String])] = [
        ("SELECT id FROM book WHERE author > 1 AND author < 3", ["book(author)"]),
        ("SELECT id FROM book WHERE author BETWEEN 1 AND 2", ["book(author)"]),
        ("SELECT id FROM book WHERE author IN (1, 2)", ["book(author)"]),
        ("SELECT id FROM book WHERE author = 1 OR author = 7", ["book(author)"]),
        ("SELECT id FROM book WHERE author = 1 OR day = '2024-00002'", ["book(author)", "book(day)"]),
        ("SELECT id FROM book WHERE author IS NULL", ["book(author)"]),
        ("SELECT day, count(*) FROM book WHERE author = 1 GROUP BY day", ["book(author)"]),
        (
            "SELECT id FROM book WHERE author = 1 UNION SELECT id FROM book WHERE day = '2024-00007'",
            ["book(author)", "book(day)"]
        ),
        ("SELECT id FROM book WHERE lower(day) = '2024-00001'", ["book(lower(day))"]),
        ("SELECT b.id FROM book b WHERE json_extract(b.note, '$.by') = 'p7'", ["book(json_extract(note, '$.by'))"]),
        ("SELECT id FROM book WHERE note ->> '$.by' = 'p7'", ["book(note ->> '$.by')"]),
        ("SELECT id FROM book WHERE day = '2024-00001' COLLATE NOCASE", ["book(day COLLATE NOCASE)"]),
        (
            "SELECT id, day FROM book WHERE author > 5 ORDER BY day COLLATE NOCASE LIMIT 20",
            ["book(day COLLATE NOCASE)"]
        ),
        ("SELECT id, (SELECT count(*) FROM book WHERE book.author = shelf.author) FROM shelf", ["book(author)"]),
        (
            "SELECT id FROM shelf WHERE NOT EXISTS (SELECT 1 FROM book WHERE book.author = shelf.author + 9999)",
            ["book(author)"]
        ),
        ("SELECT max(author) FROM book", ["book(author)"]),
        ("SELECT id FROM book WHERE day GLOB '2024-0000*'", ["book(day)"]),
        (
            "SELECT id FROM book WHERE kind = 'usual' ORDER BY day DESC, author LIMIT 5",
            ["book(kind, day DESC, author)"]
        ),
        (
            "SELECT id FROM book WHERE (author, day) > (4990, '2024-1') ORDER BY author, day LIMIT 5",
            ["book(author, day)"]
        ),
        ("UPDATE book SET kind = 'old' WHERE author = 7", ["book(author)"]),
        ("WITH q AS (SELECT * FROM book WHERE author = 7) SELECT count(*) FROM q", ["book(author)"]),
        ("SELECT shelf.id, book.id FROM shelf LEFT JOIN book ON book.author = shelf.author", ["book(author)"]),
        ("SELECT id FROM book WHERE author = 4999 LIMIT 1 OFFSET 0", ["book(author)"]),
        ("SELECT id FROM rare WHERE day = '2024-00100'", ["book(kind, day)"]),
        ("UPDATE book SET kind = 'old' WHERE author = 7 RETURNING id", ["book(author)"]),
        ("SELECT k1 FROM \"sel ect\" WHERE \"group\" = 'g5'", ["\"sel ect\"(\"group\")"]),
        ("DELETE FROM message WHERE id BETWEEN 15000 AND 15030", ["session(\"first\")", "session(\"last\")"]),
    ]

    @Test("The index that SQLite would use is found, and no wider one", arguments: indexed)
    func indexes(_ sql: String, _ indexes: [String]) throws {
        let tuning = try tuning(examine(sql, values: sql))
        let found = tuning.indexes.map { index in
            "\(StatementText.quoted(index.table))(\(index.columns.joined(separator: ", ")))"
        }
        #expect(found.sorted() == indexes)
        #expect(tuning.after.steps * 5 <= tuning.before.steps)
        #expect(tuning.hasRecordedValues && tuning.before.plan != tuning.after.plan)
    }

    @Test(
        "A statement that no index serves is reported as that",
        arguments: [
            "SELECT id FROM book WHERE id = 7", "SELECT id FROM book WHERE author + 1 = 5", "SELECT count(*) FROM book",
            "SELECT id FROM book ORDER BY random() LIMIT 1", "SELECT id FROM book WHERE kind LIKE '%al'",
        ])
    func nothing(_ sql: String) throws {
        #expect(try examine(sql, values: sql) == .nothing(hasRecordedValues: true))
    }

    @Test("Without values, some are drawn from the rows, also those of expressions")
    func drawnValues() throws {
        for (sql, columns) in [
            ("SELECT id FROM book WHERE author = ?", "author"), ("SELECT id FROM book WHERE author IN (…)", "author"),
            ("SELECT id FROM book WHERE lower(day) = lower(?)", "lower(day)"),
            ("SELECT id FROM book b WHERE json_extract(b.note, '$.by') = ?", "json_extract(note, '$.by')"),
            ("SELECT id FROM book WHERE author > ? AND day = ? LIMIT ?", "day"),
        ] {
            let tuning = try tuning(examine(sql))
            #expect(tuning.indexes.map(\.columns) == [[columns]], "\(sql)")
            #expect(!tuning.hasRecordedValues)
        }
    }

    /// The steps that SQLite takes for a statement.
    private static func steps(_ sql: String, on path: String) throws -> UInt64 {
        let file = try DatabaseFile(copy: path, named: "shop.sqlite")
        try file.run("BEGIN")
        let query = try PreparedQuery(sql, on: file)
        try query.run([])
        let steps = query.taken(SQLITE_STMTSTATUS_VM_STEP)
        try file.run("ROLLBACK")
        return steps
    }

    @Test("Of the values in the copy, those count with which the statement takes as many steps as it did")
    func typicalValues() throws {
        let path = try Self.shared.get()
        let sql = "SELECT id FROM book WHERE kind = ? ORDER BY day DESC, author LIMIT ?"
        for kind in ["usual", "rare"] {
            let recorded = "SELECT id FROM book WHERE kind = '\(kind)' ORDER BY day DESC, author LIMIT 1"
            let steps = try Self.steps(recorded, on: path)
            let tuning = try tuning(examine(sql, rows: 1, steps: steps))
            #expect(tuning.runs == (kind == "rare" ? 2 : 1))
            #expect(Double(tuning.before.steps) / Double(tuning.runs) / Double(steps) > 0.8)
            #expect(Double(tuning.before.steps) / Double(tuning.runs) / Double(steps) < 1.25)
            #expect(tuning.resemblesRecording)
        }
        // No value makes it take a tenth of the steps.
        #expect(try tuning(examine(sql, rows: 1, steps: 6000)).resemblesRecording == false)
    }

    @Test("A value of no row is tried for runs that found nothing")
    func absentValue() throws {
        let path = try Self.shared.get()
        let steps = try Self.steps("SELECT id FROM book WHERE kind = 'none' LIMIT 1", on: path)
        let tuning = try tuning(examine("SELECT id FROM book WHERE kind = ? LIMIT ?", rows: 0, steps: steps))
        #expect(tuning.indexes.map(\.columns) == [["kind"]])
    }

    @Test("Values of no row are among the others only if they may be")
    func absentVariations() throws {
        let file = try DatabaseFile(copy: try Self.shared.get(), named: "shop.sqlite")
        let sql = "SELECT count(*) FROM book WHERE kind = ? AND author > ?"
        let drawn = try DrawnStatement(sql, runs: 1, rows: 1, on: file)
        let query = try PreparedQuery("SELECT id FROM book WHERE kind = ?1 AND ?2 = ?2", on: file)
        let end = TrialClock.wall.now + 600_000_000_000
        let found = try [false, true].map { isAbsent in
            try drawn.variations(finding: 1, absent: isAbsent, until: end, on: file).map { try query.run([$0]) }
        }
        #expect(found[0].allSatisfy { $0 > 0 } && found[1].contains(0))
        #expect(found[1].count == found[0].count + 2)
    }

    @Test("Values that no column is compared with are guessed, if the statement then takes as many steps as it did")
    func guessedValues() throws {
        let path = try Self.shared.get()
        let exists = "SELECT id FROM shelf WHERE NOT EXISTS (SELECT ? FROM book WHERE book.author = shelf.author + ?)"
        let steps = try Self.steps(
            exists.replacing("SELECT ?", with: "SELECT 1").replacing("+ ?", with: "+ 1"), on: path)
        #expect(try tuning(examine(exists, steps: steps)).indexes.map(\.columns) == [["author"]])
        #expect(try examine(exists, steps: 100 * steps) == .notExamined(DrawnStatement.unknownValues))
    }

    @Test(
        "A row that is inserted from another query has no values to guess, and orders by number are not guessed as the first"
    )
    func unusualValues() throws {
        let path = try Self.shared.get()
        let insertion = "WITH d(a) AS (VALUES (?)) INSERT INTO shelf SELECT NULL, a FROM d"
        #expect(try examine(insertion, steps: 1_000_000, on: path) == .notExamined(DrawnStatement.unknownValues))
        let ordered = "SELECT id, author, day FROM book ORDER BY ? LIMIT ?"
        #expect(try examine(ordered, steps: 1_000_000, on: path) == .notExamined(DrawnStatement.unknownValues))
    }

    @Test(
        "The statements of triggers get their indexes",
        arguments: [
            ("INSERT INTO shelf(author) VALUES (?)", "INSERT INTO shelf(author) VALUES (7)"),
            ("INSERT INTO shelf VALUES (?, …)", "INSERT INTO shelf VALUES (NULL, 7)"),
            ("UPDATE shelf SET author = ? WHERE id = ?", "UPDATE shelf SET author = 7 WHERE id = 5"),
        ])
    func triggers(_ sql: String, _ recorded: String) throws {
        let body = "BEGIN UPDATE book SET note = 'moved;' WHERE author = NEW.author AND 'x;' <> OLD.author; END"
        let path = try Self.database([
            "CREATE TRIGGER placed AFTER INSERT ON shelf \(body.replacing("OLD.author", with: "NEW.author"))",
            "CREATE TRIGGER moved AFTER UPDATE ON shelf \(body)",
        ])
        let steps = try Self.steps(recorded, on: path)
        let tuning = try tuning(examine(sql, steps: steps, on: path))
        #expect(tuning.indexes.map { [$0.table] + $0.columns } == [["book", "author"]])
    }

    @Test("Rows that the recorded runs found count, although drawn values find fewer")
    func recordedRows() throws {
        #expect(
            try examine("SELECT id FROM book WHERE author > ? AND author < ?", rows: 15_000)
                == .nothing(hasRecordedValues: false))
    }

    @Test(
        "A statement that cannot be examined gets the reason",
        arguments: [
            (
                "SELECT id FROM book WHERE author + ? = 5",
                "The trace has no values, and those of this statement are not all compared with columns; record with --values."
            ),
            (
                "SELECT slug(day) FROM book WHERE author = ?",
                "SQLite cannot run \"SELECT slug(day) FROM book WHERE author = ?\" (no such function: slug)."
            ),
            ("SELECT id FROM book WHERE name = ?", "The store has no column name in book."),
            (
                "SELECT id FROM film WHERE name = ?",
                "The database has no table film, which may be a temporary one or in an attached database."
            ),
            (
                "ATTACH ? AS other",
                "The trace has no values, and those of this statement are not all compared with columns; record with --values."
            ),
            ("PRAGMA user_version", "SQLite cannot run \"PRAGMA user_version\" (not authorized)."),
        ])
    func notExamined(_ sql: String, _ reason: String) throws {
        #expect(try examine(sql) == .notExamined(reason))
    }

    @Test("Runs that take too long with and without indexes show nothing")
    func longRuns() throws {
        let sql = "SELECT count(*) FROM book a, book b, book c WHERE a.author + b.author + c.author = 1"
        let advisor = try IndexAdvisor(path: Self.shared.get())
        advisor.longestRun = 10_000_000
        let examinations = advisor.examine([StatementToExamine(sql: sql, executions: 1, rows: 1, samples: [sql])])
        #expect(examinations[sql] == .notExamined("Its runs take too long on the copy."))
    }

    @Test("A column with an order that only the program knows is left alone")
    func collations() throws {
        let path = try Self.database(["CREATE TABLE word(text TEXT COLLATE danish)"])
        let sql = "SELECT text FROM word WHERE text = 'a'"
        #expect(
            try examine(sql, values: sql, on: path)
                == .notExamined("Only the program has the collation danish of the column text."))
    }

    @Test("Statistics alone are advised if they make SQLite use an index that there is")
    func statistics() throws {
        let path = try Self.database(["CREATE INDEX usual ON book(kind)", "CREATE INDEX days ON book(day)"])
        let sql = "SELECT * FROM book WHERE kind = 'usual' ORDER BY day LIMIT 5"
        let tuning = try tuning(examine(sql, values: sql, on: path))
        #expect(tuning.indexes.isEmpty && tuning.analyzes)
        #expect(tuning.code == ["ANALYZE"])
        #expect(tuning.after.plan == ["SCAN book USING INDEX days"])
    }

    @Test("An index that makes another statement slow gets statistics, with which it does not")
    func otherStatements() throws {
        let path = try Self.database([
            "CREATE TABLE event(id INTEGER PRIMARY KEY, kind TEXT)",
            "INSERT INTO event(kind) SELECT 'k' || (id * 7919 % 40) FROM book",
        ])
        let sql = "SELECT max(kind) FROM event WHERE id > 0"
        let alone = try tuning(examine(sql, values: sql, on: path))
        #expect(alone.code == ["CREATE INDEX event_kind ON event(kind)"])
        let other = "SELECT DISTINCT kind FROM event LIMIT 40"
        let both = try tuning(examine(sql, values: sql, besides: [other], on: path))
        #expect(both.slower.isEmpty && both.code == alone.code + ["ANALYZE"])
    }

    @Test("One index serves two statements if it begins with the columns of both")
    func shared() throws {
        let one = "SELECT id FROM book WHERE author = 7",
            two = "SELECT id FROM book WHERE author = 7 AND day > '2024-00006' ORDER BY day"
        let path = try Self.database(["UPDATE book SET author = author % 10"])
        let advisor = try IndexAdvisor(path: path)
        let examinations = advisor.examine(
            [two, one].map { StatementToExamine(sql: $0, executions: 1, rows: 1, samples: [$0]) })
        let indexes = try [one, two].map { try tuning(#require(examinations[$0])).code }
        #expect(indexes[0] == indexes[1] && indexes[0].count == 1, "\(indexes)")
    }

    @Test("A new index has a name of its own, and the plan has it")
    func names() throws {
        let path = try Self.database(["CREATE INDEX book_author ON book(day)"])
        let sql = "SELECT id FROM book WHERE author = 7"
        let tuning = try tuning(examine(sql, values: sql, on: path))
        #expect(tuning.code == ["CREATE INDEX book_author_2 ON book(author)"])
        #expect(tuning.after.plan == ["SEARCH book USING COVERING INDEX book_author_2 (author=?)"])
    }

    @Test("No index helps a statement that forbids indexes")
    func forcedIndexes() throws {
        let sql = "SELECT id FROM book NOT INDEXED WHERE author = 7"
        // The statement is measured as it is, so that no index helps it.
        #expect(try examine(sql, values: sql) == .nothing(hasRecordedValues: true))
    }

    @Test("Tables of an attached database are examined on a copy of its file, and an index is created in it")
    func attached() throws {
        let other = try Self.database(["CREATE TABLE loan(id INTEGER PRIMARY KEY, book INT, day TEXT)"])
        let file = try DatabaseFile(copy: other, named: "other.sqlite")
        try file.run("INSERT INTO loan(book, day) SELECT id % 4000, day FROM book")
        let path = try Self.database(["INSERT INTO shelf(author) SELECT id FROM book"])
        let advisor = try IndexAdvisor(path: path, attaching: ["lib": other, "gone": other + ".no"])
        let inOther = "SELECT id FROM lib.shelf WHERE author = 7 AND id > 90"
        // Both databases have the table; a name alone is that of the main one.
        let inMain = "SELECT id FROM shelf WHERE author = 7 AND id > 90"
        let unqualified = "SELECT id FROM loan WHERE book = 9 ORDER BY day"
        let writing = "DELETE FROM lib.loan WHERE book = 5"
        let all = [inOther, inMain, unqualified, writing]
        let examinations = advisor.examine(
            all.map { StatementToExamine(sql: $0, executions: 1, rows: 1, samples: [$0]) })
        // The table in the other file has 100 rows.
        #expect(examinations[inOther] == .nothing(hasRecordedValues: true))
        #expect(
            try tuning(#require(examinations[inMain])).code == ["CREATE INDEX shelf_author ON shelf(author)"])
        for sql in [unqualified, writing] {
            #expect(try tuning(#require(examinations[sql])).code == ["CREATE INDEX lib.loan_book ON loan(book)"])
        }
    }

    @Test("An index has only the rows that a statement never leaves, if they are few")
    func partial() throws {
        let path = try Self.database([
            "CREATE TABLE job(id INTEGER PRIMARY KEY, queue INT, done TEXT, name TEXT)",
            "INSERT INTO job(queue, done, name) SELECT id % 40, iif(id % 50, day, NULL), 'j' FROM book",
        ])
        let open = "SELECT id FROM job WHERE queue = 7 AND done IS NULL"
        let found = try tuning(examine(open, values: open, on: path))
        #expect(found.code == ["CREATE INDEX job_queue ON job(queue) WHERE done IS NULL"])
        #expect(found.indexes.map(\.condition) == ["done IS NULL"])
        let oldest = "SELECT id FROM job WHERE done IS NULL ORDER BY queue LIMIT 3"
        #expect(
            try tuning(examine(oldest, values: oldest, on: path)).code == [
                "CREATE INDEX job_queue ON job(queue) WHERE done IS NULL"
            ])
        // Most rows meet the condition.
        let closed = "SELECT id FROM job WHERE queue = 7 AND done IS NOT NULL AND name = 'k'"
        #expect(try tuning(examine(closed, values: closed, on: path)).indexes.map(\.condition) == [nil])
    }

    private func temporary(_ statements: [(sql: String, rows: UInt32)]) -> [TemporaryTable] {
        var trace = TraceBuilder()
        for (sql, rows) in statements {
            var statement = TraceEvent.Statement()
            statement.statement = trace.define(.statement(StatementEntry(sql: sql)))
            statement.type = sql.hasPrefix("CREATE") ? .schema : sql.hasPrefix("SELECT") ? .read : .write
            statement.rows = rows
            trace.event(.sql(statement), duration: 1000, stack: trace.stack(1))
        }
        return Profile(trace.closed()).temporaryTables
    }

    @Test(
        "Temporary tables are made again, with rows like those that they had",
        arguments: [
            // Its own rows, without the condition whose value is unknown, and those of the column that it is compared with.
            (
                "CREATE TEMP TABLE chosen(author INT, mark INT)",
                "INSERT INTO chosen SELECT author, id FROM book WHERE kind = 'usual'"
            ),
            (
                "CREATE TEMPORARY TABLE IF NOT EXISTS chosen(author INT, mark INT)",
                "INSERT INTO chosen SELECT author, id FROM book WHERE id % ? = ?"
            ),
            ("CREATE TABLE temp.chosen(author INT, mark INT)", "INSERT INTO chosen VALUES (?, …)"),
            (
                "CREATE TEMP TABLE chosen AS SELECT author, id AS mark FROM book WHERE id > 100",
                "DELETE FROM chosen WHERE mark < 0"
            ),
        ])
    func temporaryTables(creation: String, filling: String) throws {
        let reading =
            "SELECT s.id FROM shelf s WHERE EXISTS (SELECT 1 FROM temp.chosen c WHERE c.author = s.author AND c.mark > 7)"
        let tables = temporary([(creation, 0), (filling, 15_000), (reading, 90)])
        #expect(
            tables.map(\.name) == ["chosen"] && tables.first?.companions == ["shelf"]
                || tables.first?.companions == ["book", "shelf"])
        let advisor = try IndexAdvisor(path: try Self.shared.get(), creating: tables)
        let examinations = advisor.examine([
            StatementToExamine(sql: reading, executions: 1, rows: 90, samples: [reading])
        ])
        let tuning = try tuning(#require(examinations[reading]))
        #expect(tuning.code.count == 1 && tuning.code[0].hasPrefix("CREATE INDEX temp.chosen_author"), "\(tuning.code)")
        #expect(tuning.indexes.map(\.isTemporary) == [true] && !tuning.analyzes)
    }

    @Test("An index that the program gave a temporary table is not advised again")
    func indexedTemporaryTable() throws {
        let reading = "SELECT mark FROM chosen WHERE author = 9"
        let tables = temporary([
            ("CREATE TEMP TABLE chosen(author INT, mark INT)", 0), ("CREATE INDEX temp.i ON chosen(author)", 0),
            ("INSERT INTO chosen SELECT author, id FROM book", 20_000), (reading, 4),
        ])
        let advisor = try IndexAdvisor(path: try Self.shared.get(), creating: tables)
        let examinations = advisor.examine([
            StatementToExamine(sql: reading, executions: 1, rows: 4, samples: [reading])
        ])
        #expect(examinations[reading] == .nothing(hasRecordedValues: true))
    }

    @Test("Columns of different types that are compared are named if no index helps")
    func mismatches() throws {
        let path = try Self.database([
            "CREATE TABLE thumb(id INTEGER PRIMARY KEY, book TEXT, width)", "CREATE INDEX thumb_book ON thumb(book)",
            "INSERT INTO thumb(book) SELECT id FROM book LIMIT 2000",
        ])
        let sql = "SELECT b.id, t.id FROM book b LEFT JOIN thumb t ON t.book = b.id WHERE b.id < 20"
        #expect(
            try examine(sql, values: sql, on: path)
                == .nothing(
                    hasRecordedValues: true,
                    mismatches: [
                        TypeMismatch(column: "thumb.book", type: "TEXT", other: "book.id", otherType: "INTEGER")
                    ]))
    }

    @Test("The column with most of the bytes of a list is found, under its own name")
    func widestColumn() throws {
        let path = try Self.database([
            "CREATE TABLE cover(id INTEGER PRIMARY KEY, title TEXT, image BLOB)",
            "INSERT INTO cover(title, image) SELECT 'title', zeroblob(9000) FROM book LIMIT 50",
        ])
        let advisor = try IndexAdvisor(path: path)
        func column(_ sql: String) -> WideColumn? {
            let statement = StatementToExamine(sql: sql, executions: 1, rows: 50)
            return advisor.widestColumns(of: [statement])[sql]
        }
        let all = WideColumn(name: "image", bytes: 9000, share: 9000 / 9006, rows: 40)
        let listed = try #require(column("SELECT c.id AS a, c.title AS b, c.image AS d FROM cover c WHERE c.id > 10"))
        #expect(listed.name == all.name && listed.bytes == all.bytes && listed.rows == all.rows && listed.share > 0.99)
        #expect(column("SELECT * FROM cover")?.rows == 50)
        #expect(column("SELECT image FROM cover") == nil)
        #expect(column("DELETE FROM cover") == nil)
        let pages = try #require(StorePath.pages(of: path))
        #expect(pages.size == 4096 && pages.count > 100)
        #expect(StorePath.pages(of: path + ".no") == nil)
    }

    @Test("The full-text tables of other tables are known")
    func fullTextTables() throws {
        let path = try Self.database([
            "CREATE VIRTUAL TABLE Found USING fts5(note, content='book', content_rowid='id')",
            "CREATE VIRTUAL TABLE alone USING fts5(note)",
        ])
        #expect(try IndexAdvisor(path: path).examine([]).fullTextTables == ["book": "Found"])
    }

    @Test("A setting of the program holds on the copy")
    func settings() throws {
        let sql = "SELECT count(*) FROM shelf s JOIN book b ON b.author = s.author"
        let plans = try [[], ["PRAGMA automatic_index = OFF"]].map { settings in
            let advisor = try IndexAdvisor(path: Self.shared.get(), setting: settings)
            let statement = StatementToExamine(sql: sql, executions: 1, rows: 1, samples: [sql])
            return try tuning(#require(advisor.examine([statement])[sql])).before.plan.joined(separator: "\n")
        }
        #expect(plans[0].contains("AUTOMATIC") && !plans[1].contains("AUTOMATIC"))
    }

    @Test("Drawn values with which a statement takes other steps than in the program prove nothing")
    func otherSteps() throws {
        let sql = "SELECT id FROM book WHERE id = ? AND note = ?"
        let reason =
            "With values drawn from the copy, a run takes 12 steps there, and took 5,000,000 in the program. Record with --values to "
            + "try those of the program."
        #expect(try examine(sql, steps: 5_000_000) == .notExamined(reason))
    }

    @Test("The time to insert a row is measured for tables that the program writes to")
    func insertion() throws {
        let sql = "SELECT id FROM book WHERE author = 7"
        func index(writing tables: Set<String>) throws -> StatementTuning.Index? {
            let advisor = try IndexAdvisor(path: Self.shared.get())
            let statement = StatementToExamine(sql: sql, executions: 1, rows: 1, samples: [sql])
            return try tuning(#require(advisor.examine([statement], writing: tables)[sql])).indexes.first
        }
        let written = try #require(try index(writing: ["book"])?.insertion)
        #expect(written.with > 0 && written.without > 0)
        #expect(try index(writing: ["shelf"])?.insertion == nil)
    }

    @Test("The database is left as it is")
    func untouched() throws {
        let path = try Self.database()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        _ = try examine("DELETE FROM book WHERE author = ?", on: path)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(!FileManager.default.fileExists(atPath: path + "-journal"))
    }
}
