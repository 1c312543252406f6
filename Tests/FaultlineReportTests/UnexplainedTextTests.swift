import FaultlineProfile
import FaultlineRules
import FaultlineTrace
import Foundation
import Testing
import TraceFixtures

@testable import FaultlineReport

@Suite("Work that no finding explains, in a report")
struct UnexplainedTextTests {
    /// A program with five statements that take a sixth of the run each.
    private static var analysis: Analysis {
        var trace = TraceBuilder()
        for number in 1...5 {
            var statement = TraceEvent.Statement()
            statement.statement = trace.define(.statement(StatementEntry(sql: "SELECT a FROM t\(number) WHERE b > ?")))
            (statement.type, statement.rows) = (.read, 3)
            for line in [number, number + 10] {
                trace.event(.sql(statement), duration: 10_000_000, stack: trace.stack(line))
            }
        }
        trace.now += 20_000_000
        return Analysis(Profile(trace.closed()))
    }

    @Test func `The text has the longest operations with their lines, and counts the others`() throws {
        let text = TextReport(Self.analysis).render(width: 90)
        let section = try #require(text.components(separatedBy: "\n\n").first { $0.hasPrefix("Not explained") })
        let lines = section.split(separator: "\n").map(String.init)
        #expect(lines.count == 11 && lines.last == "  2 more")
        #expect(lines[1].hasPrefix("  SELECT a FROM t1 WHERE b > ?  ") && lines[1].hasSuffix("  Scroll.swift:1"))
        #expect(lines[1].count == 90)
        let words = lines[2...3].map { $0.trimmingPrefix { $0 == " " } }.joined(separator: " ")
        #expect(
            words.hasPrefix("2 runs took 20.0 ms, 17 % of the run: half of them up to 10.0 ms, the longest 10.0 ms."))
        #expect(section.contains("It read 6 rows. Also at Scroll.swift:11."))
        #expect(!TextReport(Self.analysis, showsAll: true).render().contains("2 more"))
    }

    @Test func `Markdown has them below the findings`() {
        let text = MarkdownReport(analysis: Self.analysis).render()
        #expect(
            text.contains(
                "### Not explained\n\n- `SELECT a FROM t1 WHERE b > ?`, `Scroll.swift:1`: 2 runs took 20.0 ms"))
    }

    @Test func `A report without such work has no such section`() {
        let report = Analysis(Profile(GroceriesStory.trace))
        #expect(!TextReport(report).render().contains("Not explained"))
        #expect(!MarkdownReport(analysis: report).render().contains("Not explained"))
    }
}
