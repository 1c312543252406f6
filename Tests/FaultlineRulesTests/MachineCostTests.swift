import FaultlineTrace
import Foundation
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("Costs measured on the machine")
struct MachineCostTests {
    /// Three fetches of 200 tracks whose titles are read, but not their lyrics of 2,000 bytes.
    private func lyrics(_ steps: [CalibrationEntry.Step: Double], title: UInt64 = 20) -> Music {
        var music = Music()
        music.row = 4000
        let shape = music.shape("", [])
        music.fetchAndUse(shape, rows: 200, times: 3) { use in
            use.touchFirst(200)
            use.read(.title, rows: 200, bytes: 200 * title)
            use.read(.lyrics, rows: 0, bytes: 400_000)
        }
        _ = music.trace.define(.calibration(CalibrationEntry(trips: [], steps: steps)))
        return music
    }

    private func profile(_ steps: [CalibrationEntry.Step: Double]) -> Profile { Profile(lyrics(steps).trace.closed()) }

    @Test func `Long values cost their share of the loading time`() throws {
        let music = lyrics([.loadedRow: 200, .loadedByte: 0.5, .page: 500])
        let analysis = Analysis(Profile(music.trace.closed()), rules: [OverFetchRule()])
        let finding = try #require(analysis.findings.first)
        // 600 rows at 200 ns, and 1.2 MB at 0.7 × 0.5 ns; the trips do not count.
        let time = 3 * (Double(music.trip) + 200 * 4000) - 3 * CostModel.emptyTrip
        let part = { (title: Double) in
            time * 1_200_000 * 0.35 / (1_200_000 * 0.35 + 600 * 200 + 600 * title * 0.35)
        }
        #expect(abs(finding.saving.time.median - part(20)) < 1)
        #expect(finding.saving.time.low < finding.saving.time.median)
        #expect(finding.saving.time.high > finding.saving.time.median && finding.saving.time.high < time)
        // Long values that are read keep their share.
        let read = lyrics([.loadedRow: 200, .loadedByte: 0.5, .page: 500], title: 2000)
        let other = Analysis(Profile(read.trace.closed()), rules: [OverFetchRule()]).findings.first
        #expect(abs((other?.saving.time.median ?? 0) - part(2000)) < 1)
        #expect(finding.confidence.level == .medium && finding.reservations.isEmpty)
    }

    @Test func `An unmeasured step has its assumed cost`() {
        let costs = MachineCosts(profile([.passedRow: 20]).steps)
        let assumed = StepCost(usual: 60, least: 20, most: 150)
        #expect(costs.cost(.comparison, assumed: assumed) == assumed)
        let measured = costs.cost(.passedRow, assumed: assumed)
        #expect(measured.usual >= 20 && measured.usual < 30 && measured.least < 20 && measured.most > measured.usual)
        #expect(costs.returnedRow(bytes: 100) == nil && costs.byte == nil && costs.loadedRow == nil)
    }

    @Test func `Costs of several machines are averaged in any order, and kept in a profile's file`() throws {
        let (fast, slow) = (profile([.passedRow: 20, .identity: 40]), profile([.passedRow: 60]))
        var (one, other) = (fast, slow)
        try one.merge(slow)
        try other.merge(fast)
        for sum in [one, other, try Profile(fileData: try one.fileData())] {
            #expect(sum.steps["passedRow"]?.mean == 40)
            #expect(sum.steps["identity"]?.mean == 40)
        }
    }

    @Test(arguments: [-1, .nan, .infinity, 1e7])
    func `Impossible times of a step are ignored`(_ damage: Double) {
        #expect(profile([.passedRow: damage, .identity: 40]).steps.keys.sorted() == ["identity"])
    }

    @Test func `Unknown steps of a later recorder are ignored`() throws {
        let json = #"{"trips": [], "steps": {"passedRow": 20, "teleported": 1}}"#
        let entry = try JSONDecoder().decode(CalibrationEntry.self, from: Data(json.utf8))
        var trace = Music().trace
        _ = trace.define(.calibration(entry))
        #expect(Profile(trace.closed()).steps.keys.sorted() == ["passedRow"])
    }

    @Test func `The time of a scan lies between the estimates from a ratio and from the cost of returned rows`() throws
    {
        var music = Music()
        let shape = music.shape("milliseconds == ?", [ShapeEntry.Term(keyPath: "milliseconds", operation: "==")])
        for _ in 0..<4 {
            let fetch = music.fetch(shape, rows: 100, duration: 200_000) { $0.step = 190_000 }
            music.statement(of: fetch, fullScanSteps: 999, rows: 100)
            music.add(Music.use(of: fetch, rows: 100), shape: shape)
        }
        let profile = Profile(music.trace.closed())
        let fetch = try #require(profile.fetches.first)
        let ratio = fetch.scanTime(MachineCosts([:]))
        #expect(ratio.usual == fetch.counts.scanTime && ratio.least == ratio.most)
        let machine = MachineCosts([
            "loadedRow": try #require(StepSum(1000)), "loadedByte": try #require(StepSum(0.001)),
        ])
        let measured = fetch.scanTime(machine)
        // 4 × 100 rows at 1 µs each; their bytes cost next to nothing.
        let bytes = Double(fetch.total(\.bytes)) / Double(max(1, fetch.total(\.loadedRows)))
        let rest = fetch.counts.runTime - 400 * (try #require(machine.returnedRow(bytes: bytes)))
        #expect(measured.least == min(rest, ratio.usual) && measured.most == max(rest, ratio.usual))
        #expect(measured.usual > measured.least && measured.usual < measured.most)
    }

    @Test func `The cost of bytes is unknown if SQLite scans other rows as well`() throws {
        let machine = MachineCosts(profile([.loadedRow: 200, .loadedByte: 0.5]).steps)
        func time(scanned: UInt32) throws -> Saving.Range? {
            var music = Music()
            let shape = music.shape()
            let fetch = music.fetch(shape, rows: 100)
            var statement = TraceEvent.Statement()
            (statement.rows, statement.fullScanSteps) = (100, scanned)
            music.trace.event(.sql(statement), duration: 1000, parent: fetch, advancing: false)
            let profile = try #require(Profile(music.trace.closed()).fetches.first)
            return profile.time(ofBytes: 50_000, of: 60_000, rows: 100, (0.35, 3, .high), machine)
        }
        #expect(try time(scanned: 99) != nil)
        #expect(try time(scanned: 5000) == nil)
    }

    @Test func `A count request has no cost for returned rows`() throws {
        var music = Music()
        let shape = music.shape(
            "milliseconds == ?", [ShapeEntry.Term(keyPath: "milliseconds", operation: "==")], resultType: "count")
        let fetch = music.fetch(shape, rows: 1500, duration: 400_000) {
            ($0.resultType, $0.step) = (.count, 350_000)
        }
        music.statement(of: fetch, fullScanSteps: 9999, rows: 1)
        let profile = try #require(Profile(music.trace.closed()).fetches.first)
        let measured = profile.scanTime(MachineCosts(self.profile([.loadedRow: 400, .loadedByte: 0.5]).steps))
        #expect(measured == profile.scanTime(MachineCosts([:])))
    }
}
