import FaultlineTrace
import Testing

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("Distributions, samples and counts")
struct MeasureTests {
    private func values(_ count: Int, seed: UInt64) -> [UInt64] {
        var generator = SeededGenerator(seed: seed)
        // From nanoseconds to minutes, spread evenly over the powers of two.
        return (0..<count).map { _ in generator.next() >> (28 + generator.next() % 30) }
    }

    private func exact(_ values: [UInt64], _ percent: Double) -> UInt64 {
        let sorted = values.sorted()
        return sorted[max(1, Int((percent / 100 * Double(sorted.count)).rounded(.up))) - 1]
    }

    @Test(arguments: [1, 2, 100, 1024])
    func `Percentiles of up to 1,024 values are exact`(_ count: Int) {
        let values = values(count, seed: UInt64(count))
        var distribution = Distribution()
        for value in values { distribution.record(value) }
        for percent in [0.0, 1, 50, 90, 99, 100] { #expect(distribution.percentile(percent) == exact(values, percent)) }
        #expect(distribution.maximum == values.max())
        #expect(distribution.total == values.reduce(0, +))
    }

    @Test(arguments: [1025, 5000, 20_000], [1, 2, 3] as [UInt64])
    func `Percentiles of many values are within 1 %, however the parts are merged`(_ count: Int, _ seed: UInt64) {
        let values = values(count, seed: seed)
        var whole = Distribution()
        for value in values { whole.record(value) }
        var parts = [Distribution](repeating: Distribution(), count: 3)
        for (index, value) in values.enumerated() { parts[index * index % 3].record(value) }
        var merged = parts[2]
        merged.merge(parts[0])
        merged.merge(parts[1])
        for percent in [1.0, 25, 50, 75, 90, 99, 99.9, 100] {
            let expected = Double(exact(values, percent))
            #expect(abs(Double(whole.percentile(percent)) - expected) <= expected * 0.01)
            #expect(merged.percentile(percent) == whole.percentile(percent))
        }
        #expect(merged.count == UInt64(count))
        #expect(merged.maximum == values.max())
    }

    @Test func `An empty distribution has percentiles and a mean of zero`() {
        #expect(Distribution().percentile(50) == 0)
        #expect(Distribution().mean == 0)
    }

    @Test(arguments: [(256, 1, "256 values"), (970, 1, "about 970 values"), (970, 10, "970 values"), (1, 1, "1 value")])
    func `Numbers of distinct values beyond the exact range are marked as estimates`(
        count: UInt64, occasions: UInt64, words: String
    ) {
        #expect(DistinctCount.words(count, over: occasions, "value").text == words)
    }

    @Test func `Numbers of distinct objects are exact up to 256 and estimated beyond`() {
        for count in [0, 1, 5, 255] {
            var distinct = DistinctCount()
            for _ in 0..<3 { for object in 0..<count { distinct.insert(UInt64(object)) } }
            #expect(distinct.count == count)
        }
        var odd = DistinctCount()
        var even = DistinctCount()
        for object in 0..<20_000 as Range<UInt64> {
            if object % 2 == 0 { even.insert(object) } else { odd.insert(object) }
        }
        var union = odd
        union.formUnion(even)
        #expect(abs(union.count - 20_000) < 4000)
        even.formUnion(odd)
        #expect(union == even)
    }

    @Test func `A sample does not depend on the order, and keeps rare sizes`() {
        var forth = LoadSample()
        var back = LoadSample()
        let loads = (0..<5000 as Range<UInt64>).map { Load(rows: $0 == 17 ? 900 : 1, bytes: 0, duration: 100 + $0) }
        for (index, load) in loads.enumerated() { forth.insert(load, hash: StableHash.mix(UInt64(index))) }
        for (index, load) in loads.enumerated().reversed() { back.insert(load, hash: StableHash.mix(UInt64(index))) }
        #expect(forth.loads == back.loads)
        #expect(forth.loads.contains { $0.rows == 900 })
        #expect(forth.loads.count == LoadSample.perStratum + 1)
        #expect(forth.count == 5000)
    }

    @Test func `A bounded table evicts the least recently used value`() {
        var table = BoundedTable<Int, String>(capacity: 2)
        #expect(table.insert("one", for: 1) == nil)
        #expect(table.insert("two", for: 2) == nil)
        _ = table.update(1) { $0 += "!" }
        let evicted = table.insert("three", for: 3)
        #expect(evicted?.value == "two")
        #expect(table.peek(1) == "one!")
        #expect(table.remove(3) == "three")
        #expect(table.drain().map(\.key) == [1])
        #expect(table.count == 0)
    }

    @Test func `A bounded table stays bounded when values are removed repeatedly`() {
        var table = BoundedTable<Int, Int>(capacity: 4)
        for key in 0..<1000 {
            _ = table.insert(key, for: key % 7)
            if key % 2 == 0 { _ = table.remove(key % 7) }
            #expect(table.count <= 4)
        }
        let keys = table.drain().map(\.key)
        #expect(Set(keys).count == keys.count)
    }
}

@Suite("Costs and severities")
struct CostTests {
    private func loads(_ rows: [UInt64], trip: UInt64, row: UInt64) -> [Load] {
        rows.map { Load(rows: $0, bytes: 0, duration: trip + row * $0) }
    }

    @Test func `A line is fitted despite outliers`() throws {
        var loads = loads(Array(1...40), trip: 9000, row: 1500)
        for index in stride(from: 0, to: 40, by: 8) { loads[index].duration *= 50 }
        let line = try #require(LineFit.theilSen(loads))
        #expect(abs(line.row - 1500) < 75)
        #expect(abs(line.trip - 9000) < 900)
    }

    @Test func `No line is fitted to equal row counts`() {
        #expect(LineFit.theilSen(loads([5, 5, 5], trip: 1, row: 1)) == nil)
    }

    @Test func `Ranges are the same in every run and contain the median`() {
        let loads = loads((0..<30).map { $0 % 7 + 1 }, trip: 9000, row: 1500).enumerated().map { index, load in
            Load(rows: load.rows, bytes: 0, duration: load.duration + UInt64(index * 137 % 900))
        }
        #expect(LineFit.bootstrap(loads, rounds: 20, seed: 3) == LineFit.bootstrap(loads, rounds: 20, seed: 3))
        #expect(LineFit.bootstrap(loads, rounds: 20, seed: 3) != LineFit.bootstrap(loads, rounds: 20, seed: 4))
        let estimate = CostModel.Estimate(
            line: LineFit.theilSen(loads) ?? CostModel.assumed,
            alternatives: LineFit.bootstrap(loads, rounds: 50, seed: 1), basis: .shape, trips: 30)
        let range = estimate.range { $0.cost(trips: 3, rows: 100) }
        #expect(range.low <= range.median)
        #expect(range.median <= range.high)
    }

    @Test(arguments: [(0.5, 10.0), (5, 25), (1, 1.5)])
    func `A figure is a warning from one threshold, and an error from the next`(_ warning: Double, _ error: Double) {
        let severity = { Severity.of($0, warning: warning, error: error) }
        for figure in [-1, 0, warning.nextDown, .nan] { #expect(severity(figure) == .note) }
        for figure in [warning, error.nextDown] { #expect(severity(figure) == .warning) }
        for figure in [error, .infinity] { #expect(severity(figure) == .error) }
    }

    @Test func `A figure that meets a threshold above that for errors is a warning`() {
        #expect(Severity.of(10, warning: 10, error: 5) == .warning)
        #expect(Severity.of(20, warning: 10, error: 5) == .error)
        #expect(Severity.of(0, warning: 0, error: 5) == .note)
    }
}
