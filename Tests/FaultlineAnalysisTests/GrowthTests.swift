import FaultlineAnalysis
import FaultlineTrace
import Testing
import TraceFixtures

@Suite("Growth")
struct GrowthTests {
    private func growth(
        _ terms: [ShapeEntry.Term] = [], sort: [String] = [], isLimited: Bool = false, rows: UInt32, steps: UInt32,
        sorts: UInt32 = 0, duration: UInt64 = 1_010_000, prepare: UInt64 = 0, hasStatement: Bool = true
    ) throws -> Growth? {
        var music = Music()
        music.calibrate(music.shape())
        let shape = music.shape(terms.isEmpty ? "" : "…", terms, sort: sort, isLimited: isLimited)
        let fetch = music.fetch(shape, rows: rows, duration: duration) { $0.prepare = prepare }
        if hasStatement {
            var sql = TraceEvent.Statement()
            (sql.rows, sql.fullScanSteps, sql.sorts) = (rows, steps, sorts)
            music.trace.event(.sql(sql), duration: 1000, parent: fetch, advancing: false)
        }
        let profile = Profile(music.trace.closed())
        let found = try #require(profile.fetches.first { $0.key.site?.line == 42 })
        return Growth(found, costs: CostModel(profile))
    }

    private static let length = ShapeEntry.Term(keyPath: "milliseconds", operation: "==")

    @Test func `A table that is gone through takes as many times as long, but for the trip`() throws {
        let growth = try #require(try growth([Self.length], rows: 3, steps: 999))
        #expect(growth.order == .linear && growth.rows == 1000)
        // A trip takes 10 µs.
        #expect(abs(growth.time(with: 10) - 10_010_000) < 1 && abs(growth.time(with: 100) - 100_010_000) < 1)
        #expect(growth.time(with: 1) == growth.now)
        // Nor does preparing grow.
        let first = try #require(try self.growth([Self.length], rows: 3, steps: 999, prepare: 500_000))
        #expect(abs(first.time(with: 10) - 5_510_000) < 1)
    }

    @Test func `All rows of a table are as many more`() throws {
        #expect(try growth(rows: 500, steps: 499)?.order == .linear)
        #expect(try growth(rows: 500, steps: 0)?.order == .linear)
        #expect(try growth(rows: 500, steps: 0)?.rows == 500)
    }

    @Test func `Rows that are sorted grow faster than their number`() throws {
        let growth = try #require(try growth(sort: ["title ascending"], rows: 1024, steps: 1023, sorts: 1))
        #expect(growth.order == .linearithmic)
        // From 2^10 rows to some 2^13 and 2^17.
        #expect(growth.time(with: 10) > 13_000_000 && growth.time(with: 10) < 13_500_000)
        #expect(growth.time(with: 100) > 160_000_000 && growth.time(with: 100) < 170_000_000)
    }

    @Test func `An index and a limit keep the time as it is`() throws {
        let found = try #require(try growth([Self.length], rows: 3, steps: 0))
        #expect(found.order == .logarithmic && found.time(with: 100) == found.now)
        #expect(try growth(isLimited: true, rows: 10, steps: 0)?.order == .logarithmic)
        #expect(try growth(rows: 3, steps: 0, hasStatement: false) == nil)
    }
}
