import FaultlineDocuments
import FaultlineProfile
import FaultlineReport
import FaultlineRules
import FaultlineTrace
import Foundation
import Testing
import TraceFixtures

@Suite("Changed plans")
struct DiffPlanTests {
    private func analysis(_ plan: [String], text: String = "SELECT … WHERE t0.ZALBUM = ?") -> Analysis {
        var music = Music()
        let shape = music.shape("album == ?", [.init(keyPath: "album", operation: "==", operand: "object")])
        let fetch = music.fetch(shape, rows: 3)
        var sql = TraceEvent.Statement()
        sql.statement = music.trace.define(.statement(StatementEntry(sql: text)))
        if !plan.isEmpty {
            sql.plan = music.trace.define(
                .plan(PlanEntry(rows: plan.enumerated().map { .init(id: $0, parent: 0, detail: $1) })))
        }
        music.trace.event(.sql(sql), duration: 1000, parent: fetch, advancing: false)
        return Analysis(Profile(music.trace.closed()))
    }

    private let scan = ["SCAN t0", "USE TEMP B-TREE FOR ORDER BY"]
    private let search = ["SEARCH t0 USING INDEX ZTRACK_ZALBUM_INDEX (ZALBUM=?)"]

    @Test func `are shown with the plans before and after`() {
        let text = DiffText(ProfileDiff(before: analysis(scan), after: analysis(search))).render()
        #expect(
            text.contains(
                """
                SQLite's plans
                  fetch Track where album == ?  List.swift:42
                      was: SCAN t0; USE TEMP B-TREE FOR ORDER BY
                      is: SEARCH t0 USING INDEX ZTRACK_ZALBUM_INDEX (ZALBUM=?)
                """))
    }

    @Test func `are never shown with the sentence that nothing changed`() {
        let text = { (before: Analysis, after: Analysis) in
            DiffText(ProfileDiff(before: before, after: after)).render()
        }
        #expect(text(analysis(scan), analysis(scan)).contains("Nothing changed: "))
        #expect(!text(analysis(scan), analysis(search)).contains("Nothing changed"))
        #expect(text(analysis(scan), analysis(search)).contains("All operations are the same."))
    }

    @Test func `are in the JSON, with a line for each step`() throws {
        let json = ProfileDiff(before: analysis(scan), after: analysis(search)).jsonText
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        let plans = try #require(object["plans"] as? [[String: Any]])
        #expect(plans.map { $0["before"] as? [String] } == [["SCAN t0\nUSE TEMP B-TREE FOR ORDER BY"]])
        #expect(plans.map { $0["after"] as? [String] } == [search])
        #expect(plans.map { $0["statement"] as? String } == ["SELECT … WHERE t0.ZALBUM = ?"])
    }

    @Test func `do not include plans that are equal, unknown or of another statement`() {
        func diff(_ before: Analysis, _ after: Analysis) -> ProfileDiff { ProfileDiff(before: before, after: after) }
        #expect(diff(analysis(scan), analysis(scan)).plans.isEmpty)
        #expect(diff(analysis([]), analysis(scan)).plans.isEmpty)
        #expect(diff(analysis(scan), analysis([])).plans.isEmpty)
        #expect(diff(analysis(scan, text: "SELECT 1"), analysis(search)).plans.isEmpty)
        #expect(!DiffText(diff(analysis(scan), analysis(scan))).render().contains("plans"))
    }
}
