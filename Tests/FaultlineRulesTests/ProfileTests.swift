import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("A profile")
struct ProfileTests {
    private func statement(_ type: TraceEvent.Statement.StatementType = .read, rows: UInt32 = 1) -> TraceEvent.Detail {
        var statement = TraceEvent.Statement()
        statement.type = type
        statement.rows = rows
        return .sql(statement)
    }

    @Test func `Store time counts nested events once, whichever event comes first`() {
        for childFirst in [true, false] {
            var builder = TraceBuilder()
            var fault = TraceEvent.Fault()
            fault.source = .store
            fault.filled = 1
            // IDs follow the order of the calls: the parent is 1 or 3.
            if childFirst {
                builder.event(statement(), duration: 700, parent: 2, advancing: false)
                builder.event(.cacheMiss(TraceEvent.CacheMiss()), duration: 800, parent: 3, advancing: false)
                builder.event(.fault(fault), duration: 1000)
            } else {
                builder.event(.fault(fault), duration: 1000, advancing: false)
                builder.event(.cacheMiss(TraceEvent.CacheMiss()), duration: 800, parent: 1, advancing: false)
                builder.event(statement(), duration: 700, parent: 2)
            }
            let profile = Profile(builder.closed())
            #expect(profile.totals.storeTime == 1000)
            let own = Dictionary(uniqueKeysWithValues: profile.groups.map { ($0.key.kind, $0.selfTime) })
            #expect(own == [.fault: 300, .cacheMiss: 0, .sql: 700])
            #expect(profile.totals.outermostTime == [.fault: 1000])
        }
    }

    @Test func `A wait takes its thread's time only if it blocked the thread`() {
        for isBlocking in [true, false] {
            var builder = TraceBuilder()
            builder.isMainThread = true
            var wait = TraceEvent.Wait()
            wait.resource = .contextQueue
            wait.isBlocking = isBlocking
            builder.event(.wait(wait), duration: 500)
            let profile = Profile(builder.closed())
            #expect(profile.groups.map(\.key.subject) == [.named("contextQueue")])
            #expect(profile.groups.map(\.counts.wait) == [500])
            #expect(profile.groups.map(\.mainThreadTime) == [isBlocking ? 500 : 0])
            #expect(profile.totals.outermostTime == (isBlocking ? [.wait: 500] : [:]))
        }
    }

    @Test func `Round trips are statements that read or, without statements, the trips of events`() {
        var builder = TraceBuilder()
        for type in [TraceEvent.Statement.StatementType.read, .read, .write, .transaction, .schema] {
            builder.event(statement(type), duration: 10)
        }
        var totals = Profile(builder.closed()).totals
        #expect(totals.readTrips == 2)
        #expect(totals.writes == 1)
        #expect(totals.transactions == 1)
        #expect(totals.schemaStatements == 1)
        var groceries = Groceries()
        let fetch = groceries.fetch(rows: 100, batchSize: 50)
        groceries.batch(of: fetch, first: 0, rows: 50)
        groceries.fault(1, of: fetch)
        groceries.fault(2, of: fetch, source: .rowCache)
        totals = Profile(groceries.trace.closed()).totals
        #expect(totals.readTrips == 3)
        #expect(totals.rowsLoaded == 51)
        #expect(totals.faultTrips == 1)
    }

    @Test func `Events are grouped by their operation and call site`() throws {
        var groceries = Groceries()
        for _ in 0..<3 {
            let fetch = groceries.fetch(rows: 10, batchSize: 5)
            groceries.batch(of: fetch, first: 0, rows: 5)
        }
        _ = groceries.fetch(rows: 10, site: groceries.trace.site(80))
        let profile = Profile(groceries.trace.closed())
        let batch = try #require(profile.groups.first { $0.key.kind == .batch })
        #expect(batch.count == 3)
        #expect(batch.counts.rows == 15)
        #expect(batch.key.site?.description == "Scroll.swift:60")
        #expect(batch.key.fetchSite?.description == "List.swift:42")
        #expect(profile.groups.filter { $0.key.kind == .fetch }.map(\.count).sorted() == [1, 3])
    }

    @Test func `A scope that is named only at its end counts under that name`() {
        var trace = TraceBuilder()
        let names = ["request", "views.list"].map { trace.define(.name(NameEntry(name: $0))) }
        for last in [names[1], names[1], names[0]] {
            trace.scoped(names[0], .request, endingAs: last) { $0.now += 5000 }
        }
        let scopes = Profile(trace.closed()).scopes
        #expect(scopes.map(\.key.name).sorted() == ["request", "views.list"])
        #expect(scopes.first { $0.key.name == "views.list" }.map { [$0.count, $0.wallTimes.count] } == [2, 2])
        #expect(scopes.first { $0.key.name == "request" }.map { [$0.count, $0.wallTimes.count] } == [1, 1])
    }

    @Test func `A scope has the time and the trips of the scopes inside it`() throws {
        var groceries = Groceries()
        let name = groceries.trace.define(.name(NameEntry(name: "request")))
        groceries.scoped(name, .request, pause: 500) { groceries in
            groceries.scoped(.screen) { _ = $0.fetch(rows: 1) }
            groceries.scoped(.screen) { groceries in
                _ = groceries.fetch(rows: 1)
                for object in 1...2 { groceries.fault(UInt64(object), of: 1) }
            }
        }
        groceries.scoped(.screen) { groceries in for _ in 0..<2 { _ = groceries.fetch(rows: 4) } }
        let profile = Profile(groceries.trace.closed())
        #expect(profile.scopes.map(\.key.name) == ["scroll", "request"])
        #expect(profile.scopes.map(\.count) == [3, 1])
        #expect(profile.scopes.map(\.storeTime) == [84_000, 48_000])
        #expect(profile.scopes.map(\.trips) == [6, 4])
        #expect(profile.scopes.map(\.rows) == [12, 4])
        #expect(profile.scopes.map(\.mostTrips) == [3, 4])
        #expect(profile.scopes.map(\.mostRows) == [8, 4])
        #expect(profile.scopes.map(\.wallTimes.total) == [84_000, 48_500])
    }

    @Test func `A process without an end was not closed, and counts the lost events of its threads`() throws {
        var builder = TraceBuilder()
        builder.event(statement(), duration: 10)
        builder.add(.lost(EventLoss(process: 7, thread: 7, events: 3)))
        builder.add(.lost(EventLoss(process: 7, thread: 8, events: 4)))
        let open = try #require(Profile(builder.trace).processes.first)
        #expect(!open.isClosed)
        #expect(open.lost == 7)
        let closed = try #require(Profile(builder.closed { $0.lost = 9 }).processes.first)
        #expect(closed.isClosed)
        #expect(closed.lost == 9)
    }

    @Test func `A cycle of parents does not hang the profile`() {
        var builder = TraceBuilder()
        let miss = builder.event(.cacheMiss(TraceEvent.CacheMiss()), duration: 10)
        // In a damaged trace, an event's parent can be the event itself.
        builder.event(.cacheMiss(TraceEvent.CacheMiss()), duration: 10, parent: miss + 1)
        builder.event(statement(), duration: 5, parent: miss + 1)
        #expect(Profile(builder.closed()).totals.eventCount == 3)
    }

    @Test func `The state of open fetches, scopes and loops stays bounded`() {
        var reduction = ProcessReduction(process: 7, .all)
        var tables = ProfileTables()
        let shape = ShapeEntry(entity: "Item", terms: [.init(keyPath: "name", operation: "==")])
        reduction.insert(.shape(shape), id: 1, into: &tables)
        for index in 1...20_000 as ClosedRange<UInt64> {
            var fault = TraceEvent.Fault()
            fault.source = .store
            fault.origin = index
            var fetch = TraceEvent.Fetch()
            fetch.rows = 2
            (fetch.shape, fetch.operands, fetch.parameters) = (1, [index], index)
            reduction.add(
                TraceEvent(id: index, parent: index + 500_000, scope: index, start: index, process: 7, .fetch(fetch)),
                to: &tables)
            reduction.add(
                TraceEvent(id: index + 200_000, scope: index, start: index, process: 7, .fault(fault)), to: &tables)
        }
        #expect(reduction.context.fetches.count == ProcessContext.Capacity.fetches)
        #expect(reduction.context.scopes.count == ProcessContext.Capacity.scopes)
        let detectors = reduction.detectors
        #expect(detectors.compactMap { ($0 as? FaultDetector)?.open.count } == [FaultDetector.capacity])
        #expect(detectors.compactMap { ($0 as? LoopDetector)?.open.count } == [LoopDetector.capacity])
        #expect(tables.fetches.count == 1 && tables.evidence[LoopDetector.self].isEmpty)
        #expect(tables.groups.count == 2)
    }

    @Test func `A fetch whose objects stay in use is remembered`() {
        var groceries = Groceries()
        let first = groceries.fetch(rows: 100)
        for object in 1...(2 * ProcessContext.Capacity.fetches) {
            _ = groceries.fetch(rows: 1)
            if object % 5000 == 0 { groceries.fault(UInt64(object), of: first) }
        }
        #expect(Analysis(Profile(groceries.trace.closed())).findings.map(\.rule) == ["R01"])
    }
}

@Suite("Profiles of several processes")
struct ProfileMergingTests {
    /// The work of two processes.
    enum Story: CaseIterable {
        case groceries, music

        var rules: Set<String> {
            switch self {
            case .groceries: ["R01", "R02"]
            case .music: ["R03", "R04", "R05", "R08", "R10", "R18"]
            }
        }

        /// The traces of two processes.
        var traces: [[TraceMessage]] { [trace(7), trace(8)] }

        func trace(_ process: UInt32) -> [TraceMessage] {
            self == .groceries ? Self.groceries(process) : Self.music(process)
        }

        private static func groceries(_ process: UInt32) -> [TraceMessage] {
            var groceries = Groceries(process: process)
            groceries.trip += UInt64(process) * 100
            groceries.scroll(rows: 100, batchSize: 50, screen: 10, times: 20)
            groceries.scoped(.screen) { groceries in
                let fetch = groceries.fetch(rows: 100)
                for object in 1...60 { groceries.fault(UInt64(object), of: fetch) }
            }
            return groceries.trace.closed()
        }

        /// A loop, a search, small saves, and results that are counted, summed, shown in part and read in part.
        ///
        /// The processes have some lines and values in common.
        private static func music(_ process: UInt32) -> [TraceMessage] {
            var music = Music(process: process)
            music.trip += UInt64(process) * 100
            let byAlbum = music.shape("album == ?", [.init(keyPath: "album", operation: "==", operand: "object")])
            let search = music.shape("title CONTAINS ?", [.init(keyPath: "title", operation: "CONTAINS")])
            let all = music.shape()
            let sites = (50..<54).map { music.trace.site($0, "show\($0)()") }
            music.calibrate(all)
            music.scoped(.request) { music in
                for album in 1...20 as ClosedRange<UInt64> {
                    _ = music.fetch(byAlbum, rows: UInt32(album % 4) + 8) {
                        ($0.operands, $0.parameters) = ([album + UInt64(process)], album)
                    }
                }
                for _ in 0..<8 { music.statement(of: music.fetch(search, rows: 5), fullScanSteps: 2000 + process) }
                music.fetchAndUse(all, rows: 100, times: 4, site: sites[0]) { $0.countAsked = 1 }
                music.fetchAndUse(all, rows: 100, times: 4, site: sites[1]) {
                    $0.touchFirst(100)
                    $0.read(.milliseconds, rows: 100)
                }
                music.fetchAndUse(all, rows: 100, times: 4, site: sites[2]) {
                    $0.touchFirst(process)
                    $0.read(.title, rows: UInt64(process))
                }
                music.fetchAndUse(all, rows: 100, times: 4, site: sites[3]) {
                    $0.touchFirst(100)
                    $0.read(.title, rows: 100, bytes: 2000)
                    $0.read(.lyrics, rows: 0, bytes: 500_000)
                }
                for objects in 1...40 as ClosedRange<UInt32> {
                    // Saves of other sizes come from other lines, and the costs are fitted to them.
                    let line = objects % 2 == 0 ? 60 : 60 + Int(objects)
                    var save = TraceEvent.Save()
                    save.inserted = objects % 2 == 0 ? 1 + process % 2 : objects
                    save.commit = 90_000
                    save.entities = [.init(entity: music.album, inserted: UInt64(save.inserted))]
                    music.trace.event(
                        .save(save), duration: 100_000 + UInt64(save.inserted) * 5000 + UInt64(process),
                        site: music.trace.site(line, "save\(line)()"))
                }
            }
            return music.trace.closed()
        }
    }

    /// The findings, checks and sums of a profile as text.
    private func text(_ profile: Profile) -> String {
        let analysis = Analysis(profile)
        return "\(analysis.findings)\n\(analysis.checks)\n\(profile.totals.storeTime)\n"
            + analysis.profile.groups.map {
                "\($0.key.sortText) \($0.counts) \($0.durations.percentile(99)) \($0.selfTime)"
            }
            .joined(separator: "\n")
    }

    @Test(arguments: Story.allCases, 0..<8 as Range<UInt64>)
    func `A profile does not depend on how messages are interleaved`(_ story: Story, _ seed: UInt64) {
        let traces = story.traces
        var generator = SeededGenerator(seed: seed)
        var queues = traces.map { $0[...] }
        var mixed = ProfileBuilder()
        while queues.contains(where: { !$0.isEmpty }) {
            let index = Int(generator.next() % 2)
            if let message = queues[index].popFirst() { mixed.add(message) }
        }
        #expect(text(mixed.finish()) == text(Profile(traces[0] + traces[1])))
    }

    @Test(arguments: Story.allCases)
    func `Profiles merge in either order`(_ story: Story) throws {
        let traces = story.traces
        let parts = traces.map { Profile($0) }
        var forth = parts[0]
        try forth.merge(parts[1])
        var back = parts[1]
        try back.merge(parts[0])
        #expect(text(forth) == text(back))
        #expect(story.rules.isSubset(of: Analysis(forth).findings.map(\.rule)))
        // Merging chooses new samples, but sums are the same.
        let whole = Profile(traces[0] + traces[1])
        #expect(groups(forth) == groups(whole) && forth.totals == whole.totals)
    }

    private func groups(_ profile: Profile) -> [String] {
        Analysis(profile).profile.groups.map { "\($0.key.sortText) \($0.counts) \($0.selfTime)" }
    }
}
