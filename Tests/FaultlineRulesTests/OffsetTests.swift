import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R14: deep offsets")
struct OffsetTests {
    /// Findings for pages of 50 rows, where each skipped row takes `step` nanoseconds.
    private func findings(
        pages: UInt32, step: UInt64 = 50, sort: [String] = ["milliseconds ascending"], first: UInt32 = 0,
        slow: UInt32 = 0, _ predicate: String = ""
    ) -> [Finding] {
        var music = Music()
        music.calibrate(music.shape())
        let shape = music.shape(predicate, sort: sort, isLimited: true)
        music.scoped(.screen) { music in
            for page in first..<pages {
                let delay: UInt64 = page < slow ? 2_000_000 : 0
                _ = music.fetch(shape, rows: 50, duration: 60_000 + UInt64(page) * 50 * step + delay) {
                    ($0.limit, $0.offset) = (50, page * 50)
                }
            }
        }
        return Analysis(Profile(music.trace.closed()), rules: [UnboundedFetchRule()]).findings
    }

    @Test func `R14 advises continuing each page after the last row instead of a deep offset`() throws {
        let found = findings(pages: 200)
        #expect(
            found.map(\.title.text) == [
                "Continue each page of Track after the last row of the previous page, not by offset"
            ])
        let finding = try #require(found.first)
        #expect(finding.rule == "R14" && finding.severity == .warning && finding.change?.line == 42)
        #expect(
            finding.code == [
                #"request.predicate = PropertyPath("milliseconds") > last.milliseconds"#, "request.fetchOffset = 0",
            ])
        // 199 × 200 / 2 skipped pages of 50 rows, at 50 ns per row.
        #expect(finding.saving.time.low < 49_750_000 && finding.saving.time.high > 49_750_000)
        #expect(abs(finding.saving.time.median - 49_750_000) < 5_000_000)
        #expect(finding.evidence.first { $0.name == "largestOffset" }?.value == 9950)
    }

    @Test func `The advised predicate for two sort keys can use an index, and a fetch without any gets none`() throws {
        let finding = try #require(
            findings(pages: 200, sort: ["title descending", "milliseconds ascending"], "…").first)
        #expect(
            finding.code == [
                #"request.predicate = PropertyPath("title") <= last.title"#,
                #"    && (PropertyPath("title") < last.title || PropertyPath("milliseconds") > last.milliseconds) && predicate"#,
                "request.fetchOffset = 0",
            ])
        #expect(try #require(findings(pages: 200, sort: []).first).code.isEmpty)
    }

    @Test func `Without a page at a small offset, the cost of a skipped row is assumed`() throws {
        let finding = try #require(findings(pages: 300, first: 200).first)
        #expect(finding.confidence.level == .low)
        // 100 fetches skip 249.5 pages of 50 rows on average, at 20–150 ns per row.
        #expect(finding.saving.time.low < 62_375_000 && finding.saving.time.high > 62_375_000)
    }

    @Test func `Delayed first pages lower the confidence, but not the saving`() throws {
        let finding = try #require(findings(pages: 200, slow: 20).first)
        #expect(finding.severity == .warning && finding.confidence.level == .low)
        #expect(finding.saving.time.low < 49_750_000 && finding.saving.time.high > 49_750_000)
    }

    @Test func `Small offsets are not reported, and offsets that cost nothing are at most a note`() {
        #expect(findings(pages: 30).isEmpty)
        #expect(findings(pages: 200, step: 0).allSatisfy { $0.severity == .note })
    }
}
