import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("R30: unread columns")
struct UnreadColumnRuleTests {
    /// - Parameters:
    ///   - read: The positions of the columns that each run reads.
    ///   - frame: A frame of the stack, for a program with a library.
    private func findings(
        _ sql: String = "SELECT * FROM book WHERE price > ?", columns: [String]? = ["id", "isbn", "title"],
        read: [[Int]], rows: UInt32 = 5000, count: UInt32 = 3, frame: FrameEntry? = nil, parent: EventID = 0
    ) throws -> [Finding] {
        var trace = TraceBuilder()
        var statement = TraceEvent.Statement()
        statement.statement = trace.define(.statement(StatementEntry(sql: sql, columns: columns)))
        (statement.type, statement.rows, statement.columns) = (.read, rows, count)
        var stack = trace.stack(12)
        if let frame {
            _ = trace.define(.frame(frame))
            stack = trace.define(.stack(StackEntry(frames: [frame.address])))
        }
        for positions in read {
            statement.columnsRead = positions.reduce(0) { $0 | 1 << UInt64($1) }
            trace.event(.sql(statement), duration: 3_000_000, parent: parent, stack: stack)
        }
        let profile = Profile(trace.closed())
        let found = Analysis(profile, rules: [UnreadColumnRule()]).findings
        let stored = try Profile(fileData: profile.fileData())
        #expect(Analysis(stored, rules: [UnreadColumnRule()]).findings == found)
        return found
    }

    @Test func `Columns that no run reads are named, and the statement selects the others`() throws {
        let finding = try #require(findings(read: [[0], [2]]).first)
        #expect(finding.rule == "R30" && finding.severity == .warning)
        #expect(finding.title.text == "Select only the columns of book that are read")
        #expect(finding.code == ["SELECT id, title FROM book WHERE price > ?"] && finding.codeLanguage == "sql")
        #expect(
            finding.explanation.map(\.text) == [
                "2 runs of SELECT * FROM book WHERE price > ? returned 10,000 rows, in 6.00 ms. The program never read 1 of the "
                    + "3 columns: isbn.", "faultline verify measures what the change saves.",
            ])
        #expect(finding.change?.description == "Scroll.swift:12" && finding.saving.time == .none)
        #expect(finding.remedy == .statement(change(.columns(["id", "title"]), rows: 10_000, time: 6_000_000)))
    }

    private func change(_ kind: StatementChange.Kind, rows: UInt64, time: UInt64) -> StatementChange {
        StatementChange(sql: "SELECT * FROM book WHERE price > ?", executions: 2, rows: rows, time: time, kind: kind)
    }

    @Test func `Rows that are only counted are counted in SQL`() throws {
        let finding = try #require(findings(read: [[], []]).first)
        #expect(finding.title.text == "Count the rows of book in SQL, instead of stepping over them")
        #expect(finding.code == ["SELECT count(*) FROM book WHERE price > ?"])
        #expect(finding.explanation.first?.text.hasSuffix("The program read none of their columns.") == true)
        #expect(finding.remedy == .statement(change(.count, rows: 10_000, time: 6_000_000)))
    }

    @Test func `A row that is only looked for is not selected`() throws {
        let finding = try #require(findings(read: Array(repeating: [], count: 200), rows: 1).first)
        #expect(finding.title.text == "Ask whether a row of book exists, without selecting its columns")
        #expect(finding.code == ["SELECT EXISTS (SELECT 1 FROM book WHERE price > ?)"])
    }

    @Test func `Many columns are listed in part, and without names by their positions`() throws {
        let names = (0..<9).map { "c\($0)" }
        let many = try #require(findings(columns: names, read: [[0]], count: 9).first)
        #expect(many.explanation.first?.text.hasSuffix("8 of the 9 columns: c1, c2, c3, c4, c5 and 3 others.") == true)
        let odd = try #require(findings(columns: ["book.id", "x", "y"], read: [[0]]).first)
        #expect(odd.code.isEmpty)
        let unnamed = try #require(findings(columns: nil, read: [[0, 2]]).first)
        #expect(unnamed.explanation.first?.text.hasSuffix("1 of the 3 columns: column 2.") == true)
    }

    @Test func `A program with GRDB gets its words`() throws {
        let frame = FrameEntry(
            address: "0x77", module: "App",
            locations: [.init(symbol: "", function: "GRDB.Statement.step()", file: "/GRDB/Statement.swift", line: 3)])
        let finding = try #require(findings(read: [[0]], frame: frame).first)
        #expect(finding.code == [#"Book.select(Column("id"))"#] && finding.codeLanguage == "swift")
        let counted = try #require(findings(read: [[]], frame: frame).first)
        #expect(counted.code == ["let count = try Book.filter(…).fetchCount(db)"])
    }

    @Test(
        "Nothing is reported about other statements",
        arguments: [
            ("all columns read", "SELECT * FROM book", [[0, 1], [2]], 5000 as UInt32, 3 as UInt32, 0 as EventID),
            ("few rows", "SELECT * FROM book", [[0]], 99, 3, 0),
            ("columns not recorded", "SELECT * FROM book", [[]], 5000, 0, 0),
            ("the statement of a fetch", "SELECT * FROM book", [[0]], 5000, 3, 7),
            ("more columns than are recorded", "SELECT * FROM book", [[0]], 5000, 64, 0),
            ("distinct rows", "SELECT DISTINCT id, isbn FROM book", [[0]], 5000, 2, 0),
            ("a compound", "SELECT id, isbn FROM book UNION SELECT id, title FROM book", [[0]], 5000, 2, 0),
            ("an aggregate", "SELECT max(price), isbn FROM book GROUP BY isbn", [[0]], 5000, 3, 0),
            ("SQLite's schema", "SELECT * FROM sqlite_master", [[0]], 5000, 3, 0),
            ("no table", "SELECT 1", [[]], 5000, 3, 0),
        ])
    func good(
        name: String, sql: String, read: [[Int]], rows: UInt32, count: UInt32, parent: EventID
    ) throws {
        #expect(try findings(sql, read: read, rows: rows, count: count, parent: parent).isEmpty)
    }

    @Test(
        "The changed statement keeps the condition and, with a limit, the order",
        arguments: [
            (
                "SELECT a, b FROM t WHERE c IN (SELECT d FROM u ORDER BY e LIMIT ?) ORDER BY f",
                "SELECT count(*) FROM t WHERE c IN (SELECT d FROM u ORDER BY e LIMIT ?)"
            ),
            ("SELECT * FROM t ORDER BY f LIMIT ?", "SELECT count(*) FROM (SELECT 1 FROM t ORDER BY f LIMIT ?)"),
            ("SELECT t.a, u.b FROM t JOIN u ON u.id = t.u", "SELECT count(*) FROM t JOIN u ON u.id = t.u"),
            ("SELECT DISTINCT a FROM t", nil), ("SELECT a FROM t UNION SELECT b FROM u", nil),
            ("SELECT count(*) FROM t", nil), ("WITH x AS (SELECT 1) SELECT * FROM x", nil),
        ])
    func counting(sql: String, changed: String?) {
        #expect(StatementSelection(sql)?.count == changed)
    }

    @Test func `Only a selection of one table's columns is replaced by columns`() {
        #expect(StatementSelection("SELECT a, b FROM t WHERE c = ?")?.isOfColumns == true)
        #expect(StatementSelection("SELECT a, length(b) FROM t")?.isOfColumns == false)
        #expect(StatementSelection("SELECT a, b FROM t ORDER BY ?")?.isOfColumns == false)
        #expect(StatementSelection("SELECT a AS b FROM t WHERE b > ?")?.isPlain == false)
        #expect(StatementSelection("SELECT null, a FROM t")?.isPlain == false)
        #expect(StatementSelection("SELECT t.*, u.a FROM t JOIN u ON u.id = t.u")?.isPlain == true)
        #expect(StatementSelection("SELECT a AS b FROM t")?.isOfColumns == false)
        #expect(StatementSelection(#"SELECT "t"."a", t.b FROM t"#)?.isOfColumns == true)
        #expect(StatementSelection("SELECT * FROM t JOIN u ON u.id = t.u")?.isOfColumns == false)
        #expect(StatementSelection("SELECT * FROM t")?.columns(["a", "order"]) == #"SELECT a, "order" FROM t"#)
    }
}
