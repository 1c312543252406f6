import Testing
import TraceFixtures

@testable import FaultlineProfile
@testable import FaultlineReport
@testable import FaultlineRules
@testable import FaultlineTrace

@Suite("Samples in a comparison")
struct SampleDiffTests {
    /// A run with samples of two functions, and allocations of one.
    private func run(_ parse: Int, _ draw: Int = 50, blocks: Int = 0) -> Analysis {
        var trace = TraceBuilder()
        trace.event(.fetch(TraceEvent.Fetch()), duration: 5000)
        if parse > 0 { trace.sample(["parse", "main"], times: parse) }
        if draw > 0 { trace.sample(["sqlite step", "draw", "main"], times: draw) }
        for _ in 0..<blocks { trace.allocate(1 << 20, at: ["load", "main"]) }
        return Analysis(Profile(trace.closed()))
    }

    private func text(_ before: Analysis, _ after: Analysis) -> String {
        DiffText(ProfileDiff(before: before, after: after)).render()
    }

    @Test func `are no change within their noise`() throws {
        for (before, after) in [(100, 100), (100, 115), (3, 9), (0, 5)] {
            let diff = ProfileDiff(before: run(before), after: run(after))
            let samples = try #require(diff.samples.first)
            #expect(samples.isUnchanged && samples.unit == .nanoseconds, "\(before) → \(after)")
            let text = DiffText(diff).render()
            #expect(text.contains("Nothing changed: 1 operation is the same"))
            #expect(text.contains("No change beyond the noise of \(before + 50) and \(after + 50) samples."))
        }
    }

    @Test func `show the functions that changed, and all of them first`() throws {
        let diff = ProfileDiff(before: run(20), after: run(84))
        let samples = try #require(diff.samples.first)
        #expect(samples.all?.isChange == true && samples.functions.map { $0.function?.function } == ["parse"])
        let text = DiffText(diff).render()
        #expect(!text.contains("Nothing changed"))
        let lines = text.split(separator: "\n").map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        #expect(lines.contains("CPU time, sampled 700 ms 1.34 s × 1.91"), "\(text)")
        #expect(lines.contains("parse 200 ms 840 ms × 4.20 parse.c"), "\(text)")
        #expect(!lines.contains { $0.hasPrefix("draw ") })
    }

    @Test func `of allocations are compared by their bytes`() throws {
        let diff = ProfileDiff(before: run(0, 0, blocks: 20), after: run(0, 0, blocks: 90))
        let samples = try #require(diff.samples.first)
        #expect(diff.samples.count == 1 && samples.unit == .bytes)
        #expect(samples.functions.map { $0.function?.function } == ["load"])
        #expect(DiffText(diff).render().contains("bytes allocated, sampled"))
    }

    @Test func `are said not to be compared if only one side has them`() {
        let (with, without) = (run(20), run(0, 0))
        #expect(
            text(with, without).contains(
                "Only one of the two was recorded with --cpu, so this is not compared."))
        #expect(!text(without, without).contains("CPU time"))
    }

    @Test func `are compared for each recording of a sum`() throws {
        var three = run(20).profile
        for _ in 0..<2 { try three.merge(run(20).profile) }
        let diff = ProfileDiff(before: run(20), after: Analysis(three))
        #expect(diff.samples.filter { !$0.isUnchanged }.isEmpty)
    }
}
