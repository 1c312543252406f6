import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("Noise in the times of two runs")
struct TimeNoiseTests {
    /// The mean times of eight operations, in nanoseconds.
    private static let eight = [10, 20, 30, 40, 50, 60, 70, 80].map { $0 * 10_000.0 }

    /// A run in which the operations take turns 40 times, or in which each runs 40 times before the next one.
    private func run(
        _ times: [Double], takingTurns: Bool = true, delays: UInt64 = 0, speed: (Int) -> Double = { _ in 1 }
    ) -> Profile {
        var trace = TraceBuilder()
        let entity = trace.entity("Item")
        let sites = times.indices.map { trace.site($0 + 1) }
        func add(_ index: Int, _ round: Int) {
            var fetch = TraceEvent.Fetch()
            (fetch.entity, fetch.rows, fetch.trips) = (entity, 10, 1)
            // Times vary by a few percent, and one event in ten is interrupted.
            let singleRunError = 1 + Double((round * 7 + index * 3) % 11) / 200
            let delay: UInt64 = round % 10 == 9 ? 3_000_000 : round % 2 == 0 ? delays : 0
            let time = UInt64(times[index] * singleRunError * speed(round)) + delay
            trace.event(.fetch(fetch), duration: time, site: sites[index], runDelay: round % 10 == 9 ? 0 : delay)
        }
        if takingTurns {
            for round in 0..<40 { for index in times.indices { add(index, round) } }
        } else {
            for index in times.indices { for round in 0..<40 { add(index, round) } }
        }
        return Profile(trace.closed())
    }

    private func diff(_ before: Profile, _ after: Profile) -> ProfileDiff {
        ProfileDiff(before: Analysis(before), after: Analysis(after))
    }

    /// The lines whose times changed, with the direction of the change.
    private func changes(_ before: Profile, _ after: Profile) -> [String] {
        diff(before, after).operations.compactMap { operation in
            guard let time = operation.time, time.direction != .same else { return nil }
            return "\(operation.group?.key.site?.line ?? 0) \(time.direction)"
        }.sorted()
    }

    private func scaled(_ line: Int, by factor: Double, all: Double = 1) -> [Double] {
        Self.eight.indices.map { Self.eight[$0] * all * ($0 + 1 == line ? factor : 1) }
    }

    @Test func `A 30 % change stands out among operations that take turns, and a 10 % change does not`() {
        let before = run(Self.eight)
        #expect(changes(before, run(scaled(5, by: 1.3))) == ["5 slower"])
        #expect(changes(run(scaled(5, by: 1.3)), before) == ["5 faster"])
        #expect(changes(before, run(scaled(5, by: 1.1))) == [])
    }

    @Test func `A run that is slower throughout has one pace, and only outliers are changes`() {
        let before = run(Self.eight)
        let slow = diff(before, run(scaled(5, by: 1, all: 1.6)))
        #expect(slow.operations.allSatisfy { $0.verdict == .same })
        #expect(slow.pace > 1.55 && slow.pace < 1.65)
        #expect(changes(before, run(scaled(5, by: 1.4, all: 1.6))) == ["5 slower"])
        #expect(changes(before, run(scaled(5, by: 1.4, all: 0.5))) == ["5 slower"])
    }

    @Test func `A temporary slowdown of the machine does not count as a change of operations`() {
        let before = run(Self.eight)
        let after = run(Self.eight) { $0 < 17 ? 1 : 1.8 }
        #expect(changes(before, after) == [] && changes(after, before) == [])
    }

    @Test func `An operation that ran at a different time from the others must change by a larger factor`() {
        let before = run(Self.eight, takingTurns: false)
        #expect(changes(before, run(scaled(5, by: 1.6), takingTurns: false)) == [])
        #expect(changes(before, run(scaled(5, by: 2.2), takingTurns: false)) == ["5 slower"])
    }

    /// The sum of nine runs whose operations run one after the other.
    private func sum(_ times: [Double]) -> Profile {
        Profile(sum: (0..<9).map { _ in run(times, takingTurns: false) })
    }

    @Test func `In a sum of several runs, a smaller change is detected`() {
        #expect(changes(sum(Self.eight), sum(scaled(5, by: 1.5))) == ["5 slower"])
    }

    @Test func `A diff has the smallest detectable change of each operation`() {
        func ratios(_ before: Profile, _ after: Profile) -> [Double] {
            diff(before, after).operations.compactMap { $0.time?.minimumRatio }
        }
        let (alone, turns) = (run(Self.eight, takingTurns: false), run(Self.eight))
        #expect(ratios(alone, alone).count == 8 && ratios(alone, alone).allSatisfy { $0 >= 1.8 })
        let sums = ratios(sum(Self.eight), sum(Self.eight))
        #expect(sums.count == 8 && sums.allSatisfy { $0 < 1.5 })
        #expect(ratios(turns, turns).count == 8 && ratios(turns, turns).allSatisfy { $0 >= 1.15 && $0 < 1.3 })
        // No change of an operation that takes a thousandth of the store's time is worth reporting.
        let short = run(Self.eight + [100])
        #expect(ratios(short, short).count == 8)
    }

    @Test func `Large differences in all operations count as noise`() {
        let factors = [0.8, 1.25, 0.9, 1.2, 1.35, 0.75, 1.1, 0.95]
        let after = run(zip(Self.eight, factors).map { $0 * $1 })
        #expect(changes(run(Self.eight), after) == [])
    }

    @Test func `Waits for a CPU do not count as time`() throws {
        let (before, after) = (run(Self.eight), run(Self.eight, delays: 4_000_000))
        #expect(changes(before, after) == [])
        #expect(diff(before, after).pace == 1)
        // A merged profile keeps the durations with and without these waits.
        var sum = run(Self.eight)
        try sum.merge(after)
        let group = sum.groups.first { $0.key.site?.line == 1 }
        #expect(group?.ownDurations.percentile(80) ?? 0 < 200_000)
        #expect(group?.durations.percentile(80) ?? 0 > 3_000_000 || group?.durations.percentile(70) ?? 0 > 3_000_000)
    }

    @Test func `With few operations, the change that they share is the pace`() {
        let two = Array(Self.eight.prefix(2))
        let diff = diff(run(two), run(two.map { $0 * 1.5 }))
        #expect(diff.operations.allSatisfy { $0.verdict == .same })
        #expect(diff.pace > 1.45 && diff.pace < 1.55)
        #expect(self.diff(run(two), run([two[0] * 1.5, two[1] / 1.5])).pace == 1)
    }
}
