import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("R29: repeated statements")
struct RepeatedStatementRuleTests {
    /// A program that reads a setting.
    private struct Shop {
        var trace = TraceBuilder()
        private var statements: [String: DictionaryID] = [:]
        private let stack: DictionaryID
        static let setting = "SELECT value FROM setting WHERE name = ?"

        init() { stack = trace.stack(30) }

        mutating func run(
            _ sql: String = setting, _ type: TraceEvent.Statement.StatementType = .read, values: UInt64 = 7,
            rows: UInt32 = 1, pause: UInt64 = 1000, parent: EventID = 0, error: UInt32 = 0
        ) {
            let number = statements[sql] ?? trace.define(.statement(StatementEntry(sql: sql)))
            statements[sql] = number
            var statement = TraceEvent.Statement()
            (statement.statement, statement.type, statement.error) = (number, type, error)
            (statement.rows, statement.parameters) = (rows, values)
            trace.event(.sql(statement), duration: 100_000, parent: parent, stack: stack)
            trace.now += pause
        }

        func findings(_ rules: [any Rule] = [RepeatedStatementRule()]) -> [Finding] {
            Analysis(Profile(trace.closed()), rules: rules).findings
        }
    }

    @Test func `Equal runs are reported at their line`() throws {
        var shop = Shop()
        for _ in 0..<40 { shop.run() }
        let finding = try #require(shop.findings().first)
        #expect(shop.findings().count == 1 && finding.severity == .warning)
        #expect(finding.title.text == "Read setting once instead of 40 times, and keep the result")
        #expect(finding.change?.description == "Scroll.swift:30")
        #expect(
            finding.explanation.map(\.text) == [
                "40 runs of SELECT value FROM setting WHERE name = ? with the same values, and nothing was written in between: "
                    + "4.00 ms in SQLite, and 39.0 µs between them."
            ])
        // All but one of the runs, and half of the time between two.
        #expect(finding.saving.trips == 39 && finding.saving.time.low == 39 * 100_000)
        #expect(finding.saving.time.median == 39 * 100_500 && finding.saving.time.high == 39 * 101_000)
        let stored = try Profile(fileData: Profile(shop.trace.closed()).fileData())
        #expect(Analysis(stored, rules: [RepeatedStatementRule()]).findings == shop.findings())
    }

    @Test func `Runs that find nothing and pause are a note about polling`() {
        var polling = Shop(), busy = Shop(), finding = Shop()
        for _ in 0..<40 {
            polling.run(rows: 0, pause: 2_000_000)
            busy.run(rows: 0)
            finding.run(rows: 1, pause: 2_000_000)
        }
        #expect(polling.findings().map(\.severity) == [.note])
        #expect(busy.findings().map(\.severity) == [.warning])
        #expect(finding.findings().map(\.severity) == [.warning])
        // Pauses of two milliseconds are no time of a mapper.
        #expect(finding.findings().first?.saving.time.high.rounded() == 3_900_000)
    }

    @Test(
        "A result that can change by itself is not to be kept",
        arguments: [
            "SELECT id FROM t ORDER BY random() LIMIT ?", "SELECT hex(randomblob(?)) FROM t",
            "SELECT id FROM t WHERE id = last_insert_rowid()", "SELECT changes() FROM t",
            "SELECT id FROM t WHERE due < strftime(?, ?)", "SELECT id FROM t WHERE due < datetime()",
            "SELECT id FROM t WHERE due < CURRENT_TIMESTAMP",
        ])
    func volatile(sql: String) {
        var shop = Shop()
        for _ in 0..<40 { shop.run(sql) }
        #expect(shop.findings().isEmpty)
    }

    @Test(
        "Names like those of such functions change nothing",
        arguments: ["SELECT random FROM t", "SELECT date(born) FROM t", "SELECT \"CURRENT_TIME\" FROM t"])
    func stable(sql: String) {
        var shop = Shop()
        for _ in 0..<40 { shop.run(sql) }
        #expect(shop.findings().count == 1)
    }

    @Test func `Runs with a few sets of values are one finding`() throws {
        var shop = Shop()
        for number in 0..<40 { shop.run(values: UInt64(number % 2 + 1), pause: number == 19 ? 60_000_000 : 1000) }
        #expect(shop.findings([RepeatedStatementRule(), StatementLoopRule()]).map(\.rule) == ["R27"])
        var apart = Shop()
        for number in 0..<40 { apart.run(values: UInt64(number / 20 + 1), pause: number == 19 ? 60_000_000 : 1000) }
        let finding = try #require(apart.findings([RepeatedStatementRule(), StatementLoopRule()]).first)
        #expect(finding.rule == "R29")
        #expect(finding.title.text == "Read setting once instead of up to 20 times, and keep the result")
        #expect(
            finding.explanation.first?.text
                == "40 runs of SELECT value FROM setting WHERE name = ? with the same values on 2 occasions, up to 20 times on "
                + "one, and nothing was written in between: 4.00 ms in SQLite, and 38.0 µs between them.")
    }

    @Test(
        "A write to the table of the statement, or to one that is not known, ends a group",
        arguments: [
            "INSERT INTO setting VALUES (?, …)", "INSERT OR REPLACE INTO main.Setting VALUES (?)",
            "UPDATE OR IGNORE \"setting\" SET value = ?", "DELETE FROM setting WHERE name = ?", "WITH … INSERT …",
        ])
    func writes(sql: String) {
        var shop = Shop()
        for _ in 0..<20 {
            shop.run()
            shop.run()
            shop.run(sql, .write)
        }
        #expect(shop.findings().isEmpty)
    }

    @Test func `Writes to other tables leave a group as it is, with less confidence`() throws {
        var shop = Shop()
        for _ in 0..<20 {
            shop.run()
            shop.run("INSERT INTO log VALUES (?, …)", .write)
        }
        let finding = try #require(shop.findings().first)
        #expect(finding.confidence == .medium("a trigger, a view or a foreign key could connect the tables"))
        #expect(finding.explanation.first?.text.contains("only other tables were written in between") == true)
        #expect(finding.fix.text == "Pass the result on, or keep it until a table that it depends on is written.")
        let stored = try Profile(fileData: Profile(shop.trace.closed()).fileData())
        #expect(Analysis(stored, rules: [RepeatedStatementRule()]).findings == shop.findings())
    }

    @Test func `A run with other rows, a change of the schema and a rollback end a group`() {
        var shop = Shop()
        for _ in 0..<20 {
            shop.run()
            shop.run()
            shop.run("CREATE TABLE log(text)", .schema)
        }
        #expect(shop.findings().isEmpty)
        var rolledBack = Shop()
        for _ in 0..<20 {
            rolledBack.run()
            rolledBack.run("ROLLBACK", .transaction)
        }
        #expect(rolledBack.findings().isEmpty)
        var committed = Shop()
        for _ in 0..<20 {
            committed.run()
            committed.run("COMMIT", .transaction)
        }
        #expect(committed.findings().count == 1)
        var growing = Shop()
        for number in 0..<20 { growing.run(rows: UInt32(number / 2)) }
        #expect(growing.findings().isEmpty)
    }

    @Test func `Few runs, different values, failed runs and those of a fetch are not reported`() {
        var few = Shop()
        for _ in 0..<2 { few.run() }
        #expect(few.findings().isEmpty)
        var different = Shop()
        for number in 0..<20 { different.run(values: UInt64(number + 1)) }
        #expect(different.findings().isEmpty)
        #expect(different.findings([StatementLoopRule()]).count == 1)
        var unknown = Shop()
        for _ in 0..<20 { unknown.run(values: 0) }
        #expect(unknown.findings().isEmpty)
        #expect(unknown.findings([StatementLoopRule()]).count == 1)
        var failed = Shop()
        for _ in 0..<20 { failed.run(error: 5) }
        #expect(failed.findings().isEmpty)
        var fetched = Shop()
        for _ in 0..<20 { fetched.run(parent: 3) }
        #expect(fetched.findings().isEmpty)
    }

    @Test func `Three or four runs are a note, and so are runs that a poll repeats after pauses`() throws {
        var shop = Shop()
        for _ in 0..<4 { shop.run() }
        #expect(shop.findings().map(\.severity) == [.note])
        var polling = Shop()
        for _ in 0..<20 { polling.run(pause: 100_000_000) }
        #expect(polling.findings().isEmpty)
    }

    @Test func `Runs with one set of values are no loop`() {
        var shop = Shop()
        for _ in 0..<40 { shop.run() }
        #expect(shop.findings([RepeatedStatementRule(), StatementLoopRule()]).map(\.rule) == ["R29"])
    }
}
