import FaultlineReader
import FaultlineTrace
import Foundation
import Testing

@Suite("The formats of logs")
struct LogFormTests {
    private static let lines = [
        "sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTITLE FROM ZBOOK t0 WHERE  t0.ZSHELF = ? ",
        "details: SQLite bind[0] = 7", "annotation: sql connection fetch time: 0.0003s",
        "annotation: fetch using NSSQLiteStatement <0x60> on entity 'Book' with sql text 'SELECT …' returned 2 rows",
        "annotation: total fetch execution time: 0.0005s for 2 rows.",
    ]

    /// Returns the log with each line formatted from its category and its text.
    private func log(_ form: (_ category: String, _ text: String) -> String) -> String {
        Self.lines.map { line in
            let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
            return form(parts[0], parts[1]) + "\n"
        }.joined()
    }

    private func expectWhole(_ log: String, program: String, _ comment: Comment) throws {
        let read = try LogText(log)
        #expect(read.operations == ["objects Book 2 rows 500 µs"], comment)
        #expect(read.programs == [program], comment)
        #expect(!read.gaps.contains { $0.kind == .values } && read.summary.linesNotUnderstood == 0, comment)
    }

    @Test(
        "Program and process are found in many prefixes",
        arguments: [
            ("2014-07-30 11:45:15.647 My Own App[65858:2586192] ", "65858 My Own App"),
            ("2010-06-14 22:10:45.123 App[1234:207] ", "1234 App"),
            ("2013-10-02 09:01:02.003 App [beta][77:60b] ", "77 App [beta]"),
            ("2022-11-05 10:12:31.123 Db App[4711:1f2e] [com.apple.coredata:sql] ", "4711 App"),
            ("2026-10-07 02:09:14.456 E  My App[39751:859c8e] (CoreData) [com.apple.coredata:sql] ", "39751 My App"),
            (
                "2022-11-05 10:12:31.123456+0100  localhost My App[4711]: (CoreData) [com.apple.coredata:sql] ",
                "4711 My App"
            ),
            ("Nov  5 10:12:31 host App[4711]: ", "4711 App"),
            ("Nov 15 10:12:31 iPhone App(CoreData)[4711] <Debug>: ", "4711 App"),
            ("<14>1 2022-11-05T10:12:31.123456+01:00 host App[4711]: ", "4711 App"),
            ("2022-11-05T10:12:31.1234567Z 2022-11-05 10:12:31.123 App[7:1f] ", "7 App"),
        ])
    func prefixes(_ prefix: String, _ program: String) throws {
        try expectWhole(log { "\(prefix)CoreData: \($0): \($1)" }, program: program, "\(prefix)")
    }

    @Test(
        "An impossible date hides neither the process nor the messages",
        arguments: ["Jan  0", "Jan 32", "Jan 18446744073709551615", "2000-01-00", "2000-00-01", "1999-12-31"])
    func impossibleDates(_ date: String) throws {
        let read = try LogText(log { "\(date) 10:12:31 host App[4711]: CoreData: \($0): \($1)" })
        #expect(read.operations == ["objects Book 2 rows 500 µs"] && read.summary.linesNotUnderstood == 0)
        #expect(read.programs.map { $0.prefix(5) } == ["4711 "])
    }

    @Test("Lines without Core Data's mark are read where they begin like its lines")
    func bare() throws {
        for margin in ["", "    ", "\t"] {
            try expectWhole(log { "\(margin)\($0): \($1)" }, program: "1 ", "\(margin)")
        }
        // Prose, and lines of other programs, are none.
        for text in ["The sql: SELECT 0, t0.Z_PK FROM ZBOOK t0\n", "sql: SELECTED\n", "details: none\n"] {
            let file = try TraceFile(Array(text.utf8))
            #expect(throws: ReaderError.self, "\(text)") { try TraceReader(path: file.path) }
        }
    }

    @Test(
        "A log can begin with the output of a program that looks like JSON",
        arguments: ["[{\"year\": 2000}]", "[]", "[{", "{\"a\": 1}", "[\n  {"])
    func afterJSON(_ head: String) throws {
        try expectWhole(head + "\n" + log { "CoreData: \($0): \($1)" }, program: "1 ", "\(head)")
        try expectWhole(head + "\n" + log { "\($0): \($1)" }, program: "1 ", "\(head), bare")
    }

    @Test("An array of JSON with the text of a log in it is none")
    func withinJSON() throws {
        let file = try TraceFile(Array("[\n{\"a\": \"CoreData: sql: SELECT 0\"},\n{\"b\": 1}\n]\n".utf8))
        #expect(try TraceReader(path: file.path).format == "timeline")
    }

    @Test("An excerpt without its statement has the one of its plan")
    func excerpt() throws {
        let sql = "SELECT t0.Z_ENT, t0.Z_PK, t0.Z_OPT, t0.ZTEXT FROM ZMESSAGE t0 WHERE  t0.ZDATE < ? "
        let (total, plan) = (
            "annotation: total fetch execution time: 0.0287s for 1 rows.",
            ["details: SQLite: EXPLAIN QUERY PLAN \(sql)", "|2 0 0 SCAN TABLE ZMESSAGE AS t0"]
        )
        for lines in [[total] + plan, plan + [total]] {
            let log = try LogText(lines: lines)
            #expect(log.operations == ["objects Message 1 rows 28700 µs"] && log.summary.linesNotUnderstood == 0)
            #expect(
                log.events.contains { if case .sql(let statement) = $0.detail { statement.plan != 0 } else { false } })
        }
        // The plan of a statement that the log has is no other fetch.
        let whole = try LogText(lines: ["sql: \(sql)", total] + plan + plan)
        #expect(whole.operations == ["objects Message 1 rows 28700 µs"])
        // A total that no plan follows is counted.
        let alone = try LogText(lines: [total, "sql: \(sql)", total])
        #expect(alone.operations == ["objects Message 1 rows 28700 µs"] && alone.summary.linesNotUnderstood == 1)
        #expect(alone.summary.firstNotUnderstood?.number == 1)
    }

    @Test("Fetches that run at the same time have no figures of one another if the log does not tell threads apart")
    func interleaved() throws {
        let select = { (table: String) in "sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM \(table) t0" }
        let total = { (rows: Int) in
            [
                "annotation: sql connection fetch time: 0.0100s",
                "annotation: total fetch execution time: 0.0200s for \(rows) rows.",
            ]
        }
        let lines = [select("ZAUTHOR"), select("ZBOOK")] + total(50_000) + total(12)
        let log = try LogText(lines: lines + [select("ZSHELF")] + total(7))
        #expect(
            log.operations == ["objects Author – rows –", "objects Book – rows –", "objects Shelf 7 rows 20000 µs"])
        #expect(log.summary.linesNotUnderstood == 0)
        // With threads, each has its own.
        let threads = zip(["1", "2", "2", "2", "1", "1"], lines).map {
            "|2022-11-05 10:12:31.123 App[4711:\($0)] CoreData: \($1)"
        }
        #expect(
            try Set(LogText(lines: threads).operations) == [
                "objects Author 12 rows 20000 µs", "objects Book 50000 rows 20000 µs",
            ])
        // A total that is merely missing leaves the next one as it is.
        let missing = try LogText(lines: [select("ZAUTHOR"), select("ZBOOK")] + total(5))
        #expect(missing.operations == ["objects Author – rows –", "objects Book 5 rows 20000 µs"])
    }

    @Test("log show prints columns, and names may contain spaces")
    func columns() throws {
        let head =
            "2022-11-05 10:12:31.123456+0100 0x1f2e     Debug       0x0                  4711   0    My App: (CoreData) "
        try expectWhole(log { "\(head)[com.apple.coredata:\($0)] \($1)" }, program: "4711 My App", "bare")
        try expectWhole(
            log { "\(head)[com.apple.coredata:\($0)] CoreData: \($0): \($1)" }, program: "4711 My App", "with its mark")
    }

    @Test("log show --style ndjson and json print one object per message")
    func objects() throws {
        func object(_ category: String, _ text: String) throws -> String {
            let value: [String: Any] = [
                "timestamp": "2022-11-05 10:12:31.123456+0100", "subsystem": "com.apple.coredata", "category": category,
                "eventMessage": text, "processImagePath": "/Applications/My App.app/My App", "processID": 4711,
                "threadID": 7982, "messageType": "Debug", "formatString": "%{public}s {",
            ]
            return String(decoding: try JSONSerialization.data(withJSONObject: value), as: UTF8.self)
        }
        let parts = Self.lines.map { $0.split(separator: ": ", maxSplits: 1).map(String.init) }
        let bare = try parts.map { try object($0[0], $0[1]) }
        let marked = try Self.lines.map { try object("x", "CoreData: \($0)") }
        for objects in [bare, marked] {
            try expectWhole(
                "Filtering the log data using \"subsystem == 'com.apple.coredata'\"\n"
                    + objects.joined(separator: "\n"),
                program: "4711 My App", "ndjson")
            try expectWhole("[\(objects.joined(separator: ",\n"))]\n", program: "4711 My App", "json")
            try expectWhole("[\(objects.joined(separator: ","))]", program: "4711 My App", "json in one line")
        }
        // Printed over several lines, as the tool does.
        let pretty = try bare.map { object in
            let value = try JSONSerialization.jsonObject(with: Data(object.utf8))
            return String(
                decoding: try JSONSerialization.data(withJSONObject: value, options: .prettyPrinted), as: UTF8.self)
        }
        try expectWhole("[\(pretty.joined(separator: ",\n"))]\n", program: "4711 My App", "pretty")
        // A broken object loses only itself.
        let broken = try LogText(bare.joined(separator: "\n") + "\n{\"eventMessage\" oops}\n")
        #expect(broken.summary.malformedLines == 1 && broken.operations == ["objects Book 2 rows 500 µs"])
        // So does an object that the log ends in.
        let cut = try LogText(bare.joined(separator: "\n") + "\n{\"eventMessage\":\"SEL")
        #expect(cut.operations == ["objects Book 2 rows 500 µs"])
    }

    @Test("Messages in JSON may contain line breaks")
    func messagesOfLines() throws {
        let text = "SQLite: EXPLAIN QUERY PLAN SELECT 0, t0.Z_PK\\n2 0 0 SCAN t0"
        let fetch = Self.lines.map { line in
            let parts = line.split(separator: ": ", maxSplits: 1)
            return
                "{\"subsystem\":\"com.apple.coredata\",\"category\":\"\(parts[0])\",\"eventMessage\":\"\(parts[1])\"}"
        }
        let plan = "{\"subsystem\":\"com.apple.coredata\",\"category\":\"details\",\"eventMessage\":\"\(text)\"}"
        let log = try LogText((fetch + [plan]).joined(separator: "\n"))
        #expect(log.messages.contains { if case .entry(_, _, .plan) = $0 { true } else { false } })
    }

    @Test("Colours and carriage returns are removed from lines")
    func colours() throws {
        let coloured = Self.lines.map { line in
            let text = line.replacing("0.0003s", with: "\u{1B}[31m0.0003\u{1B}[0ms")
                .replacing("0.0005s", with: "\u{1B}[31m0.0005\u{1B}[0ms")
                .replacing("SELECT", with: "\u{1B}[1;38;5;200mSELECT\u{1B}[0m")
            return "\u{1B}[32mCoreData:\u{1B}[0m \(text)\u{1B}[K"
        }
        #expect(try LogText(coloured.joined(separator: "\n")).operations == ["objects Book 2 rows 500 µs"])
        let ends = Self.lines.map { "2014-07-30 11:45:15.647 App[5:a1] CoreData: \($0)\r\n" }.joined()
        try expectWhole(ends, program: "5 App", "CRLF")
        #expect(try LogText(ends).shapes.map(\.predicate) == ["t0.ZSHELF = ?"])
    }

    @Test("A statement over several lines is joined, without other output")
    func statementsOfLines() throws {
        let sql = [
            "CoreData: sql: SELECT 0, t0.Z_PK, t0.Z_OPT,", "    t0.ZTITLE", "FROM ZBOOK t0", "WHERE  t0.ZSHELF = ?",
            "ORDER BY t0.ZTITLE",
        ]
        let rest = Self.lines.dropFirst().map { "CoreData: " + $0 }
        let log = try LogText((sql + rest).joined(separator: "\n"))
        #expect(log.operations == ["objects Book 2 rows 500 µs"])
        #expect(log.shapes.map(\.predicate) == ["t0.ZSHELF = ?"] && log.shapes.map(\.sort) == [["ZTITLE ascending"]])
        let others = ["From the cache", "Order 5 is there", "hello, world", "(null)", "Left panel", "- ok"]
        let whole = "CoreData: " + Self.lines[0]
        let mixed = try LogText(([whole] + others + rest).joined(separator: "\n"))
        #expect(mixed.shapes.map(\.predicate) == ["t0.ZSHELF = ?"] && mixed.shapes.map(\.sort) == [[]])
    }

    @Test("Bound text with line breaks is one value")
    func valuesOfLines() throws {
        func fetch(_ value: String) -> [String] {
            ["CoreData: \(Self.lines[0])", "CoreData: details: SQLite bind[0] = \"\(value)\""]
                + Self.lines.dropFirst(2).map { "CoreData: " + $0 }
        }
        let log = try LogText((fetch("a\nb") + fetch("a\nc") + fetch("a\nb")).joined(separator: "\n"))
        let hashes = log.events.compactMap { if case .fetch(let fetch) = $0.detail { fetch.parameters } else { nil } }
        #expect(hashes.count == 3 && hashes[0] == hashes[2] && hashes[0] != hashes[1])
    }

    @Test("Formats of older and newer versions are read alike")
    func years() throws {
        let old = [
            "sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTITLE FROM ZBOOK t0 WHERE  t0.Z_PK = ? ",
            "annotation: sql connection fetch time: 0.0004s",
            "annotation: total fetch execution time: 0.0006s for 1 rows.",
            "annotation: fault fulfilled from database for : 0x5c1b3b0 <x-coredata://A/Book/p1> with row values: <NSSQLRow: 0x1>",
        ]
        #expect(try LogText(lines: old).operations == ["object Book of 0 600 µs"])
        let fetch = Self.lines.map { $0.replacing("NSSQLiteStatement <0x60>", with: "<NSSQLiteStatement: 0x60>") }
        #expect(try LogText(lines: fetch).operations == ["objects Book 2 rows 500 µs"])
        let count = [
            "sql: SELECT COUNT( DISTINCT t0.Z_PK) FROM ZBOOK t0 ",
            "annotation: count request <NSFetchRequest: 0x60> (entity: Book; predicate: ((null)); type: NSCountResultType; ) returned 9",
        ]
        #expect(try LogText(lines: count).operations == ["count Book 9 rows –"])
        #expect(
            try LogText(lines: [count[0], "annotation: count using NSSQLiteStatement <0x60> returned 9"]).operations
                == ["count Book 9 rows –"])
    }

    @Test("Threads with long numbers are distinguished")
    func threads() throws {
        let log = ["123456789012", "223456789012"].flatMap { thread in
            Self.lines.map { "2014-07-30 11:45:15.647 App[5:\(thread)] CoreData: \($0)\n" }
        }.joined()
        #expect(Set(try LogText(log).events.map(\.thread)).count == 2)
    }

    @Test(
        "Conditions are read regardless of parentheses",
        arguments: [
            ("( t0.ZCODE = ? AND  t0.Z_ENT = ?)", "ZCODE == Z_ENT =="),
            ("(( t0.ZA = ? AND ( t0.ZB > ? AND  t0.ZC <= ?)))", "ZA == ZB > ZC <="),
            ("? <= t0.ZTIME", "ZTIME >="), ("( t0.ZA = ? OR  t0.ZB = ?)", nil),
            ("( t0.ZA = ? AND ( t0.ZB = ? OR  t0.ZC = ?))", nil), ("t0.ZA BETWEEN ? AND ?", nil),
        ])
    func conditions(_ predicate: String, _ expected: String?) throws {
        let log = try LogText(lines: [
            "sql: SELECT 0, t0.Z_PK, t0.Z_OPT FROM ZBOOK t0 WHERE  \(predicate) ORDER BY t0.ZTITLE",
            "annotation: total fetch execution time: 0.0004s for 7 rows.",
        ])
        let terms = log.shapes.first?.terms?.map { "\($0.keyPath) \($0.operation)" }.joined(separator: " ")
        #expect(terms == expected)
    }
}
