import Testing

@testable import FaultlineProfile
@testable import FaultlineReport

@Suite("The scale of durations")
struct DurationScaleTests {
    private func distribution(_ values: [UInt64]) -> Distribution {
        var durations = Distribution()
        for value in values { durations.record(value) }
        return durations
    }

    @Test func `spans all distributions from a power of ten to another`() throws {
        let scale = try #require(DurationScale([distribution([261, 500]), distribution([2_500_000])]))
        #expect(scale.words == "100 ns to 10 ms")
        #expect(DurationScale([distribution([1000])])?.words == "1 µs to 10 µs")
        #expect(DurationScale([distribution([0, 15_000_000_000])])?.words == "1 ns to 100 s")
        #expect(DurationScale([distribution([.max])])?.words == "10,000,000,000 s to 100,000,000,000 s")
        #expect(DurationScale([distribution([0]), Distribution()]) == nil)
    }

    @Test func `has a block for each step, the fullest of which is the highest`() throws {
        // 10 ns to 100 ms are seven decades, so a step is almost one.
        let values = [UInt64](repeating: 20, count: 80) + [UInt64](repeating: 3_000, count: 10) + [90_000_000]
        let scale = try #require(DurationScale([distribution(values)]))
        #expect(scale.histogram(distribution(values)) == "█ ▁    ▁")
        #expect(scale.histogram(distribution([3_000])) == "  █     ")
        #expect(scale.histogram(Distribution()) == "        ")
    }

    @Test func `counts each value once, also in histograms of many`() throws {
        var durations = Distribution()
        for value: UInt64 in 1...5000 { durations.record(value) }
        let counts = durations.counts(between: [1000, 3000])
        #expect(counts.reduce(0, +) == 5000 && durations.minimum == 1)
        for (count, exact) in zip(counts, [999, 2000, 2001]) { #expect(abs(Int(count) - exact) <= 30) }
        #expect(distribution([5, 10, 10, 20]).counts(between: [10, 20]) == [1, 2, 1])
    }
}
