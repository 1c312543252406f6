import FaultlineTrace
import Testing

@testable import FaultlineReader

@Suite("A log's statements and lines are read byte by byte")
struct LogScanningTests {
    private static let depth = 10_000
    private static let opening = String(repeating: "(", count: depth)
    private static let closing = String(repeating: ")", count: depth)

    @Test("Equal texts are parsed once while there is room for them")
    func once() {
        let statements = LogStatements()
        let text = "SELECT 0, t0.Z_PK, t0.ZTITLE FROM ZBOOK t0 WHERE  t0.ZSHELF = ?"
        let first = statements[text[...]]
        #expect(statements["CoreData: \(text)".dropFirst(10)] === first && first.select?.table == "ZBOOK")
        for number in 0..<20 { _ = statements["\(String(repeating: "x", count: 1 << 20))\(number)"] }
        #expect(statements[text[...]] !== first && statements[text[...]] === statements[text[...]])
    }

    @Test(
        "The rows of a write are counted",
        arguments: [
            ("UPDATE ZITEM SET ZA = ? WHERE Z_PK=7", 1), ("UPDATE ZITEM SET ZA = ? WHERE Z_PK\n=\t?", 1),
            ("DELETE FROM ZITEM WHERE \"ZITEM\".Z_PK = ?", 1), ("DELETE FROM ZITEM WHERE XZ_PK = ?", nil),
            ("DELETE FROM ZITEM WHERE Z_PK = 'a'", nil), ("DELETE FROM ZITEM WHERE Z_PKS = 1", nil),
            ("DELETE FROM ZITEM WHERE Z_PK IN (1, ?,\n33)", 3), ("DELETE FROM ZITEM WHERE Z_PK IN ()", nil),
            ("DELETE FROM ZITEM WHERE Z_PK IN (1,,2)", 2), ("DELETE FROM ZITEM WHERE Z_PK IN (1, 2", nil),
            ("DELETE FROM ZITEM WHERE Z_PK IN (x) OR Z_PK IN (1)", 1), ("DELETE FROM ZITEM WHERE Z_PK", nil),
            ("DELETE FROM ZITEM WHERE Z_PK IN (1, 2) OR Z_PK = ?", 1),
            ("insert into ZITEM(ZA) values (1, (2)), (3)", 2), ("INSERT INTO ZITEM DEFAULT VALUES", nil),
            ("INSERT INTO ZITEM(ZA) VALUES (1) ON CONFLICT (ZA) DO UPDATE SET ZB = (1)", 1),
            ("INSERT INTO ZITEM VALUES \(opening)1\(closing)", 1), ("DELETE FROM ZITEM WHERE Z_PK IN \(opening)", nil),
        ] as [(String, UInt64?)])
    func writes(_ sql: String, _ rows: UInt64?) {
        let write = WriteText(sql)
        #expect(write?.rows == rows && write?.table == "ZITEM")
    }

    @Test(
        "A statement that is no write of a table is recognized",
        arguments: ["", "UPDATE", "INSERT INTO", "DELETE FROM ", "SELECT 1 FROM ZITEM", "UPDATE OR FAIL"])
    func noWrites(_ sql: String) {
        #expect(WriteText(sql) == nil)
    }

    @Test(
        "The comparisons of a condition are found, however deep its parentheses are",
        arguments: [
            ("t0.ZA = ?", ["ZA =="]), (" (( t0.ZA = ? ) AND (? < t1.ZB)) ", ["ZA ==", "t1.ZB >"]),
            ("( t0.ZA = ?) AND ( t0.Z_PK = ?)", ["ZA ==", "SELF =="]), ("(t0.ZA = ?", nil), ("t0.ZA = ? AND", nil),
            ("NSCoreDataStringSearch( t0.ZA, ?, 1, 0)", ["ZA CONTAINS"]), ("AND", nil), ("t0.ZA = 7", nil),
            ("NSCoreDataStringSearch( t0.ZA, ?, 9, 0)", ["ZA BEGINSWITH"]), ("t0.ZA == ?", nil),
            ("NSCoreDataStringSearch( t0.ZA, ?, 8, 0)", nil), ("NSCoreDataStringSearch( t0.ZA, ?, 1)", nil),
            ("NSCoreDataStringSearch( tx.ZA, ?, 1, 0)", nil), ("NSCoreDataStringSearch( t0.ZA, ?, 1, 0) = ?", nil),
            ("\(opening)t0.ZA = ?\(closing)", ["ZA =="]), ("\(opening)t0.ZA = ?", nil), (closing + opening, nil),
            ("(", nil), ("( ", nil), ("t0.ZA = ? AND (", nil), ("((t0.ZA = ?) AND (", nil), ("", nil),
            (String(repeating: "(t0.ZA = ? AND ", count: depth) + "t0.ZB = ?" + closing, nil),
            (String(repeating: "t0.ZA = ? AND ", count: 2) + "t0.ZB > ?", ["ZA ==", "ZA ==", "ZB >"]),
        ])
    func conditions(_ condition: String, _ expected: [String]?) {
        #expect(ConditionText.terms(condition)?.map { "\($0.keyPath) \($0.operation)" } == expected)
    }

    @Test("The clauses of a SELECT are found in any case and spacing, but not within parentheses")
    func clauses() {
        let sql =
            "SELECT  t0.Z_ENT,  t0.ZA,t1.ZB from  ZX t1  JOIN ZY t0 ON (t1.Z_PK = t0.ZX WHERE) where  t0.ZA  = 'a  b' "
            + "order  BY t0.ZA COLLATE NOCASE DESC,t1.ZB LIMIT 10  OFFSET 5 LIMIT 7"
        let text = SelectText(sql)
        #expect(text?.table == "ZY" && text?.columns.names == ["ZA"] && text?.predicate == "t0.ZA = ?")
        #expect(text?.sort == ["ZA NOCASE descending", "t1.ZB ascending"] && text?.limit == 10 && text?.offset == 5)
        #expect(SelectText("SELECT 1") == nil && SelectText("") == nil && SelectText("SELECT 1 FROM") == nil)
        let deep = SelectText("SELECT 0, t0.Z_PK FROM ZX t0 WHERE \(Self.opening)t0.ZA = ?\(Self.closing) LIMIT 1")
        #expect(deep?.terms?.count == 1 && deep?.limit == 1)
    }

    @Test(
        "Decimal numbers have the nearest value",
        arguments: ["0.0021", "15.647", "59.9999999", "123456.123456789", "1234567.12345678901234", "7", "007.50"])
    func decimals(_ text: String) {
        #expect((text + "s")[...].withBytes { $0.decimal(at: 0)?.value } == Double(text))
    }

    @Test("Text that is no number has no value", arguments: ["", "s", ".", "1.2.3", "..1"])
    func noDecimals(_ text: String) {
        #expect(text[...].withBytes { $0.decimal(at: 0) } == nil)
    }

    // MARK: - Whole logs

    private static let fetch = [
        "sql: SELECT 0, t0.Z_PK, t0.Z_OPT FROM ZBOOK t0 WHERE  t0.ZSHELF = ?", "details: SQLite bind[0] = \"a",
        "annotation: total fetch execution time: 0.0005s for 2 rows.",
    ]

    @Test("A value continues over as many lines as a message may have")
    func longMessages() throws {
        func log(_ lines: Int) -> String {
            let mark = "CoreData: "
            let value = Self.fetch[1] + String(repeating: "\n(b", count: lines - 2) + "\n\""
            return mark + [Self.fetch[0], value, Self.fetch[2]].joined(separator: "\n" + mark)
        }
        func parameters(_ lines: Int) throws -> UInt64? {
            try LogText(log(lines)).events.lazy.compactMap {
                if case .fetch(let fetch) = $0.detail { fetch.parameters } else { nil }
            }.first
        }
        let all = try [999, 1000, 1001, 1002].map(parameters)
        #expect(all[0] != all[1] && all[1] != all[2] && all[2] == all[3])
    }

    @Test("A statement with 100,000 parentheses, text that is not UTF-8, and a missing last line feed do no harm")
    func hostileLines() throws {
        let deep = "sql: SELECT 0, t0.Z_PK FROM ZBOOK t0 WHERE \(Self.opening)t0.ZA = ?\(Self.closing)"
        let total = "annotation: total fetch execution time: 0.0005s for 2 rows."
        let log = try LogText(lines: [
            deep, total, "|\(String(repeating: "[x]", count: Self.depth)) CoreData: \(total)",
        ])
        #expect(log.operations == ["objectIDs Book 2 rows 500 µs"] && log.summary.linesNotUnderstood == 1)
        let file = try TraceFile(
            Array("CoreData: \(deep)\r\n".utf8) + [0xFF, 0xC3, 0x0A] + Array("CoreData: sql: \u{E9}".utf8) + [
                0xC3, 0x0A,
            ]
                + Array("CoreData: \(total)".utf8))
        var kinds: [EventKind] = []
        try TraceReader(path: file.path).read { if case .event(let event) = $0 { kinds.append(event.kind) } }
        #expect(kinds.contains(.fetch))
    }

    @Test("Messages of JSON in one line are read in order")
    func objects() throws {
        let total = "annotation: total fetch execution time: 0.0005s for 2 rows."
        let messages = (0..<300).flatMap { ["sql: SELECT 0, t0.Z_PK FROM ZBOOK\($0) t0", total] }
        let objects = messages.map { "{\"subsystem\":\"com.apple.coredata\",\"eventMessage\":\"CoreData: \($0)\"}" }
        let log = try LogText("[\(objects.joined(separator: ","))]")
        #expect(log.operations == (0..<300).map { "objectIDs Book\($0) 2 rows 500 µs" })
    }

    @Test("A fault ends the fetches that any number of other threads hold, in the order of the threads")
    func threads() throws {
        func line(_ thread: Int, _ text: String) -> String {
            "|2014-07-30 11:45:15.647 App[5:\(thread)] CoreData: \(text)"
        }
        let total = "annotation: total fetch execution time: 0.0005s for 9 rows."
        let fetches = (10..<99).reversed().flatMap {
            [line($0, "sql: SELECT 0, t0.Z_PK, t0.ZA FROM ZBOOK\($0) t0"), line($0, total)]
        }
        let fault = [
            line(1, "sql: SELECT 0, t0.Z_PK, t0.ZA FROM ZBOOK50 t0 WHERE  t0.Z_PK = ?"), line(1, total),
            line(1, "annotation: fault fulfilled from database for : 0x1 <x-coredata://A/Book50/p1>"),
        ]
        let log = try LogText(lines: fetches + fault)
        let expected = (10..<99).map { "objects \($0 == 50 ? "Book50" : "Book\($0)") 9 rows 500 µs" }
        #expect(log.operations.dropLast() == expected[...])
        #expect(log.origins == ["Book50": 1])
    }
}
