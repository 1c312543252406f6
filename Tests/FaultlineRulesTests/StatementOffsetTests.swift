import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("R14: statements that skip rows")
struct StatementOffsetTests {
    /// - Parameter steps: The steps of SQLite's virtual machine of each run.
    private func findings(
        _ sql: String = "SELECT * FROM book ORDER BY title LIMIT ? OFFSET ?", steps: [UInt64] = [200, 6200, 12_200],
        rows: UInt32 = 20, sorts: UInt32 = 0, parent: EventID = 0
    ) throws -> [Finding] {
        var trace = TraceBuilder()
        var statement = TraceEvent.Statement()
        statement.statement = trace.define(.statement(StatementEntry(sql: sql)))
        (statement.type, statement.rows, statement.sorts) = (.read, rows, sorts)
        let stack = trace.stack(12)
        for steps in steps {
            statement.virtualMachineSteps = steps
            trace.event(.sql(statement), duration: 1000 * steps, parent: parent, stack: stack)
        }
        let profile = Profile(trace.closed())
        let found = Analysis(profile, rules: [UnboundedFetchRule()]).findings
        let stored = try Profile(fileData: profile.fileData())
        #expect(Analysis(stored, rules: [UnboundedFetchRule()]).findings == found)
        return found
    }

    @Test func `Pages behind a deep offset get a condition on the order`() throws {
        let finding = try #require(findings().first)
        #expect(finding.rule == "R14" && finding.severity == .warning)
        #expect(
            finding.title.text == "Continue each page of book after the last row of the previous page, not by offset")
        // Rows that share a title must not be left out.
        #expect(finding.code == ["SELECT … FROM book WHERE (title, rowid) > (?, ?) ORDER BY title, rowid LIMIT ?"])
        #expect(
            finding.alternatives.map(\.text).contains(
                "In a table WITHOUT ROWID, use its primary key in place of rowid."))
        #expect(finding.change?.description == "Scroll.swift:12")
        #expect(
            finding.explanation.map(\.text) == [
                "3 runs of SELECT * FROM book ORDER BY title LIMIT ? OFFSET ? stepped over about 6,000 rows to return 60, in 18.6 ms.",
                "SQLite steps over all rows before the offset, so a page takes longer the further back it is.",
            ])
        // All but three pages like the first.
        let share = 1 - 600.0 / 18_600
        #expect(finding.saving.time.median == 18_600_000 * share)
    }

    @Test func `The look-up of one row by a value is no page`() throws {
        let sql = "SELECT * FROM post WHERE slug = ? LIMIT ? OFFSET ?"
        #expect(try findings(sql, rows: 1).isEmpty)
        #expect(try findings(sql, rows: 2).count == 1)
    }

    @Test(
        "The code keeps the order and the condition",
        arguments: [
            (
                #"SELECT "id" FROM "post" WHERE "topic" = ? ORDER BY "post"."created" DESC LIMIT ? OFFSET ?"#,
                [
                    "SELECT … FROM post WHERE … AND (created, rowid) < (?, ?) ORDER BY created DESC, rowid DESC LIMIT ?"
                ]
            ),
            (
                "SELECT a FROM post ORDER BY id LIMIT ?, ?", ["SELECT … FROM post WHERE id > ? ORDER BY id LIMIT ?"]
            ),
            (
                "SELECT a FROM post ORDER BY topic, id LIMIT ? OFFSET ?",
                ["SELECT … FROM post WHERE (topic, id) > (?, ?) ORDER BY topic, id LIMIT ?"]
            ),
            ("SELECT a FROM post ORDER BY topic DESC, id LIMIT ? OFFSET ?", []),
            ("SELECT a FROM post LIMIT ? OFFSET ?", []),
        ])
    func code(sql: String, code: [String]) throws {
        #expect(try #require(findings(sql).first).code == code)
    }

    @Test(
        "Good statements are not reported",
        arguments: [
            ("no offset", "SELECT * FROM book ORDER BY title LIMIT ?", [200, 6200, 12_200], 20, 0),
            ("a list of values in a subquery", "SELECT a FROM book WHERE b IN (?, ?) LIMIT ?", [200, 90_000], 20, 0),
            ("small offsets", "SELECT * FROM book LIMIT ? OFFSET ?", [200, 260, 320], 20, 0),
            ("pages as long as what they skip", "SELECT * FROM book LIMIT ? OFFSET ?", [9000, 39_000], 5000, 0),
            ("each page takes as long", "SELECT * FROM book LIMIT ? OFFSET ?", [90_000, 90_000], 20, 0),
            (
                "a sort, which reads all rows for each page", "SELECT * FROM book ORDER BY a LIMIT ? OFFSET ?",
                [200, 90_000], 20, 1
            ),
            ("an aggregate", "SELECT count(*) FROM book GROUP BY a LIMIT ? OFFSET ?", [200, 90_000], 20, 0),
        ] as [(String, String, [UInt64], UInt32, UInt32)])
    func good(name: String, sql: String, steps: [UInt64], rows: UInt32, sorts: UInt32) throws {
        #expect(try findings(sql, steps: steps, rows: rows, sorts: sorts).isEmpty)
    }

    @Test func `The statements of fetches are not reported here`() throws {
        #expect(try findings(parent: 3).isEmpty)
    }
}
