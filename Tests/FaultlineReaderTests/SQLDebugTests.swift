import FaultlineReader
import FaultlineTrace
import Foundation
import SharedData
import TestFolders
import Testing

@Suite("Core Data's SQLDebug logs")
struct SQLDebugTests {
    /// Returns one line per operation in a log, without its statements.
    private func read(_ log: String) throws -> [String] {
        let file = TestFolder.file("json")
        defer { try? FileManager.default.removeItem(at: file) }
        try log.write(to: file, atomically: false, encoding: .utf8)
        return try operations(messages(file.path))
    }

    private func messages(_ path: String) throws -> [TraceMessage] {
        let reader = try TraceReader(path: path)
        #expect(reader.format == "sqlDebug")
        var messages: [TraceMessage] = []
        try reader.read { messages.append($0) }
        return messages
    }

    private func operations(_ messages: [TraceMessage]) -> [String] {
        var dictionary = TraceDictionary()
        for case .entry(_, let id, let entry) in messages { dictionary.insert(entry, id: id) }
        return messages.compactMap { message in
            guard case .event(let event) = message else { return nil }
            let entity = { (id: DictionaryID) in dictionary.entity(id)?.name ?? "?" }
            let time = "\(event.duration / 1000) µs"
            switch event.detail {
            case .fetch(let fetch):
                let shape = dictionary.shape(fetch.shape)
                let prefetch =
                    shape.map { $0.prefetch.isEmpty ? "" : " with \($0.prefetch) \(fetch.prefetchedRows)" } ?? ""
                return
                    "\(fetch.resultType) \(entity(fetch.entity)) \(fetch.rows) rows \(fetch.trips) trips \(time)\(prefetch)"
            case .fault(let fault):
                let name = dictionary.name(fault.relationship).map { ".\($0)" } ?? ""
                return "\(fault.type) \(entity(fault.entity))\(name) \(fault.filled) of \(fault.origin) \(time)"
            case .batch(let batch):
                let prefetch = batch.prefetches.isEmpty ? "" : " with \(batch.prefetches.map(\.rows))"
                return
                    "batch \(entity(batch.entity)) \(batch.firstIndex)+\(batch.rows) of \(batch.fetch) \(time)\(prefetch)"
            case .save(let save):
                let changes = save.entities.map { "\(entity($0.entity)) +\($0.inserted) ~\($0.updated) -\($0.deleted)" }
                return "save \(changes.joined(separator: ", ")) \(save.trips) trips \(time)"
            default: return nil
            }
        }
    }

    // MARK: - Captured logs

    @Test(
        "Captured logs are read", .enabled(if: SharedData.exists, "\(SharedData.need)"),
        arguments: [
            ("level1-open", ["objects Book 20 rows 1 trips 1000 µs"]),
            ("level1-prefetch", ["objects Item 190 rows 2 trips 5300 µs with [\"attachments\"] 1581"]),
            ("level1-save", ["save Budgetcategory +1 ~0 -0 3 trips 0 µs"]),
            (
                "level1-to-many-fault",
                ["objects Item 190 rows 1 trips 400 µs", "toMany Item.tags 0 of 1 100 µs"]
            ),
            ("level2-large-fetch", ["objects Person 688187 rows 1 trips 478900 µs"]),
            ("level3-count", ["count Word 18988 rows 1 trips 25400 µs"]),
        ])
    func captured(_ name: String, _ expected: [String]) throws {
        #expect(try operations(messages(SharedData.url("sqldebug-logs/\(name).log").path)) == expected)
    }

    // MARK: - Lines

    private let fetch = [
        "sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTITLE FROM ZBOOK t0 WHERE  t0.ZSHELF = ? ",
        "details: SQLite bind[0] = 7",
        "annotation: sql connection fetch time: 0.0003s",
        "annotation: fetch using NSSQLiteStatement <0x60> on entity 'Book' with sql text 'SELECT …' returned 2 rows",
        "annotation: total fetch execution time: 0.0005s for 2 rows.",
    ]

    @Test(
        "Lines are read with any prefix",
        arguments: [
            "CoreData: ", "2014-07-30 11:45:15.647 App[65858:2586192] CoreData: ",
            "2014-07-30 11:45:15.647 My App[65858:70b] CoreData: ",
            "2022-11-05 10:12:31.123456+0100 App[4711:1f2e] [connection] CoreData: ",
        ])
    func prefixes(_ prefix: String) throws {
        let log = (["Hello", "App: ready"] + fetch.map { prefix + $0 } + ["Good bye"]).joined(separator: "\n") + "\n"
        #expect(try read(log) == ["objects Book 2 rows 1 trips 500 µs"])
    }

    @Test("Lines of the unified log have their category in brackets")
    func unifiedLog() throws {
        let log = fetch.map { line in
            let parts = line.split(separator: ": ", maxSplits: 1)
            return "2022-11-05 10:12:31.123456+0100 0x1f2e     Debug       0x0                  4711   0    App: "
                + "(CoreData) [com.apple.coredata:\(parts[0])] \(parts[1])"
        }
        #expect(try read(log.joined(separator: "\n")) == ["objects Book 2 rows 1 trips 500 µs"])
    }

    @Test("Threads that log at the same time are distinguished")
    func threads() throws {
        let other = [
            "sql: SELECT COUNT(*) FROM ZSHELF",
            "annotation: total count request execution time: 0.0002s for count of 9.",
        ]
        let first = fetch.map { "2014-07-30 11:45:15.647 App[5:a1] CoreData: \($0)" }
        let second = other.map { "2014-07-30 11:45:15.650 App[5:b2] CoreData: \($0)" }
        let log = [first[0], second[0], first[1], first[2], second[1], first[3], first[4]].joined(separator: "\n")
        #expect(
            try Set(read(log)) == ["objects Book 2 rows 1 trips 500 µs", "count Shelf 9 rows 1 trips 200 µs"])
    }

    @Test("A log that breaks off is read up to its end")
    func truncated() throws {
        for count in 1..<fetch.count {
            let log = fetch.prefix(count).map { "CoreData: " + $0 }.joined(separator: "\n")
            let rows = count == 4 ? 2 : 0
            let entity = "Book"
            #expect(try read(log) == ["objects \(entity) \(rows) rows 1 trips \(count >= 3 ? 300 : 0) µs"])
        }
        #expect(try read("CoreData: annotation: total fetch execution time: 0.1s for 2 rows.") == [])
    }

    @Test("Rows of level 3 and plans of level 4 are not read as operations")
    func levels() throws {
        var lines = fetch
        lines[3] +=
            " with values: (\n    \"<Book: 0x60 (entity: Book; id: 0x1 <x-coredata://A/Book/p1> ; data: <fault>)\"\n)"
        lines.append("details: SQLite: EXPLAIN QUERY PLAN SELECT 0, t0.Z_PK FROM ZBOOK t0\n2 0 0 SCAN t0")
        #expect(
            try read(lines.map { "CoreData: " + $0 }.joined(separator: "\n")) == ["objects Book 2 rows 1 trips 500 µs"])
    }

    /// Returns the plans of a log's statements, one per line.
    private func plans(_ log: [String]) throws -> [String] {
        let file = TestFolder.file("log")
        defer { try? FileManager.default.removeItem(at: file) }
        try log.joined(separator: "\n").write(to: file, atomically: false, encoding: .utf8)
        let messages = try messages(file.path)
        var dictionary = TraceDictionary()
        for case .entry(_, let id, let entry) in messages { dictionary.insert(entry, id: id) }
        return messages.compactMap { message in
            guard case .event(let event) = message, case .sql(let statement) = event.detail else { return nil }
            return dictionary.plan(statement.plan).map { plan in
                plan.rows.map { "\($0.id) \($0.parent) \($0.detail)" }.joined(separator: "; ")
            }
        }
    }

    private static let explained =
        "details: SQLite: EXPLAIN QUERY PLAN SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTITLE FROM ZBOOK t0"

    @Test(
        "A plan belongs to the statement before it",
        arguments: [
            ["2 0 0 SCAN t0", "14 0 0 USE TEMP B-TREE FOR ORDER BY", "hello"],
            ["  2 0 0 SCAN t0", "\t14 0 0 USE TEMP B-TREE FOR ORDER BY", "3 bottles 0 SCAN"],
            ["2|0|0|SCAN TABLE ZBOOK AS t0", "14|0|0|USE TEMP B-TREE FOR ORDER BY", "CoreData: sql: ROLLBACK"],
            ["CoreData: details: 2 0 0 SCAN t0", "CoreData: details: 14 0 0 USE TEMP B-TREE FOR ORDER BY"],
        ])
    func plan(_ rows: [String]) throws {
        let log = (fetch + [Self.explained]).map { "CoreData: " + $0 } + rows + ["Bye", "99 0 0 SCAN t9"]
        #expect(try plans(log) == ["2 0 SCAN t0; 14 0 USE TEMP B-TREE FOR ORDER BY"])
        // It may precede the total.
        let early = fetch.dropLast().map { "CoreData: " + $0 } + ["CoreData: " + Self.explained] + rows.prefix(2)
        #expect(try plans(early + ["CoreData: " + fetch[4]]) == ["2 0 SCAN t0; 14 0 USE TEMP B-TREE FOR ORDER BY"])
    }

    @Test("A plan of another statement, or without rows, is ignored")
    func otherPlan() throws {
        let log = fetch.map { "CoreData: " + $0 }
        #expect(try plans(log + ["CoreData: " + Self.explained, "Hello"]) == [])
        #expect(try plans(log + ["CoreData: details: SQLite: EXPLAIN QUERY PLAN SELECT 1", "2 0 0 SCAN t0"]) == [])
        #expect(try plans(log + ["2 0 0 SCAN t0"]) == [])
    }

    @Test("Object IDs whose rows are loaded list by list are a batched fetch")
    func batches() throws {
        let identities = [
            "sql: SELECT 0, t0.Z_PK FROM ZBOOK t0 ORDER BY t0.ZTITLE",
            "annotation: sql connection fetch time: 0.0003s",
            "annotation: total fetch execution time: 0.0005s for 45 rows.",
        ]
        func batch(_ rows: Int, limit: String = "   LIMIT 20") -> [String] {
            let prefetch = [
                "annotation: Bound intarray _Z_intarray0",
                "sql: SELECT 0, t0.Z_PK, t0.Z_OPT FROM ZSHELF t0 WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)",
                "annotation: sql connection fetch time: 0.0001s",
                "annotation: total fetch execution time: 0.0001s for 3 rows.",
                "annotation: Prefetching with key 'shelf'.  Got 3 rows.",
            ]
            return [
                "annotation: Bound intarray _Z_intarray0",
                "sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTITLE FROM ZBOOK t0 WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)\(limit)",
                "annotation: sql connection fetch time: 0.0002s",
            ] + prefetch + ["annotation: total fetch execution time: 0.0004s for \(rows) rows."]
        }
        let log = { (lines: [String]) in lines.map { "CoreData: " + $0 }.joined(separator: "\n") }
        #expect(
            try read(log(identities + batch(20) + batch(5))) == [
                "objects Book 45 rows 1 trips 500 µs with [\"shelf\"] 0",
                "batch Book 0+20 of 1 400 µs with [3]", "batch Book 20+5 of 1 400 µs with [3]",
            ])
        // A fetch whose batches were never loaded is batched as well.
        #expect(
            try read(log(identities + batch(20) + identities)).last
                == "objects Book 45 rows 1 trips 500 µs with [\"shelf\"] 0")
        // Lists with too many rows, or without a limit, belong to another fetch.
        #expect(
            try read(log(identities + batch(20) + batch(20) + batch(20))).last?.hasPrefix("objects Book 20 rows")
                == true)
        #expect(try read(log(identities + batch(20, limit: ""))).last?.hasPrefix("objects Book 20 rows") == true)
        // Without such lists, a fetch of keys is a fetch of object IDs, and a list of keys is a fetch.
        #expect(try read(log(identities)) == ["objectIDs Book 45 rows 1 trips 500 µs"])
        #expect(try read(log(batch(20))) == ["objects Book 20 rows 2 trips 400 µs with [\"shelf\"] 3"])
    }

    @Test("Batches are matched to their fetch across threads, and by their size")
    func scatteredBatches() throws {
        func lines(_ thread: String, _ texts: [String]) -> [String] {
            texts.map { "2014-07-30 11:45:15.647 App[5:\(thread)] CoreData: \($0)" }
        }
        func identities(_ rows: Int, _ sort: String) -> [String] {
            [
                "sql: SELECT 0, t0.Z_PK FROM ZBOOK t0 ORDER BY t0.\(sort)",
                "annotation: total fetch execution time: 0.0005s for \(rows) rows.",
            ]
        }
        func batch(_ rows: Int, _ limit: Int) -> [String] {
            [
                "sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTITLE FROM ZBOOK t0 WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)   LIMIT \(limit)",
                "annotation: total fetch execution time: 0.0004s for \(rows) rows.",
            ]
        }
        let log =
            lines("a1", identities(100, "ZTITLE")) + lines("b2", batch(20, 20)) + lines("a1", identities(40, "ZPAGES"))
            + lines("b2", batch(30, 30) + batch(20, 20) + batch(10, 30) + batch(20, 20))
        #expect(
            try read(log.joined(separator: "\n")) == [
                "objects Book 100 rows 1 trips 500 µs", "batch Book 0+20 of 1 400 µs",
                "objects Book 40 rows 1 trips 500 µs", "batch Book 0+30 of 5 400 µs", "batch Book 20+20 of 1 400 µs",
                "batch Book 30+10 of 5 400 µs", "batch Book 40+20 of 1 400 µs",
            ])
    }

    @Test("The conditions of a fetch by keys are recorded as unknown")
    func lists() throws {
        let lines = [
            "sql: SELECT 0, t0.Z_PK, t0.Z_OPT FROM ZBOOK t0 WHERE  t0.ZSHELF IN (SELECT * FROM _Z_intarray0) ",
            "annotation: total fetch execution time: 0.0004s for 7 rows.",
        ]
        let file = TestFolder.file("log")
        defer { try? FileManager.default.removeItem(at: file) }
        try lines.map { "CoreData: \($0)\n" }.joined().write(to: file, atomically: false, encoding: .utf8)
        let shapes = try messages(file.path).compactMap { message -> ShapeEntry? in
            if case .entry(_, _, .shape(let shape)) = message { shape } else { nil }
        }
        #expect(shapes.map(\.hasUnrecordedValues) == [true] && shapes.map(\.terms) == [nil])
    }

    @Test(
        "Text searches are read with their options",
        arguments: [
            ("NSCoreDataStringSearch( t0.ZTITLE, ?, 129, 0)", "ZTITLE CONTAINS[cd]"),
            ("NSCoreDataStringSearch(t0.ZTITLE, ?, 417, 1)", "ZTITLE CONTAINS[cd]"),
            ("NSCoreDataStringSearch( t1.ZLABEL, ?, 137, 0)", "t1.ZLABEL BEGINSWITH[cd]"),
            ("( NSCoreDataStringSearch( t0.ZTITLE, ?, 13, 0) AND  t0.ZSHELF = ? )", "ZTITLE ENDSWITH[c] ZSHELF ==[]"),
            ("NSCoreDataStringSearch( t0.ZTITLE, ?, 0, 0)", "ZTITLE CONTAINS[]"),
            ("NSCoreDataStringSearch( t0.ZTITLE, ?, 8, 0)", nil), ("NSCoreDataStringSearch( t0.ZTITLE, ?, x, 0)", nil),
            ("NOT NSCoreDataStringSearch( t0.ZTITLE, ?, 129, 0)", nil),
        ])
    func searches(_ predicate: String, _ expected: String?) throws {
        let binds = predicate.contains("AND") ? 2 : 1
        let lines =
            ["sql: SELECT 0, t0.Z_PK, t0.Z_OPT FROM ZBOOK t0 WHERE  \(predicate) "]
            + (0..<binds).map { "details: SQLite bind[\($0)] = \"a\"" }
            + ["annotation: total fetch execution time: 0.0004s for 7 rows."]
        let file = TestFolder.file("log")
        defer { try? FileManager.default.removeItem(at: file) }
        try lines.map { "CoreData: \($0)\n" }.joined().write(to: file, atomically: false, encoding: .utf8)
        let terms = try messages(file.path).compactMap { message -> [ShapeEntry.Term]? in
            if case .entry(_, _, .shape(let shape)) = message { shape.terms } else { nil }
        }
        let words = terms.first.map { $0.map { "\($0.keyPath) \($0.operation)[\($0.options ?? "")]" } }
        #expect(words?.joined(separator: " ") == expected)
    }

    @Test("Sort keys are read with their table and order")
    func sortKeys() throws {
        let sql =
            "SELECT 0, t0.Z_PK, t0.Z_OPT FROM ZBOOK t0 LEFT OUTER JOIN ZSHELF t1 ON t0.ZSHELF = t1.Z_PK ORDER BY t0.ZTITLE "
            + "COLLATE NSCollateLocaleSensitive DESC, t1.ZLABEL, t0.ZPAGES DESC"
        let file = TestFolder.file("log")
        defer { try? FileManager.default.removeItem(at: file) }
        try "CoreData: sql: \(sql)\nCoreData: annotation: total fetch execution time: 0.0004s for 7 rows.\n".write(
            to: file, atomically: false, encoding: .utf8)
        let sorts = try messages(file.path).compactMap { message -> [String]? in
            if case .entry(_, _, .shape(let shape)) = message { shape.sort } else { nil }
        }
        #expect(
            sorts == [["ZTITLE NSCollateLocaleSensitive descending", "t1.ZLABEL ascending", "ZPAGES descending"]])
    }

    @Test("A fault served by the row cache claims no earlier statement")
    func cacheHits() throws {
        let hits = [
            "annotation: fault fulfilled from row cache for : 0xd0 <x-coredata://A/Book/p4>",
            "annotation: to-many relationship fault \"pages\" for objectID 0xa7 <x-coredata://A/Book/p1> fulfilled from "
                + "row cache.  Got 3 rows",
        ]
        let log = try LogText(lines: fetch + hits + fetch)
        #expect(log.summary.malformedLines == 0)
        #expect(log.events.map(\.kind) == [.fetch, .sql, .fetch, .sql])
    }

    @Test("Faults are attributed to the last fetch of their entity")
    func faults() throws {
        let fault = [
            "sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZLABEL FROM ZSHELF t0 WHERE  t0.Z_PK = ? ",
            "annotation: sql connection fetch time: 0.0001s",
            "annotation: total fetch execution time: 0.0002s for 1 rows.",
            "annotation: fault fulfilled from database for : 0xd0 <x-coredata://A/Shelf/p4>",
        ]
        let toMany = [
            "sql: SELECT 0, t0.Z_PK FROM ZPAGE t0 WHERE t0.ZBOOK = ?",
            "annotation: sql connection fetch time: 0.0001s",
            "annotation: total fetch execution time: 0.0001s for 3 rows.",
            "annotation: to-many relationship fault \"pages\" for objectID 0xa7 <x-coredata://A/Book/p1> fulfilled from "
                + "database.  Got 3 rows",
        ]
        let log = (fetch + fault + toMany).map { "CoreData: " + $0 }.joined(separator: "\n")
        #expect(
            try read(log) == [
                "objects Book 2 rows 1 trips 500 µs", "object Shelf 1 of 1 200 µs", "toMany Book.pages 3 of 1 100 µs",
            ])
    }

    @Test("A save records what its transaction wrote, and a rollback records nothing")
    func saves() throws {
        let statements = [
            "BEGIN EXCLUSIVE", "INSERT INTO ZBOOK(Z_PK, ZTITLE) VALUES(?, ?)", "INSERT INTO ZBOOK(Z_PK) VALUES(?)",
            "UPDATE OR FAIL ZSHELF SET ZLABEL = ?, Z_OPT = ?  WHERE Z_PK = ? AND Z_OPT = ?",
            "DELETE FROM ZPAGE WHERE Z_PK = ? AND Z_OPT = ?",
        ]
        let lines = { (end: String, time: Int) in
            (statements + [end]).enumerated().map { index, sql in
                "2014-07-30 11:45:15.\(time + index * 10) App[5:a1] CoreData: sql: \(sql)"
            }.joined(separator: "\n")
        }
        #expect(
            try read(lines("COMMIT", 100)) == ["save Book +2 ~0 -0, Shelf +0 ~1 -0, Page +0 ~0 -1 6 trips 50000 µs"])
        #expect(try read(lines("ROLLBACK", 100)) == [])
    }

    @Test("Times continue after midnight", arguments: ["2023-12-31", "2024-02-28", "2024-02-29"])
    func midnight(_ day: String) throws {
        let next = ["2023-12-31": "2024-01-01", "2024-02-28": "2024-02-29", "2024-02-29": "2024-03-01"][day] ?? ""
        let log =
            fetch.map { "\(day) 23:59:59.900 App[5:a1] CoreData: \($0)\n" }.joined()
            + fetch.map { "\(next) 00:00:00.400 App[5:a1] CoreData: \($0)\n" }.joined()
        let file = TestFolder.file()
        defer { try? FileManager.default.removeItem(at: file) }
        try log.write(to: file, atomically: false, encoding: .utf8)
        let starts = try messages(file.path).compactMap { message -> UInt64? in
            if case .event(let event) = message, event.kind == .fetch { event.start } else { nil }
        }
        #expect(starts.count == 2 && starts[1] - starts[0] > 490_000_000 && starts[1] - starts[0] < 510_000_000)
    }

    @Test(
        "Other output may come first, in any form",
        arguments: ["[App] started", "{ \"a\": 1 }", "<Warning>: hi", "\u{7}"])
    func mixed(_ first: String) throws {
        let log = ([first] + fetch.map { "CoreData: " + $0 }).joined(separator: "\n")
        #expect(try read(log) == ["objects Book 2 rows 1 trips 500 µs"])
    }

    @Test("Processes are distinguished, and excessive durations are limited")
    func processes() throws {
        let log = ["App[5:a1]", "Helper[6:a1]"].flatMap { name in
            fetch.map { "2014-07-30 11:45:15.647 \(name) CoreData: \($0)" }
        }
        let file = TestFolder.file()
        defer { try? FileManager.default.removeItem(at: file) }
        try log.joined(separator: "\n").write(to: file, atomically: false, encoding: .utf8)
        let began = try messages(file.path).compactMap { message -> String? in
            if case .began(let began) = message { "\(began.process) \(began.program)" } else { nil }
        }
        #expect(began == ["5 App", "6 Helper"])
        let long = (0..<20_000).map { _ in
            "CoreData: sql: SELECT t0.Z_PK FROM ZA t0\nCoreData: annotation: total fetch execution time: 999999.0s for 1 rows."
        }
        #expect(try read(long.joined(separator: "\n")).count == 20_000)
    }

    @Test("Text without a Core Data line is rejected")
    func none() {
        #expect(throws: ReaderError.self) { try read("CoreData is a framework.\nSELECT 1\n") }
    }

    @Test("No line stops the reader")
    func hostile() throws {
        let pieces = [
            "CoreData: ", "[com.apple.coredata:", "sql: ", "annotation: ", "details: ", "SELECT ", "FROM ", "t0 ",
            "WHERE ",
            "ORDER BY ", "(", ")", "?", "total fetch execution time: ", "99999999999999999999999s", " for ", "0.1s",
            "rows.",
            "Prefetching with key '", "Got ", "fault fulfilled from database for : ", "x-coredata://", "/", "'", "\"",
            "]", "\n",
            "\n", "INSERT INTO ", "Z_PRIMARYKEY ", "BEGIN ", "COMMIT ", "bind[0] = ", "2014-07-30 ", "99:99:99.9 ",
            "App[1:2] ",
            "-1", "é", "\u{0}", "SQLite: EXPLAIN QUERY PLAN ", "2 0 0 SCAN t0", "_Z_intarray0", "IN (SELECT * FROM ",
            "t0.Z_PK ",
            "LIMIT 99999999999999999999", "0, t0.Z_PK ",
        ]
        var state: UInt64 = 5
        for _ in 0..<1000 {
            var log = "CoreData: sql: SELECT t0.Z_PK FROM ZA t0\n"
            for _ in 0..<40 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                log += pieces[Int((state >> 33) % UInt64(pieces.count))]
            }
            do { _ = try read(log) } catch is ReaderError {}
        }
    }
}
