import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("R19: statements that sort a table")
struct StatementSortTests {
    private func findings(
        _ sql: String, steps: UInt32 = 9_999, sorts: UInt32 = 1, rows: UInt32 = 20, times: Int = 4, plan: String? = nil,
        parent: EventID = 0
    ) throws -> [Finding] {
        var trace = TraceBuilder()
        var statement = TraceEvent.Statement()
        statement.statement = trace.define(.statement(StatementEntry(sql: sql)))
        (statement.type, statement.rows, statement.fullScanSteps, statement.sorts) = (.read, rows, steps, sorts)
        if let plan {
            statement.plan = trace.define(.plan(PlanEntry(rows: [PlanEntry.Row(id: 1, parent: 0, detail: plan)])))
        }
        let stack = trace.stack(12)
        for _ in 0..<times { trace.event(.sql(statement), duration: 1_000_000, parent: parent, stack: stack) }
        let profile = Profile(trace.closed())
        let found = Analysis(profile, rules: [SortRule()]).findings
        let stored = try Profile(fileData: profile.fileData())
        #expect(Analysis(stored, rules: [SortRule()]).findings == found)
        return found
    }

    @Test func `A sort of a whole table for its first rows gets the index in SQL`() throws {
        let finding = try #require(findings(#"SELECT "id" FROM "post" ORDER BY "post"."created" DESC LIMIT ?"#).first)
        #expect(finding.rule == "R19" && finding.severity == .warning)
        #expect(finding.title.text == "Create an index on post(created)")
        #expect(finding.code == ["CREATE INDEX post_created ON post(created)"])
        #expect(finding.change?.description == "Scroll.swift:12")
        #expect(
            finding.explanation.map(\.text) == [
                "4 runs of SELECT id FROM post ORDER BY created DESC LIMIT ? sorted 40,000 rows to return 80, in 4.00 ms."
            ])
        let share = 1 - 80.0 / 40_000
        #expect(finding.saving.time.median == 4_000_000 * share)
    }

    @Test(
        "The index has the columns of the order, and their directions if these differ",
        arguments: [
            ("SELECT * FROM post ORDER BY topic, created LIMIT ?", "post_topic_created ON post(topic, created)"),
            (
                "SELECT * FROM post ORDER BY topic ASC, created DESC LIMIT ?",
                "post_topic_created ON post(topic, created DESC)"
            ),
            ("SELECT * FROM post ORDER BY topic DESC, created DESC", "post_topic_created ON post(topic, created)"),
            (#"SELECT * FROM "my posts" ORDER BY "a b" LIMIT ?"#, #""my posts_a b" ON "my posts"("a b")"#),
        ])
    func columns(sql: String, index: String) throws {
        #expect(try findings(sql).first?.code == ["CREATE INDEX " + index])
    }

    @Test(
        "Good statements, and those that an index may not serve, are not reported",
        arguments: [
            ("no sort", "SELECT * FROM post ORDER BY id LIMIT ?", 9999, 0, 20),
            ("a small table", "SELECT * FROM post ORDER BY created LIMIT ?", 400, 1, 20),
            ("most rows are wanted", "SELECT * FROM post ORDER BY created", 9999, 1, 5000),
            ("a condition", "SELECT * FROM post WHERE topic = ? ORDER BY created LIMIT ?", 9999, 1, 20),
            ("two tables", "SELECT * FROM post JOIN topic ORDER BY created LIMIT ?", 9999, 1, 20),
            ("a list of tables", "SELECT * FROM post, topic ORDER BY created LIMIT ?", 9999, 1, 20),
            ("an expression", "SELECT * FROM post ORDER BY lower(title) LIMIT ?", 9999, 1, 20),
            ("a collation", "SELECT * FROM post ORDER BY title COLLATE NOCASE LIMIT ?", 9999, 1, 20),
            ("groups", "SELECT topic FROM post GROUP BY topic ORDER BY topic LIMIT ?", 9999, 1, 20),
            ("a name of an expression", "SELECT length(a) AS b FROM post ORDER BY b LIMIT ?", 9999, 1, 20),
            ("an aggregate", "SELECT max(a) FROM post ORDER BY a LIMIT ?", 9999, 1, 1),
        ])
    func good(name: String, sql: String, steps: UInt32, sorts: UInt32, rows: UInt32) throws {
        #expect(try findings(sql, steps: steps, sorts: sorts, rows: rows).isEmpty)
    }

    @Test func `A view, whose tables the plan names instead, is not reported`() throws {
        let sql = "SELECT * FROM recent ORDER BY created LIMIT ?"
        #expect(try findings(sql, plan: "SCAN recent").count == 1)
        #expect(try findings(sql, plan: "SCAN post").isEmpty)
        #expect(try findings("SELECT * FROM recent AS r ORDER BY created LIMIT ?", plan: "SCAN r").count == 1)
    }

    @Test func `The statements of fetches are not reported here`() throws {
        #expect(try findings("SELECT * FROM post ORDER BY created LIMIT ?", parent: 3).isEmpty)
    }
}
