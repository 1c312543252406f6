import FaultlineTrace
import Testing

@testable import FaultlineProfile

@Suite("Samples of fetches")
struct FetchSampleTests {
    private func execution(_ number: UInt64) -> FetchSample.Execution {
        FetchSample.Execution(rows: number, limit: 0, offset: 0, batchSize: 0)
    }

    @Test func `The same fetches are kept, whatever their order and grouping`() throws {
        let fetches = (1...50).map { (execution($0), hash: StableHash.mix($0)) }
        var whole = FetchSample()
        for (execution, hash) in fetches { whole.insert(execution, hash: hash) }
        #expect(whole.executions.count == 8)
        for _ in 0..<20 {
            let shuffled = fetches.shuffled()
            var (one, other) = (FetchSample(), FetchSample())
            for (execution, hash) in shuffled.prefix(30) { one.insert(execution, hash: hash) }
            for (execution, hash) in shuffled.dropFirst(20) { other.insert(execution, hash: hash) }
            one.merge(other)
            #expect(one == whole)
        }
    }

    @Test func `Samples of several traces merge in any order`() {
        let traces = (1...4 as ClosedRange<UInt64>).map { trace in
            var sample = FetchSample()
            for number in 1...20 * trace { sample.insert(execution(number), hash: StableHash.mix(number)) }
            sample.mix(trace)
            return sample
        }
        func sum(_ samples: [FetchSample]) -> FetchSample {
            samples.reduce(into: FetchSample()) { $0.merge($1) }
        }
        var pairs = sum([traces[2], traces[0]])
        pairs.merge(sum([traces[3], traces[1]]))
        #expect(pairs == sum(traces) && pairs == sum(traces.reversed()))
    }

    @Test func `Each of few fetches stands for itself, and the longest of many is always kept`() {
        var sample = FetchSample()
        for number in 1...8 as ClosedRange<UInt64> { sample.insert(execution(number), hash: StableHash.mix(number)) }
        #expect(sample.fetches.map(\.times) == Array(repeating: 1, count: 8))
        sample.insert(execution(1_000_000), hash: .max)
        for number in 9...1000 as ClosedRange<UInt64> { sample.insert(execution(1), hash: StableHash.mix(number)) }
        let longest = sample.fetches.filter { $0.execution.rows == 1_000_000 }
        #expect(longest.map(\.times) == [1])
    }

    /// The rows of fetches: two long ones among many short ones, slightly more than are kept, and many more.
    private static let sizes: [[UInt64]] = [
        [5000, 5000] + (2..<400).map { UInt64($0 % 40) }, Array(repeating: 0, count: 9),
        Array(repeating: 0, count: 12), (0..<77).map { UInt64($0 % 20) },
    ]

    @Test(arguments: sizes.indices, [1, 2])
    func `Sums over the sample are unbiased, for one trace and for several`(_ place: Int, _ traces: Int) {
        let rows = Self.sizes[place]
        var (sums, counts) = (0.0, 0.0)
        let rounds = 1000
        for round in 0..<UInt64(rounds) {
            var whole = FetchSample()
            for part in 0..<traces {
                var sample = FetchSample()
                for (number, rows) in rows.enumerated() where number % traces == part {
                    sample.insert(execution(rows), hash: StableHash.mix(round << 20 | UInt64(number)))
                }
                sample.mix(StableHash.mix(round << 1 | UInt64(part)))
                whole.merge(sample)
            }
            sums += whole.fetches.reduce(0) { $0 + $1.times * Double($1.execution.rows) }
            counts += whole.fetches.reduce(0) { $0 + $1.times }
        }
        let (sum, count) = (Double(rows.reduce(0, +)), Double(rows.count))
        #expect(abs(sums / Double(rounds) - sum) <= 0.02 * sum)
        #expect(abs(counts / Double(rounds) - count) <= 0.02 * count)
    }

    @Test func `A sample is restored from its stored form`() throws {
        var sample = FetchSample()
        for number in 1...30 as ClosedRange<UInt64> { sample.insert(execution(number), hash: StableHash.mix(number)) }
        var words = ProfileWords()
        var read = FetchSample()
        try read.restore(sample.stored(&words), words)
        #expect(read == sample)
    }

    @Test func `A sample in the first file format is read as empty, and a malformed one is an error`() throws {
        var sample = FetchSample()
        let entry: [StoredValue] = [.text("ff"), .text("[]")] + [30, 20, 10, 5, 0, 3].map { .number($0) }
        try sample.restore(.list([.list(entry)]), ProfileWords())
        #expect(sample == FetchSample())
        #expect {
            try sample.restore(.record(["kept": .list([.list([])])]), ProfileWords())
        } throws: {
            ($0 as? StoredProblem)?.sentence
                == "\"kept.0\" is not a hash in hexadecimal digits, a text or null, five numbers and pairs of numbers"
        }
    }

    @Test func `Samples with equal hashes and different weights merge to the same result in either order`() {
        // A sample whose fetches stand for others, and one whose fetches stand for themselves.
        var (settled, alone) = (FetchSample(), FetchSample())
        for number in 1...30 as ClosedRange<UInt64> { settled.insert(execution(5), hash: StableHash.mix(number)) }
        for number in 1...30 as ClosedRange<UInt64> { alone.insert(execution(5), hash: StableHash.mix(number)) }
        settled.mix(1)
        var (one, other) = (settled, alone)
        one.merge(alone)
        other.merge(settled)
        #expect(one == other)
    }

    @Test func `Of two fetches with one hash, the same one is kept in either order`() {
        for pair in [[3, 4], [4, 3]] as [[UInt64]] {
            var sample = FetchSample()
            for rows in pair { sample.insert(execution(rows), hash: 1) }
            #expect(sample.executions.map(\.rows) == [4])
            #expect(sample.fetches.map(\.times) == [1])
        }
    }

    @Test func `The use of rows is added to the fetches that are kept, with at most 16 runs each`() {
        var sample = FetchSample()
        for number in 1...9 as ClosedRange<UInt64> { sample.insert(execution(0), hash: number << 20) }
        sample.add([TraceEvent.Use.Run(first: 0, rows: 5)], to: 8 << 20)
        sample.add([TraceEvent.Use.Run(first: 0, rows: 5)], to: 9 << 20)
        sample.add((0..<40).map { TraceEvent.Use.Run(first: $0, rows: 1) }, to: 1 << 20)
        #expect(sample.executions.map(\.runs.count) == [16, 0, 0, 0, 0, 0, 0, 1])
        #expect(sample.executions[7].runs == [TraceEvent.Use.Run(first: 0, rows: 5)])
    }

    @Test func `Fetches of different traces are kept apart although their events have the same IDs`() {
        var (one, other) = (FetchSample(), FetchSample())
        one.insert(execution(1), hash: 7)
        other.insert(execution(2), hash: 7)
        one.mix(11)
        other.mix(12)
        one.merge(other)
        #expect(Set(one.executions.map(\.rows)) == [1, 2])
    }
}
