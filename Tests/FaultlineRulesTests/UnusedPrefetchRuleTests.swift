import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R20: an unused prefetch")
struct UnusedPrefetchRuleTests {
    /// Fetches of items that prefetch lists, of which some are used.
    private struct Story {
        var groceries = Groceries(prefetch: ["list"])
        var prefetched: UInt32 = 50
        var trips: UInt64 = 1
        var used = 0
        var touched: UInt32 = 100
        var state = TraceEvent.Use.State.closed
        var prefetchTime: UInt64 = 120_000
        var source = TraceEvent.Fault.Source.rowCache
        /// The time SQLite takes to sort the rows, in nanoseconds.
        var sortTime: UInt64 = 0

        mutating func tell(times: Int = 4, site: DictionaryID? = nil) {
            for _ in 0..<times {
                var fetch = TraceEvent.Fetch()
                (fetch.entity, fetch.shape, fetch.rows, fetch.trips) = (groceries.item, groceries.shape, 100, 2)
                (fetch.prefetchedRows, fetch.parameters) = (prefetched, groceries.trace.now)
                fetch.prefetches = [
                    TraceEvent.Prefetch(
                        path: 0, trips: trips, rows: UInt64(prefetched), bytes: 100, duration: prefetchTime)
                ]
                fetch.step = sortTime
                let id = groceries.trace.event(
                    .fetch(fetch), duration: 210_000 + prefetchTime + sortTime, site: site ?? groceries.fetchSite)
                if sortTime > 0 {
                    var statement = TraceEvent.Statement()
                    (statement.rows, statement.sorts) = (100, 1)
                    groceries.trace.event(.sql(statement), duration: sortTime, parent: id, advancing: false)
                }
                for object in 0..<used { groceries.fault(UInt64(object), of: id, source: source, duration: 200) }
                var use = Groceries.use(of: id, rows: 100, batchSize: 0)
                (use.touchedRows, use.state) = (touched, state)
                use.runs = [.init(first: 0, rows: UInt64(touched))]
                groceries.add(use)
            }
        }

        var analysis: Analysis { analysis([UnusedPrefetchRule()]) }

        func analysis(_ rules: [any Rule]) -> Analysis {
            var trace = groceries
            // The costs of trips and rows are fitted to these fetches.
            let shape = trace.trace.define(.shape(ShapeEntry(entity: "List")))
            for rows in 1...30 as ClosedRange<UInt32> {
                var fetch = TraceEvent.Fetch()
                (fetch.entity, fetch.shape, fetch.rows, fetch.trips) = (trace.list, shape, rows, 1)
                trace.trace.event(.fetch(fetch), duration: trace.trip + UInt64(rows) * trace.row)
            }
            return Analysis(Profile(trace.trace.closed()), rules: rules)
        }
    }

    private func findings(times: Int = 4, _ change: (inout Story) -> Void = { _ in }) -> [Finding] {
        var story = Story()
        change(&story)
        story.tell(times: times)
        return story.analysis.findings
    }

    @Test func `A prefetch whose rows are never used is reported`() throws {
        let found = findings()
        let finding = try #require(found.first)
        #expect(found.count == 1)
        #expect(finding.rule == "R20" && finding.severity == .warning)
        #expect(finding.title.text == #"Do not prefetch "list" with the fetch of Item"#)
        #expect(finding.change?.description == "List.swift:42")
        #expect(finding.code == ["request.relationshipKeyPathsForPrefetching = []"])
        // A prefetch takes a trip of 10 µs and 50 rows of 2 µs each; faults take a trip for each row.
        #expect(
            finding.explanation.map(\.text) == [
                "4 trips prefetched 200 rows, none of which were used. Prefetching took 480 µs of the fetches' 1.32 ms.",
                "Prefetching pays off if at least 18 % are used.",
            ])
        #expect(abs(finding.saving.time.median - 480_000) < 1)
        #expect(finding.saving.trips == 4 && finding.saving.rows == 200)
    }

    @Test func `A relationship without rows is not reported as unused`() {
        #expect(findings { $0.prefetched = 0 }.isEmpty)
    }

    @Test(arguments: [0, 5, 8, 20, 50], [TraceEvent.Fault.Source.rowCache, .store])
    func `R01 and R20 do not contradict each other`(
        _ used: Int, _ source: TraceEvent.Fault.Source
    ) {
        var story = Story()
        (story.used, story.source) = (used, source)
        story.tell(times: 4)
        let rules = Set(story.analysis([UnusedPrefetchRule(), PrefetchRule()]).findings.map(\.rule))
        #expect(!rules.isSuperset(of: ["R01", "R20"]))
    }

    @Test func `R20 advises loading a relationship that few rows use for those rows only`() throws {
        let finding = try #require(findings { $0.used = 8 }.first)
        #expect(finding.title.text == #"Load "list" of Item only for the rows that use it"#)
        #expect(abs(finding.saving.time.median - (480_000 - 32 * 12_000)) < 1)
        // Above 18 %, a trip for each of them takes longer.
        #expect(findings { $0.used = 9 }.count == 1)
        #expect(findings { $0.used = 10 }.isEmpty)
        #expect(findings { $0.used = 50 }.isEmpty)
    }

    @Test func `Few fetches, few rows and little time are not reported`() {
        #expect(findings(times: 2).isEmpty)
        #expect(findings(times: 3).count == 1)
        #expect(findings { $0.prefetched = 2 }.isEmpty)
        #expect(findings { $0.prefetched = 0 }.isEmpty)
        #expect(findings { $0.prefetchTime = 50_000 }.isEmpty)
        #expect(findings { $0.prefetchTime = 53_000 }.count == 1)
    }

    @Test func `The time of a sort does not make a prefetch look useful`() throws {
        let finding = try #require(findings { $0.sortTime = 20_000_000 }.first)
        #expect(finding.title.text == #"Do not prefetch "list" with the fetch of Item"#)
        #expect(abs(finding.saving.time.median - 480_000) < 1)
        #expect(
            findings {
                $0.sortTime = 20_000_000
                $0.used = 50
            }.isEmpty)
    }

    @Test func `The saving includes looking up rows that the row cache already holds`() throws {
        var story = Story()
        story.tell(times: 3)
        (story.trips, story.prefetched, story.prefetchTime) = (0, 0, 30_000)
        story.tell(times: 5)
        let finding = try #require(story.analysis.findings.first)
        #expect(abs(finding.saving.time.median - (3 * 120_000 + 5 * 30_000)) < 1)
        #expect(finding.evidence.first { $0.name == "loads" }?.value == 3)
    }

    @Test func `Equal fetches count even if only the first had to read the rows`() throws {
        func story(times: Int) -> Story {
            var story = Story()
            story.tell(times: 1)
            (story.trips, story.prefetched, story.prefetchTime) = (0, 0, 30_000)
            story.tell(times: times - 1)
            return story
        }
        let finding = try #require(story(times: 3).analysis.findings.first)
        #expect(finding.title.text == #"Do not prefetch "list" with the fetch of Item"#)
        #expect(
            finding.explanation.map(\.text) == [
                "1 trip prefetched 50 rows, none of which were used. Prefetching took 120 µs of the fetches' 330 µs.",
                "2 more fetches had nothing to read for it.", "Prefetching pays off if at least 18 % are used.",
            ])
        #expect(abs(finding.saving.time.median - (120_000 + 2 * 30_000)) < 1)
        #expect(story(times: 2).analysis.findings.isEmpty)
    }

    @Test func `Rows that were never touched do not count`() {
        // 10 of 100 rows were touched, and they lead to five lists.
        #expect(
            findings {
                $0.touched = 10
                $0.used = 5
            }.isEmpty)
        #expect(findings { $0.touched = 10 }.count == 1)
        #expect(findings { $0.touched = 0 }.isEmpty)
    }

    @Test func `Results that are still in use are not reported`() {
        #expect(findings { $0.state = .open }.isEmpty)
    }

    @Test func `Lines that fetch with one shape are evaluated together`() {
        var story = Story()
        story.tell()
        let other = story.groceries.trace.site(99, "detail()")
        story.used = 50
        story.tell(times: 4, site: other)
        #expect(story.analysis.findings.isEmpty)
        var unused = Story()
        unused.tell()
        unused.tell(times: 2, site: unused.groceries.trace.site(99, "detail()"))
        let found = unused.analysis.findings
        #expect(found.map(\.change?.line) == [42] && found.first?.seenAt.map(\.site?.line) == [99])
    }

    @Test func `A trace without the cost of prefetching has nothing to examine`() {
        var groceries = Groceries(prefetch: ["list"])
        groceries.scroll(rows: 100, batchSize: 0, screen: 10, times: 5)
        let analysis = Analysis(Profile(groceries.trace.closed()), rules: [UnusedPrefetchRule()])
        #expect(analysis.findings.isEmpty && analysis.checks.map(\.examined?.text) == [nil])
    }
}
