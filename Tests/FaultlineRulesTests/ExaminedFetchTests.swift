import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R06: fetches whose statements were examined on a copy of the store")
struct ExaminedFetchTests {
    private static let sql = "SELECT 0, t0.Z_PK FROM ZTRACK t0 WHERE t0.ZMILLISECONDS = ?"

    /// The findings about forty fetches that step over a number of rows.
    private func findings(
        _ examination: StatementExamination?, steps: UInt32 = 3502, plan: String = "SCAN t0"
    ) -> [Finding] {
        var music = Music()
        let shape = music.shape("milliseconds == ?", [.init(keyPath: "milliseconds", operation: "==")])
        let site = music.trace.site(42, "tracks()")
        let plan = music.trace.define(.plan(PlanEntry(rows: [.init(id: 1, parent: 0, detail: plan)])))
        let text = music.trace.define(.statement(StatementEntry(sql: Self.sql, file: "/srv/music.sqlite")))
        for _ in 0..<40 {
            let fetch = music.fetch(shape, rows: 12, site: site, duration: 4_000_000)
            var statement = TraceEvent.Statement()
            (statement.rows, statement.fullScanSteps, statement.plan, statement.statement) = (12, steps, plan, text)
            (statement.type, statement.virtualMachineSteps) = (.read, 40_000)
            music.trace.event(.sql(statement), duration: 3_000_000, parent: fetch, advancing: false)
        }
        var examinations = IndexExaminations()
        examinations[Self.sql] = examination
        let profile = Profile(music.trace.closed())
        #expect(profile.mainDatabase == "/srv/music.sqlite")
        #expect(profile.statementsToExamine.map(\.sql) == [Self.sql])
        return Analysis(profile, rules: [MissingIndexRule(knowing: examinations)]).findings
    }

    private static let seek = "SEARCH t0 USING INDEX Z_Track_byAlbum (ZALBUM=?)"

    private func tuning(
        _ columns: [String] = ["ZMILLISECONDS"], plan: String = "SCAN t0", afterTime: Double = 15_000
    ) -> StatementTuning {
        StatementTuning(
            indexes: [.init(table: "ZTRACK", columns: columns, code: "")], analyzes: false, runs: 2,
            before: .init(steps: 80_000, time: 6_000_000, plan: [plan]),
            after: .init(steps: 200, time: afterTime, plan: ["SEARCH t0 USING INDEX a (ZMILLISECONDS=?)"]),
            hasRecordedValues: false)
    }

    @Test func `An index that the copy confirms is certain, with the steps before and after it`() throws {
        let finding = try #require(findings(.change(tuning())).first)
        #expect(finding.title.text == "Index Track by milliseconds" && finding.severity == .warning)
        #expect(finding.confidence == .high)
        #expect(
            finding.explanation.last?.text
                == "On a copy of the store, 2 runs took 80,000 steps of SQLite's virtual machine (SCAN t0), and with the index "
                + "200 (SEARCH t0 USING INDEX a (ZMILLISECONDS=?)).")
        #expect(try #require(findings(nil).first).confidence.level == .medium)
    }

    @Test func `An index that saves nothing on the copy is a note`() throws {
        let finding = try #require(findings(.nothing(hasRecordedValues: false)).first)
        #expect(finding.severity == .note)
        #expect(
            finding.reservations.map(\.text).contains(
                "On a copy of the store, SQLite takes about as many steps with any index."))
        // It was not examined, so that nothing is known.
        #expect(try #require(findings(.notExamined("…")).first).severity == .warning)
    }

    @Test func `An index that only the copy shows to be missing is in terms of the model`() throws {
        let seek = Self.seek
        #expect(findings(nil, steps: 0, plan: seek).isEmpty)
        let found = findings(.change(tuning(plan: seek)), steps: 0, plan: seek)
        let finding = try #require(found.first)
        #expect(found.count == 1 && finding.rule == "R06")
        #expect(finding.title.text == "Index Track by milliseconds")
        #expect(finding.code == [#"FetchIndexDescription("byMilliseconds", on: "milliseconds")"#])
        #expect(finding.change?.line == 42)
        // 40 fetches took 120 ms in SQLite, of which the copy saved nearly all.
        #expect(finding.saving.time.median == 120_000_000 * (1 - 15_000.0 / 6_000_000))
        #expect(finding.remedy.map { if case .index = $0 { true } else { false } } == true)
        let little = try #require(
            findings(.change(tuning(plan: seek, afterTime: 4_000_000)), steps: 0, plan: seek).first)
        #expect(little.severity == .note)
        // A model's index has neither collations nor expressions.
        #expect(findings(.change(tuning(["lower(ZTITLE)"], plan: seek)), steps: 0, plan: seek).isEmpty)
        // The fetch compares nothing with the album, and of a scan the trace shows what it costs.
        #expect(findings(.change(tuning(["ZALBUM"], plan: seek)), steps: 0, plan: seek).isEmpty)
        #expect(findings(.change(tuning()), steps: 0, plan: seek).isEmpty)
    }
}
