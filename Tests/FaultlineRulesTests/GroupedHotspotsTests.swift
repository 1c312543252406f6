import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("Hotspots in groups")
struct GroupedHotspotsTests {
    private func threads(_ messages: [TraceMessage]) -> ThreadSums {
        var sums = ThreadSums()
        for message in messages { sums.add(message) }
        return sums
    }

    private func rows(_ messages: [TraceMessage], _ grouping: GroupedHotspots.Grouping) -> [String] {
        let grouped = GroupedHotspots(Profile(messages), by: grouping, threads: threads(messages))
        return grouped.rows.map { row in
            "\(row.name): \(row.count), \(row.durations.percentile(50)), \(row.rows.map(String.init) ?? "–"), \(row.total)"
        }
    }

    @Test func `Operations of one entity, line and scope are summed up`() {
        #expect(rows(GroceriesStory.trace, .entity) == ["Item: 155, 12000, 453, 2105000"])
        #expect(
            rows(GroceriesStory.trace, .site) == [
                "Scroll.swift:57: 150, 12000, 150, 1215000", "List.swift:90: 1, 400000, 3, 400000",
                "List.swift:42: 2, 60000, 200, 270000", "Scroll.swift:60: 2, 110000, 100, 220000",
            ])
        let scopes = GroupedHotspots(Profile(GroceriesStory.trace), by: .scope).rows
        #expect(scopes.map(\.name) == ["scroll (screen)"] && scopes[0].count == 11)
        #expect(scopes.allSatisfy { (0...1).contains($0.share) && $0.share > 0 })
    }

    @Test func `Each thread has the operations that ran on it`() {
        var trace = TraceBuilder()
        _ = trace.define(.thread(ThreadEntry(thread: 8, name: "import", isMain: false)))
        trace.isMainThread = true
        var fetch = TraceEvent.Fetch()
        fetch.rows = 10
        let id = trace.event(.fetch(fetch), duration: 1000, advancing: false)
        trace.event(.sql(TraceEvent.Statement()), duration: 900, parent: id)
        var hits = TraceEvent.CacheHits()
        (hits.hits, hits.filled, hits.time) = (4, 4, 100)
        trace.event(.cacheHits(hits), duration: 500)
        (trace.thread, trace.isMainThread) = (8, false)
        trace.event(.save(TraceEvent.Save()), duration: 5000)
        trace.event(.wait(TraceEvent.Wait()), duration: 200)
        trace.event(.cpu(TraceEvent.CPUSample()))
        trace.thread = 9
        trace.event(.use(TraceEvent.Use()))
        #expect(
            rows(trace.closed(), .thread) == ["thread 8 (import): 2, 200, 0, 5200", "main thread: 5, 25, 14, 1100"])
    }

    @Test func `Without operations, statements and waits count`() {
        var trace = TraceBuilder()
        var statement = TraceEvent.Statement()
        statement.rows = 3
        trace.event(.sql(statement), duration: 1000)
        trace.event(.wait(TraceEvent.Wait()), duration: 50)
        #expect(rows(trace.closed(), .thread) == ["thread 7: 2, 50, 3, 1050"])
        #expect(rows(trace.closed(), .entity) == ["no entity: 2, 50, 3, 1050"])
        #expect(rows(trace.closed(), .scope) == [])
    }

    @Test func `Threads of several processes are told apart, and too many share a row`() {
        var messages: [TraceMessage] = []
        for process: UInt32 in 1...2 {
            var trace = TraceBuilder(process: process)
            trace.thread = 5
            trace.event(.save(TraceEvent.Save()), duration: 100 * UInt64(process))
            messages += trace.closed()
        }
        #expect(rows(messages, .thread).map { $0.prefix(21) } == ["thread 5 of process 2", "thread 5 of process 1"])
        var trace = TraceBuilder()
        for thread in 1...UInt32(ThreadSums.most + 7) {
            trace.thread = thread
            trace.event(.save(TraceEvent.Save()), duration: 100)
        }
        let all = rows(trace.closed(), .thread)
        #expect(all.count == ThreadSums.most + 1 && all.first == "other threads: 7, 100, 0, 700")
    }
}
