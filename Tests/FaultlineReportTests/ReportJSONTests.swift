import FaultlineDocuments
import FaultlineProfile
import FaultlineReport
import FaultlineRules
import Foundation
import Testing
import TraceFixtures

@Suite("The JSON report")
struct ReportJSONTests {
    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func `Equal traces give equal bytes`() {
        let texts = (0..<3).map { _ in ReportJSON(Analysis(Profile(GroceriesStory.trace))).render() }
        #expect(Set(texts).count == 1)
    }

    @Test func `The report has these keys, and unformatted numbers`() throws {
        let report = try object(ReportJSON(Analysis(Profile(GroceriesStory.trace))).render())
        #expect(
            report.keys.sorted() == [
                "byEntity", "byRelationship", "byStatement", "checks", "costs", "cpu", "findings", "groups", "lost",
                "memory", "migrations",
                "processes", "programs", "quality", "recordings", "results", "scopes", "totals", "unexplained",
                "version", "wallTime",
            ])
        #expect(report["version"] as? Int == 1)
        #expect(report["wallTime"] as? Int == 4_106_000)
        let totals = try #require(report["totals"] as? [String: Any])
        #expect(totals["storeTime"] as? Int == 2_105_000)
        #expect((totals["events"] as? [String: Int])?["fault"] == 150)
        let findings = try #require(report["findings"] as? [[String: Any]])
        #expect(findings.compactMap { $0["rule"] as? String } == ["R01", "R02", "R09"])
        let first = try #require(findings.first)
        #expect((first["change"] as? [String: Any])?["line"] as? Int == 42)
        #expect((first["saving"] as? [String: Any])?["trips"] as? Int == 99)
        let samples = try #require(first["samples"] as? [[String: Any]])
        #expect(samples.map { $0["duration"] as? Int } == [12_000, 12_000, 12_000])
        #expect(samples.allSatisfy { $0["process"] as? Int == 7 && $0["event"] as? Int ?? 0 > 0 })
        let relationships = try #require(report["byRelationship"] as? [[String: Any]])
        #expect(relationships.compactMap { $0["name"] as? String } == ["Item.list"])
        #expect((relationships.first?["durations"] as? [String: Any])?["count"] as? Int == 150)
        let scopes = try #require(report["scopes"] as? [[String: Any]])
        #expect(scopes.compactMap { $0["count"] as? Int } == [11])
    }

    @Test func `An empty trace has a report`() throws {
        let report = try object(ReportJSON(Analysis(Profile())).render())
        #expect((report["findings"] as? [Any])?.isEmpty == true)
        #expect(report["wallTime"] as? Int == 0)
    }
}
