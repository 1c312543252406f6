import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("Differences between two profiles")
struct ProfileDiffTests {
    /// Fetches of one call site, one for each duration.
    private struct Line {
        var file = "List.swift"
        var line: Int
        var function = "show()"
        var predicate = ""
        var rows: UInt32 = 10
        var trips: UInt32 = 1
        var durations: [UInt64] = [1000]
    }

    private func profile(_ lines: [Line]) -> Profile {
        var trace = TraceBuilder()
        let entity = trace.entity("Item")
        for line in lines {
            let site = trace.define(.site(SiteEntry(file: line.file, line: line.line, function: line.function)))
            var fetch = TraceEvent.Fetch()
            fetch.entity = entity
            fetch.shape = trace.define(.shape(ShapeEntry(entity: "Item", predicate: line.predicate, terms: [])))
            (fetch.rows, fetch.trips) = (line.rows, line.trips)
            for duration in line.durations { trace.event(.fetch(fetch), duration: duration, site: site) }
        }
        return Profile(trace.closed())
    }

    private func diff(_ before: [Line], _ after: [Line]) -> ProfileDiff {
        ProfileDiff(before: Analysis(profile(before)), after: Analysis(profile(after)))
    }

    /// Each operation's call sites before and after, and its verdict.
    private func text(_ diff: ProfileDiff) -> [String] {
        diff.operations.map { operation in
            let lines = [operation.before, operation.after].map { $0?.key.site?.description ?? "–" }
            return "\(lines[0]) \(lines[1]) \(operation.verdict)"
        }.sorted()
    }

    @Test func `Equal runs have no changes`() {
        let diff = diff([Line(line: 4), Line(line: 9)], [Line(line: 4), Line(line: 9)])
        #expect(text(diff) == ["List.swift:4 List.swift:4 same", "List.swift:9 List.swift:9 same"])
        #expect(diff.operations.allSatisfy { $0.changes.isEmpty })
    }

    @Test func `Operations are matched after their lines moved, but unmoved lines are matched first`() {
        let before = [Line(line: 4), Line(line: 9, function: "hide()"), Line(line: 30, function: "print()")]
        let after = [
            Line(line: 9, function: "show()"), Line(line: 14, function: "hide()"),
            Line(file: "Print.swift", line: 3, function: "print()"),
        ]
        #expect(
            text(diff(before, after)) == [
                // The line takes precedence over the function, which may have been renamed.
                "List.swift:30 Print.swift:3 same", "List.swift:4 List.swift:14 same", "List.swift:9 List.swift:9 same",
            ])
        #expect(
            text(diff([Line(line: 4), Line(line: 9)], [Line(line: 5), Line(line: 10)]))
                == ["List.swift:4 List.swift:5 same", "List.swift:9 List.swift:10 same"])
    }

    @Test func `Fetches with different shapes are different operations`() {
        let diff = diff([Line(line: 4, predicate: "a == ?")], [Line(line: 4, predicate: "b == ?")])
        #expect(text(diff) == ["List.swift:4 – gone", "– List.swift:4 new"])
    }

    @Test func `Counts are compared exactly`() throws {
        let more = diff([Line(line: 4, rows: 1000)], [Line(line: 4, rows: 1001)])
        #expect(more.operations.map(\.verdict) == [.worse])
        #expect(more.operations.first?.changes == [.init(name: "rows", before: 1000, after: 1001)])
        let fewer = diff([Line(line: 4, trips: 2)], [Line(line: 4, trips: 1)])
        #expect(fewer.operations.map(\.verdict) == [.better])
        let traded = diff([Line(line: 4, rows: 10, trips: 2)], [Line(line: 4, rows: 20, trips: 1)])
        #expect(traded.operations.map(\.verdict) == [.traded])
    }

    @Test func `Counts of merged profiles are compared per trace`() throws {
        var twice = profile([Line(line: 4, rows: 7)])
        try twice.merge(profile([Line(line: 4, rows: 8)]))
        let same = ProfileDiff(
            before: Analysis(profile([Line(line: 4, rows: 15), Line(line: 4, rows: 0)])), after: Analysis(twice))
        #expect(same.traces == (before: 1, after: 2))
        #expect(same.operations.first?.changes.map(\.name) == ["trips", "count", "rows"])
        var four = twice
        try four.merge(twice)
        let even = ProfileDiff(before: Analysis(twice), after: Analysis(four))
        #expect(even.operations.map(\.verdict) == [.same])
    }

    // MARK: - Times

    /// 20 durations within 5 % of `middle`.
    private func times(_ middle: UInt64) -> [UInt64] { (0..<20).map { middle - middle / 20 + $0 * middle / 200 } }

    @Test func `Widely spread times, and times of few events, are not reported as changes`() {
        let wide = (1...20).map { UInt64($0) * 1000 }
        let noisy = diff([Line(line: 4, durations: wide)], [Line(line: 4, durations: wide.map { $0 * 3 / 2 })])
        #expect(noisy.operations.map(\.verdict) == [.same])
        let few = diff(
            [Line(line: 4, durations: [1000, 1000, 1000, 1000, 1000])],
            [Line(line: 4, durations: [9000, 9000, 9000, 9000, 9000])])
        #expect(few.operations.map(\.verdict) == [.same] && few.operations.first?.time == nil)
    }

    @Test func `A slowdown that all operations share is not reported as a change of any`() {
        let lines = { (factor: UInt64, last: UInt64) in
            (1...7).map { Line(line: $0, durations: times($0 == 7 ? last : 10_000 * factor)) }
        }
        let slow = diff(lines(1, 10_000), lines(2, 20_000))
        #expect(slow.pace == 2)
        #expect(slow.operations.allSatisfy { $0.verdict == .same })
        let one = diff(lines(1, 10_000), lines(2, 60_000))
        #expect(text(one).filter { !$0.hasSuffix("same") } == ["List.swift:7 List.swift:7 worse"])
        // An operation that takes as long as before while all others take twice as long is not faster.
        let stays = diff(lines(1, 10_000), lines(2, 10_000))
        #expect(stays.operations.allSatisfy { $0.verdict == .same })
    }

    @Test func `A change of an operation with a negligible share of the time is not reported`() {
        let lines = { (small: UInt64) in
            [Line(line: 4, durations: times(10_000_000)), Line(line: 9, durations: times(small))]
        }
        #expect(diff(lines(1000), lines(3000)).operations.allSatisfy { $0.verdict == .same })
    }

    @Test func `The bounds of a median are its 95 % confidence interval`() throws {
        var durations = Distribution()
        for value in 1...5 as ClosedRange<UInt64> { durations.record(value) }
        #expect(durations.medianBounds == nil)
        for value in 6...100 as ClosedRange<UInt64> { durations.record(value) }
        // Ranks 40 and 61 of 100: 50 ± 1.96 · √100 / 2.
        let bounds = try #require(durations.medianBounds)
        #expect(bounds.value == 50 && bounds.low <= 41 && bounds.low >= 39 && bounds.high >= 60 && bounds.high <= 61)
    }

    // MARK: - Findings

    @Test func `Findings that moved to another line are matched, and the others are new or gone`() {
        func flawed(_ line: Int) -> Profile {
            var groceries = Groceries()
            groceries.scoped(.screen) { groceries in
                let fetch = groceries.fetch(rows: 100, site: groceries.trace.site(line, "list()"))
                for object in 1...60 { groceries.fault(UInt64(object), of: fetch) }
            }
            return Profile(groceries.trace.closed())
        }
        let states = { (before: Profile, after: Profile) in
            ProfileDiff(before: Analysis(before), after: Analysis(after)).findings.map {
                ($0.before != nil, $0.after != nil)
            }
        }
        #expect(states(flawed(10), flawed(20)).allSatisfy { $0 == (true, true) })
        #expect(!states(flawed(10), flawed(20)).isEmpty)
        #expect(states(flawed(10), Profile()).allSatisfy { $0 == (true, false) })
        #expect(states(Profile(), flawed(10)).allSatisfy { $0 == (false, true) })
    }

    @Test func `A time that crosses a threshold makes no finding new or gone`() {
        func screen(_ milliseconds: UInt64, rows: UInt32 = 10) -> Profile {
            var groceries = Groceries()
            groceries.trace.isMainThread = true
            groceries.scoped(.screen) { groceries in
                var fetch = TraceEvent.Fetch()
                (fetch.rows, fetch.trips) = (rows, 1)
                fetch.entity = groceries.trace.entity("Item")
                groceries.trace.event(
                    .fetch(fetch), duration: milliseconds * 1_000_000, site: groceries.trace.site(10, "list()"))
            }
            return Profile(groceries.trace.closed())
        }
        let states = { (before: Profile, after: Profile) in
            ProfileDiff(before: Analysis(before), after: Analysis(after)).findings.map {
                "\($0.finding?.rule ?? "") \($0.state)"
            }
        }
        #expect(states(screen(17), screen(15)) == ["R12 still"])
        #expect(states(screen(15), screen(17)) == ["R12 still"])
        // The row count changed too, so the finding is new.
        #expect(states(screen(15), screen(17, rows: 11)) == ["R12 new"])
    }

    @Test func `Faults from the store and from the row cache are one operation`() {
        func faults(_ source: TraceEvent.Fault.Source) -> Profile {
            var trace = TraceBuilder()
            let site = trace.site(4)
            var fault = TraceEvent.Fault()
            fault.source = source
            fault.entity = trace.entity("Item")
            for _ in 0..<9 { trace.event(.fault(fault), duration: 500, site: site) }
            return Profile(trace.closed())
        }
        let diff = ProfileDiff(before: Analysis(faults(.store)), after: Analysis(faults(.rowCache)))
        #expect(diff.operations.count == 1)
        #expect(diff.operations.first?.changes == [.init(name: "trips", before: 9, after: 0)])
        #expect(diff.operations.first?.verdict == .better)
    }
}
