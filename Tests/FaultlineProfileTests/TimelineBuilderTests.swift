import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineProfile

@Suite("Timelines")
struct TimelineBuilderTests {
    private func event(
        _ detail: TraceEvent.Detail = .fetch(TraceEvent.Fetch()), from start: UInt64, to end: UInt64,
        thread: UInt32 = 7, process: UInt32 = 7
    ) -> TraceEvent {
        TraceEvent(start: start, duration: end - start, thread: thread, process: process, detail)
    }

    private func timeline(_ events: [TraceEvent], _ builder: TimelineBuilder = TimelineBuilder()) throws
        -> EventTimeline
    {
        var builder = builder
        for event in events { builder.add(event, threadName: "worker") }
        return try #require(builder.finish())
    }

    private func covered(_ timeline: EventTimeline, _ columns: Int, lane: Int = 0, track: Int = 0) -> [Double] {
        timeline.columns(of: timeline.lanes[lane].tracks[track], columns).map { $0.covered.rounded() }
    }

    @Test func `Columns hold the time that events cover, and count events that begin`() throws {
        let timeline = try timeline([
            event(from: 0, to: 1_024_000), event(from: 2_048_000, to: 4_096_000), event(from: 4_096_000, to: 4_096_000),
        ])
        #expect(timeline.range == 0...4_096_000)
        #expect(covered(timeline, 4) == [1_024_000, 0, 1_024_000, 1_024_000])
        let track = timeline.lanes[0].tracks[0]
        #expect(timeline.columns(of: track, 4).map(\.events) == [1, 0, 1, 1])
        #expect(track.events == 3 && track.time == 3_072_000)
    }

    @Test func `Events at the same time count once in a column`() throws {
        let timeline = try timeline([
            event(from: 0, to: 2_048_000), event(from: 0, to: 1_024_000, thread: 8),
            event(from: 0, to: 2_048_000, thread: 9),
        ])
        #expect(covered(timeline, 2) == [1_024_000, 1_024_000])
        #expect(timeline.lanes[0].tracks[0].time == 5_120_000)
    }

    @Test func `Events outside the range do not count, and those at its ends in part`() throws {
        let timeline = try timeline(
            [
                event(from: 0, to: 900_000), event(from: 500_000, to: 1_500_000), event(from: 1_900_000, to: 5_000_000),
                event(from: 2_100_000, to: 2_200_000),
            ], TimelineBuilder(from: 1_000_000, to: 2_000_000))
        #expect(timeline.range == 1_000_000...2_000_000)
        #expect(timeline.lanes[0].tracks[0].events == 2 && timeline.lanes[0].tracks[0].time == 600_000)
        let columns = covered(timeline, 10)
        for (column, time) in zip(columns, [100_000, 100_000, 100_000, 100_000, 100_000, 0, 0, 0, 0, 100_000]) {
            #expect(abs(column - Double(time)) <= 1024)
        }
    }

    @Test func `A long trace takes as little memory as a short one, and keeps its totals`() {
        var bins = BinnedTime()
        for index: UInt64 in 0..<200_000 {
            bins.cover(from: index * 1_000_000, to: index * 1_000_000 + 500_000)
            bins.count(1, at: index * 1_000_000)
        }
        #expect(bins.count <= BinnedTime.most && bins.count > BinnedTime.most / 4)
        let columns = bins.columns(100, over: 0...200_000_000_000)
        #expect(columns.allSatisfy { abs($0.covered - 1e9) < 1e8 })
        #expect(columns.reduce(0) { $0 + $1.events } == 200_000)
        // One event can be as long as all the others.
        bins.cover(from: 0, to: .max)
        #expect(bins.count <= BinnedTime.most)
    }

    @Test func `Faults from the row cache are spread over the time in which they happened`() throws {
        var hits = TraceEvent.CacheHits()
        (hits.hits, hits.time) = (40, 500_000)
        let timeline = try timeline([event(.cacheHits(hits), from: 0, to: 1_000_000)])
        let track = timeline.lanes[0].tracks[0]
        #expect(track.subject == .events(.fault) && track.events == 40 && track.time == 500_000)
        #expect(covered(timeline, 4).allSatisfy { abs($0 - 125_000) < 1000 })
    }

    @Test func `CPU samples cover the time before them, and memory keeps its level`() throws {
        var (sample, memory) = (TraceEvent.CPUSample(), TraceEvent.Memory())
        sample.weight = 1_024_000
        memory.resident = 5000
        let timeline = try timeline([
            event(.cpu(sample), from: 2_048_000, to: 2_048_000), event(.memory(memory), from: 1_500_000, to: 1_500_000),
            event(.cpu(sample), from: 4_096_000, to: 4_096_000),
        ])
        #expect(timeline.lanes[0].tracks.map(\.subject) == [.events(.cpu), .events(.memory)])
        #expect(covered(timeline, 3) == [1_024_000, 0, 1_024_000])
        let levels = timeline.columns(of: timeline.lanes[0].tracks[1], 3).map(\.level)
        #expect(levels == [5000, 5000, 5000] && timeline.lanes[0].tracks[1].level == 5000)
    }

    @Test func `Kinds without a track leave no lane`() throws {
        var builder = TimelineBuilder()
        builder.add(event(.use(TraceEvent.Use()), from: 0, to: 0))
        #expect(builder.finish() == nil)
    }

    @Test func `Each thread has a lane, the main thread first, and memory belongs to the process`() throws {
        var main = event(from: 0, to: 10, thread: 9)
        main.isMainThread = true
        let timeline = try timeline(
            [event(from: 0, to: 10, thread: 8), main, event(.memory(TraceEvent.Memory()), from: 5, to: 5)],
            TimelineBuilder(dividesThreads: true))
        #expect(timeline.lanes.map(\.thread) == [nil, 9, 8])
        #expect(timeline.lanes.map(\.threadName) == ["", "worker", "worker"])
    }

    @Test func `Threads beyond a number share a lane`() throws {
        let events = (1...200).map { event(from: 0, to: 10, thread: $0, process: $0 % 2) }
        let timeline = try timeline(events, TimelineBuilder(dividesThreads: true))
        #expect(timeline.lanes.count == TimelineBuilder.mostLanes + 1)
        #expect(timeline.lanes.count(where: \.isRest) == 1)
        #expect(timeline.lanes.reduce(0) { $0 + $1.tracks[0].events } == 200)
        let processes = try self.timeline((1...200).map { event(from: 0, to: 10, process: $0) })
        #expect(processes.lanes.count == TimelineBuilder.mostLanes + 1 && processes.lanes.last?.isRest == true)
    }

    // MARK: - Scopes

    private func scope(
        _ phase: TraceEvent.Scope.Phase, _ id: EventID, at start: UInt64, duration: UInt64 = 0
    ) -> (TraceEvent.Scope, TraceEvent) {
        var scope = TraceEvent.Scope()
        (scope.phase, scope.kind) = (phase, .screen)
        return (scope, TraceEvent(id: id, start: start, duration: duration, thread: 7, process: 7, .scope(scope)))
    }

    @Test func `Scopes are bands by name, also those whose beginning or end was lost`() throws {
        var builder = TimelineBuilder()
        func add(_ scope: (TraceEvent.Scope, TraceEvent), _ name: String) { builder.add(scope.0, scope.1, name: name) }
        add(scope(.begin, 1, at: 0), "list")
        // Recorded ends state when the scope began.
        add(scope(.end, 1, at: 0, duration: 1_024_000), "list")
        add(scope(.end, 2, at: 1_024_000, duration: 1_024_000), "list")
        add(scope(.begin, 3, at: 3_072_000), "open")
        builder.add(event(from: 4_096_000, to: 4_096_000))
        let timeline = try #require(builder.finish())
        let scopes = timeline.lanes[0].scopes
        #expect(scopes.map(\.subject) == [.scopes("list", .screen), .scopes("open", .screen)])
        #expect(scopes.map(\.events) == [2, 1] && scopes.map(\.time) == [2_048_000, 1_024_000])
        let covered = scopes.map { timeline.columns(of: $0, 4).map(\.covered) }
        #expect(covered == [[1_024_000, 1_024_000, 0, 0], [0, 0, 0, 1_024_000]])
    }

    @Test func `Names of scopes beyond a number share a band`() throws {
        var builder = TimelineBuilder()
        for id: EventID in 1...50 {
            let (scope, event) = scope(.end, id, at: 0, duration: 1000)
            builder.add(scope, event, name: "row \(id)")
        }
        let timeline = try #require(builder.finish())
        #expect(timeline.lanes[0].scopes.count == TimelineBuilder.mostNames + 1)
        let rest = timeline.lanes[0].scopes.first { $0.subject == .otherScopes }
        #expect(rest?.events == UInt64(50 - TimelineBuilder.mostNames))
    }

    @Test(arguments: [
        (TimelineBuilder.Extent.processes, 0...9000), (.scopes, 1000...4000), (.events, 2000...3000),
    ])
    func `A range spans processes, scopes or events`(extent: TimelineBuilder.Extent, range: ClosedRange<Int>) throws {
        var builder = TimelineBuilder(extent: extent)
        builder.add(ProcessBegan(process: 7, start: 0))
        let (begin, end) = (scope(.begin, 1, at: 1000), scope(.end, 1, at: 4000))
        builder.add(begin.0, begin.1, name: "list")
        builder.add(event(from: 2000, to: 3000))
        builder.add(end.0, end.1, name: "list")
        builder.add(ProcessEnded(process: 7, end: 9000))
        #expect(try #require(builder.finish()).range == UInt64(range.lowerBound)...UInt64(range.upperBound))
    }

    @Test func `Damaged times do no harm`() throws {
        var event = event(from: 5, to: 10)
        (event.start, event.duration) = (.max - 1, .max)
        var scope = scope(.end, 1, at: 3)
        scope.1.duration = .max
        var builder = TimelineBuilder()
        builder.add(event)
        builder.add(scope.0, scope.1, name: "")
        builder.add(self.event(from: 0, to: .max))
        let timeline = try #require(builder.finish())
        #expect(covered(timeline, 7).count == 7)
    }
}
