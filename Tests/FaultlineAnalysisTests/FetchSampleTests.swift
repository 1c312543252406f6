import FaultlineTrace
import Testing

@testable import FaultlineAnalysis

@Suite("A few fetches of a line")
struct FetchSampleTests {
    private func execution(_ number: UInt64) -> FetchSample.Execution {
        FetchSample.Execution(rows: number, limit: 0, offset: 0, batchSize: 0)
    }

    @Test func `Those with the smallest hashes stay, in whatever order and parts they come`() {
        let numbers = (1...50).map { UInt64($0) }
        for _ in 0..<20 {
            let shuffled = numbers.shuffled()
            var (one, other) = (FetchSample(), FetchSample())
            for number in shuffled.prefix(30) { one.insert(execution(number), hash: number) }
            for number in shuffled.dropFirst(20) { other.insert(execution(number), hash: number) }
            one.merge(other)
            #expect(one.executions.map(\.rows) == Array(1...8))
        }
    }

    @Test func `Of two with one hash the same one stays`() {
        for pair in [[3, 4], [4, 3]] as [[UInt64]] {
            var sample = FetchSample()
            for rows in pair { sample.insert(execution(rows), hash: 1) }
            #expect(sample.executions.map(\.rows) == [4])
        }
    }

    @Test func `What was done with rows is added to those that are kept, and not more than a little`() {
        var sample = FetchSample()
        for number in 1...9 as ClosedRange<UInt64> { sample.insert(execution(number), hash: number) }
        sample.add([TraceEvent.Use.Run(first: 0, rows: 5)], to: 8)
        sample.add([TraceEvent.Use.Run(first: 0, rows: 5)], to: 9)
        sample.add((0..<40).map { TraceEvent.Use.Run(first: $0, rows: 1) }, to: 1)
        #expect(sample.executions.map(\.runs.count) == [16, 0, 0, 0, 0, 0, 0, 1])
        #expect(sample.executions[7].runs == [TraceEvent.Use.Run(first: 0, rows: 5)])
    }

    @Test func `Traces whose events have the same numbers are told apart`() {
        var (one, other) = (FetchSample(), FetchSample())
        one.insert(execution(1), hash: 7)
        other.insert(execution(2), hash: 7)
        one.mix(11)
        other.mix(12)
        one.merge(other)
        #expect(Set(one.executions.map(\.rows)) == [1, 2])
    }
}
