import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("R06: statements that scan a table")
struct StatementScanTests {
    private func findings(
        _ sql: String = "SELECT title FROM book WHERE author_id = ?", steps: UInt32 = 9_999, rows: UInt32 = 5,
        times: Int = 4, plan: [String] = ["SCAN book"], parent: EventID = 0
    ) throws -> [Finding] {
        var trace = TraceBuilder()
        var statement = TraceEvent.Statement()
        statement.statement = trace.define(.statement(StatementEntry(sql: sql)))
        if !plan.isEmpty {
            let lines = plan.enumerated().map { PlanEntry.Row(id: $0 + 1, parent: 0, detail: $1) }
            statement.plan = trace.define(.plan(PlanEntry(rows: lines)))
        }
        (statement.type, statement.rows, statement.fullScanSteps) = (.read, rows, steps)
        let stack = trace.stack(12)
        for _ in 0..<times { trace.event(.sql(statement), duration: 1_000_000, parent: parent, stack: stack) }
        let profile = Profile(trace.closed())
        let found = Analysis(profile, rules: [MissingIndexRule()]).findings
        let stored = try Profile(fileData: profile.fileData())
        #expect(Analysis(stored, rules: [MissingIndexRule()]).findings == found)
        return found
    }

    @Test func `A scan for a few rows gets the index in SQL`() throws {
        let finding = try #require(findings().first)
        #expect(finding.rule == "R06" && finding.severity == .warning)
        #expect(finding.title.text == "Create an index on book(author_id)")
        #expect(finding.code == ["CREATE INDEX book_author_id ON book(author_id)"])
        #expect(finding.change?.description == "Scroll.swift:12")
        #expect(
            finding.explanation.map(\.text) == [
                "4 runs of SELECT title FROM book WHERE author_id = ? stepped over 40,000 rows to find 20, in 4.00 ms.",
                "SQLite's plan: SCAN book.",
            ])
        // The 20 rows and four seeks remain, each as costly as ten steps.
        let share = 1 - 60.0 / 40_000
        #expect(finding.saving.time.median == 4_000_000 * share)
    }

    @Test func `Without a plan, the counter decides`() throws {
        #expect(try findings(plan: []).count == 1)
    }

    @Test(
        "Good statements are not reported",
        arguments: [
            ("a small table", "SELECT a FROM t WHERE b = ?", 498, 1, ["SCAN t"]),
            ("most rows are wanted", "SELECT a FROM t WHERE b = ?", 9999, 1001, ["SCAN t"]),
            ("no column is compared", "SELECT a FROM t", 9999, 10, ["SCAN t"]),
            ("another table is scanned", "SELECT a FROM t JOIN u WHERE b = ?", 9999, 1, ["SEARCH t", "SCAN u"]),
            ("a range", "SELECT a FROM t WHERE b > ?", 9999, 1, ["SCAN t"]),
            ("one of two conditions", "SELECT a FROM t WHERE b = ? OR c = ?", 9999, 1, ["SCAN t"]),
            ("the opposite", "SELECT a FROM t WHERE NOT b = ?", 9999, 1, ["SCAN t"]),
            ("another collation", "SELECT a FROM t WHERE b = ? COLLATE NOCASE", 9999, 1, ["SCAN t"]),
            ("an expression", "SELECT a FROM t WHERE b || c = ?", 9999, 1, ["SCAN t"]),
            ("a function", "SELECT a FROM t WHERE lower(b) = ?", 9999, 1, ["SCAN t"]),
            ("a subquery with a name", "WITH c AS (SELECT n FROM u) SELECT n FROM c WHERE n = ?", 9999, 1, ["SCAN c"]),
            ("a subquery with an alias", "SELECT n FROM (SELECT n FROM u) AS s WHERE s.n = ?", 9999, 1, ["SCAN s"]),
            ("a page", "SELECT a FROM t WHERE b = ? ORDER BY c LIMIT ? OFFSET ?", 9999, 20, ["SCAN t"]),
            ("a column of a subquery", "SELECT a FROM t WHERE b IN (SELECT c FROM u WHERE d = ?)", 9999, 1, ["SCAN t"]),
            ("a joined table that is not scanned", "SELECT t.a FROM t JOIN u WHERE u.b = ?", 9999, 1, ["SCAN t"]),
            ("groups", "SELECT a FROM t WHERE b = ? GROUP BY a", 9999, 1, ["SCAN t"]),
        ])
    func good(name: String, sql: String, steps: UInt32, rows: UInt32, plan: [String]) throws {
        #expect(try findings(sql, steps: steps, rows: rows, plan: plan).isEmpty)
    }

    @Test func `A look-up of one row is no page, although its limit has an offset`() throws {
        let finding = try #require(
            findings("SELECT a FROM post WHERE slug = ? LIMIT ? OFFSET ?", rows: 1, plan: []).first)
        #expect(finding.title.text == "Create an index on post(slug)")
    }

    @Test func `A scan by a statement that writes gets an index too`() throws {
        for sql in ["UPDATE task SET state = ? WHERE key = ?", "DELETE FROM task WHERE key = ?"] {
            let finding = try #require(findings(sql, rows: 1, plan: []).first)
            #expect(finding.title.text == "Create an index on task(key)")
        }
    }

    @Test func `A program that only writes was examined, too`() {
        var trace = TraceBuilder()
        var statement = TraceEvent.Statement()
        statement.statement = trace.define(.statement(StatementEntry(sql: "DELETE FROM task WHERE id = ?")))
        statement.type = .write
        for _ in 0..<3 { trace.event(.sql(statement), duration: 1000) }
        let began = TraceMessage.began(ProcessBegan(process: 7, gaps: [TraceGap(.operations)]))
        let analysis = Analysis(Profile([began] + trace.closed().dropFirst()), rules: [MissingIndexRule()])
        #expect(analysis.checks.map(\.examined?.text) == ["the scans of 3 statements"])
    }

    @Test func `The statements of fetches are not reported here`() throws {
        #expect(try findings(parent: 77).isEmpty)
    }

    @Test func `Names that SQL would misread are quoted`() throws {
        let finding = try #require(findings(#"SELECT a FROM "my table" WHERE "a ""b" = ?"#, plan: []).first)
        #expect(finding.code == [#"CREATE INDEX "my table_a ""b" ON "my table"("a ""b")"#])
    }

    @Test(
        "The index has the compared columns of the scanned table, by whatever name",
        arguments: [
            ("SELECT a FROM t WHERE active = ? AND email = ?", ["SCAN t"], ["t_active_email ON t(active, email)"]),
            ("SELECT a FROM t WHERE b = ? AND c = ? AND d = ? AND e = ?", ["SCAN t"], ["t_b_c_d ON t(b, c, d)"]),
            ("SELECT a FROM t x JOIN u y ON y.k = x.k WHERE y.b = ?", ["SCAN y", "SEARCH x"], ["u_b ON u(b)"]),
            ("SELECT a FROM t WHERE ? = t.b AND c IS NOT NULL", ["SCAN t"], ["t_b ON t(b)"]),
            (#"SELECT a FROM "order" WHERE "group" = ?"#, ["SCAN order"], [#"order_group ON "order"("group")"#]),
            (#"SELECT a FROM "we ird" WHERE b = ?"#, ["SCAN we ird"], [#""we ird_b" ON "we ird"(b)"#]),
            ("UPDATE t SET a = ? WHERE b = ?", ["SCAN t"], ["t_b ON t(b)"]),
            (
                "SELECT book.title FROM book JOIN author ON author.id = book.author_id WHERE author.name = ?",
                ["SCAN book"], ["author_name ON author(name)", "book_author_id ON book(author_id)"]
            ),
        ])
    func columns(sql: String, plan: [String], indexes: [String]) throws {
        #expect(try #require(findings(sql, plan: plan).first).code == indexes.map { "CREATE INDEX " + $0 })
    }

    @Test func `A count gets an index, although the trace does not show how many rows it counted`() throws {
        let finding = try #require(findings("SELECT count(*) FROM t WHERE b = ?", rows: 1, plan: ["SCAN t"]).first)
        #expect(finding.code == ["CREATE INDEX t_b ON t(b)"])
        #expect(finding.confidence == .low("the trace does not show how many rows matched"))
        #expect(finding.saving.time.low == 0)
        #expect(finding.explanation.first?.text.contains("stepped over 40,000 rows to return 4, in") == true)
    }

    @Test func `Statements with the same index share a finding`() throws {
        var trace = TraceBuilder()
        for (line, sql) in [(10, "SELECT a FROM t WHERE b = ?"), (20, "SELECT c FROM t WHERE b = ?")] {
            var statement = TraceEvent.Statement()
            statement.statement = trace.define(.statement(StatementEntry(sql: sql)))
            (statement.type, statement.rows, statement.fullScanSteps) = (.read, 1, 9999)
            let stack = trace.stack(line)
            for _ in 0..<3 {
                trace.event(.sql(statement), duration: UInt64(line) * 100_000, stack: stack)
            }
        }
        let found = Analysis(Profile(trace.closed()), rules: [MissingIndexRule()]).findings
        #expect(found.count == 1)
        let finding = try #require(found.first)
        #expect(finding.seenAt.map(\.site?.line) == [20, 10])
        #expect(finding.explanation.last?.text == "The index also serves 1 other statement of this program.")
        #expect(finding.saving.time.high == 9_000_000)
    }

    @Test func `An index that SQLite builds for each run is reported`() throws {
        var trace = TraceBuilder()
        var statement = TraceEvent.Statement()
        let sql = "SELECT sum(x.v) FROM a JOIN b AS x ON x.code = a.code"
        statement.statement = trace.define(.statement(StatementEntry(sql: sql)))
        let plan = ["SCAN a", "SEARCH x USING AUTOMATIC COVERING INDEX (code=?)"]
        statement.plan = trace.define(
            .plan(PlanEntry(rows: plan.enumerated().map { PlanEntry.Row(id: $0 + 1, parent: 0, detail: $1) })))
        (statement.type, statement.rows, statement.automaticIndexes) = (.read, 1, 3000)
        let stack = trace.stack(12)
        for _ in 0..<4 { trace.event(.sql(statement), duration: 2_000_000, stack: stack) }
        let profile = Profile(trace.closed())
        let found = Analysis(profile, rules: [MissingIndexRule()]).findings
        let finding = try #require(found.first)
        #expect(found.count == 1)
        #expect(finding.code == ["CREATE INDEX b_code ON b(code)"])
        #expect(
            finding.explanation.map(\.text) == [
                "For 4 runs of \(sql), SQLite built an index on b(code) and discarded it: 3,000 rows each time."
            ])
        #expect(finding.saving.time.median == 12_000 * 400)
        let stored = try Profile(fileData: profile.fileData())
        #expect(Analysis(stored, rules: [MissingIndexRule()]).findings == found)
    }
}
