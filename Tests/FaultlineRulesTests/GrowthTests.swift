import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("Growth")
struct GrowthTests {
    /// The growth of fetches that took `duration` each, except for the first, which took 20 times as long.
    private func growth(
        _ terms: [ShapeEntry.Term] = [], sort: [String] = [], limit: UInt32 = 0, offset: UInt32 = 0, rows: UInt32,
        steps: UInt32, sorts: UInt32 = 0, plan: String? = "SCAN t0", times: Int = 12, duration: UInt64 = 1_010_000,
        resultType: TraceEvent.Fetch.ResultType = .objects
    ) throws -> Growth? {
        var music = Music()
        music.calibrate(music.shape())
        let shape = music.shape(
            terms.isEmpty ? "" : "…", terms, sort: sort, isLimited: limit > 0, resultType: "\(resultType)")
        let text = music.trace.define(.statement(StatementEntry(sql: "SELECT 1")))
        let plan = plan.map { plan in
            music.trace.define(.plan(PlanEntry(rows: [.init(id: 1, parent: 0, detail: plan)])))
        }
        for number in 0..<times {
            let fetch = music.fetch(shape, rows: rows, duration: number == 0 ? 20 * duration : duration) {
                ($0.limit, $0.offset, $0.resultType) = (limit, offset, resultType)
            }
            var sql = TraceEvent.Statement()
            (sql.statement, sql.plan) = (text, plan ?? 0)
            (sql.rows, sql.fullScanSteps, sql.sorts) = (rows, steps, sorts)
            music.trace.event(.sql(sql), duration: 1000, parent: fetch, advancing: false)
        }
        let profile = Profile(music.trace.closed())
        let found = try #require(profile.fetches.first { $0.key.site?.line == 42 })
        return Growth(found, costs: CostModel(profile))
    }

    private static let length = ShapeEntry.Term(keyPath: "milliseconds", operation: "==")

    @Test func `The time of a scan grows linearly, in a range, whatever the first one took`() throws {
        let growth = try #require(try growth([Self.length], rows: 3, steps: 999))
        #expect(growth.order == .linear && growth.rows == 1000)
        #expect(growth.now.median == 1_010_000)
        for factor in [10.0, 100] {
            let time = growth.time(with: factor)
            #expect(time.low < 1_000_000 * factor && time.high > 1_010_000 * factor)
            #expect(time.high < 6 * time.low)
        }
    }

    @Test func `The time for all rows of a table grows linearly, and slightly faster if they are sorted`() throws {
        #expect(try growth(rows: 500, steps: 499)?.order == .linear)
        #expect(try growth(rows: 500, steps: 0)?.rows == 500)
        let sorted = try #require(try growth(sort: ["title ascending"], rows: 1024, steps: 1023, sorts: 1))
        #expect(sorted.order == .linearithmic)
        let plain = try #require(try growth(rows: 1024, steps: 1023))
        #expect(sorted.time(with: 100).high > 1.5 * plain.time(with: 100).high)
    }

    @Test func `With an index and a limit, the time hardly grows, whether the index is searched or scanned`() throws {
        let plans = ["SEARCH t0 USING INDEX byMilliseconds (ZMILLISECONDS>?)", "SCAN t0 USING INDEX byMilliseconds"]
        let sought = try #require(
            try growth([Self.length], sort: ["milliseconds ascending"], limit: 20, rows: 20, steps: 0, plan: plans[0]))
        let walked = try #require(
            try growth(sort: ["milliseconds ascending"], limit: 20, rows: 20, steps: 19, plan: plans[1]))
        for growth in [sought, walked] {
            #expect(growth.order == .logarithmic)
            #expect(growth.time(with: 100) == growth.time(with: 10))
            #expect(growth.time(with: 100).high < 5 * growth.now.high)
        }
    }

    @Test func `Without evidence there is no projection`() throws {
        let search = "SEARCH t0 USING INDEX byMilliseconds (ZMILLISECONDS=?)"
        // One cold fetch, or a few.
        #expect(try growth([Self.length], rows: 3, steps: 999, times: 1) == nil)
        #expect(try growth([Self.length], rows: 3, steps: 999, times: 4) == nil)
        // No plan.
        #expect(try growth([Self.length], rows: 3, steps: 999, plan: nil) == nil)
        // The number of rows of a value in a larger table is unknown.
        #expect(try growth([Self.length], rows: 3, steps: 0, plan: search) == nil)
        #expect(try growth([Self.length], rows: 3, steps: 0, plan: search, resultType: .count) == nil)
        #expect(try growth([Self.length], rows: 1, steps: 0, plan: search)?.order == .logarithmic)
        // So is the row at which a scan with a limit and a predicate ends.
        #expect(try growth([Self.length], limit: 20, rows: 20, steps: 500) == nil)
        // A page's time depends on its offset.
        #expect(try growth(limit: 20, offset: 500, rows: 20, steps: 519) == nil)
        // The fixed cost of a trip hides the growing part.
        #expect(try growth([Self.length], rows: 1, steps: 9, duration: 12_000) == nil)
    }
}
