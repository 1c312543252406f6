import FaultlineTrace
import Foundation
import Testing

@testable import FaultlineRecorder

@Suite("A recorder in memory")
struct RecorderTests {
    let recorder = Recorder.memory()

    private func fetch(rows: UInt32 = 1, _ body: () -> Void = {}) {
        guard let open = recorder.begin() else { return }
        body()
        var detail = TraceEvent.Fetch()
        detail.rows = rows
        recorder.end(open, detail, context: 0, site: 0)
    }

    @Test("keeps an event with its fields, its thread and its stack")
    func keepsEvents() throws {
        let open = try #require(recorder.begin())
        var detail = TraceEvent.Fetch()
        detail.rows = 12
        detail.limit = 20
        detail.resultType = .objectIDs
        recorder.end(open, detail, context: 0, site: recorder.site(fileID: #fileID, line: 42, function: #function))
        let messages = recorder.messages()
        let event = try #require(recorder.events().first)
        #expect(event.detail == .fetch(detail))
        #expect(event.id == open.id)
        #expect(event.isMainThread == (event.thread == UInt32(getpid())))
        var dictionary = TraceDictionary()
        for case .entry(_, let id, let entry) in messages { dictionary.insert(entry, id: id) }
        #expect(dictionary.site(event.site)?.line == 42)
        #expect(dictionary.site(event.site)?.file == "FaultlineRecorderTests/RecorderTests.swift")
        let stack = try #require(dictionary.stack(event.stack))
        #expect(stack.addresses.count > 3)
        #expect(dictionary.modules.contains { $0.path == CommandLine.arguments[0] || $0.path.contains("xctest") })
        #expect(dictionary.thread(event.thread) != nil)
    }

    /// Whether this is the build for ThreadSanitizer.
    #if FAULTLINE_VISIBLE_LOCKS
    private static let isSanitized = true
    #else
    private static let isSanitized = false
    #endif

    /// `DispatchQueue.sync` uses the frame pointer for another value in Swift, so stacks ended there, far from `main`.
    @Test(
        "follows a stack out of a queue's sync to its callers",
        .disabled(if: isSanitized, "ThreadSanitizer has frames of its own between a queue and its callers"))
    func stacksThroughQueues() throws {
        let queues = (DispatchQueue(label: "one"), DispatchQueue(label: "other"))
        fetch()
        _ = Recorder.anchoringStacks {
            queues.0.sync { () -> Int in
                fetch()
                return Recorder.anchoringStacks {
                    queues.1.sync { () -> Int in
                        fetch()
                        return 1
                    }
                }
            }
        }
        fetch()
        var dictionary = TraceDictionary()
        for case .entry(_, let id, let entry) in recorder.messages() { dictionary.insert(entry, id: id) }
        let stacks = try recorder.events().map { try #require(dictionary.stack($0.stack)).addresses }
        try #require(stacks.count == 4)
        // The callers of this function, and their callers.
        let callers = Array(stacks[0].suffix(5))
        #expect(stacks.allSatisfy { Array($0.suffix(5)) == callers })
        #expect(stacks[2].count > stacks[1].count && stacks[1].count > stacks[0].count)
        #expect(stacks[3].count == stacks[0].count)
    }

    @Test("gives nested events their parent, and events after them none")
    func nests() throws {
        fetch { fetch() }
        fetch()
        let events = recorder.events()
        #expect(events.map(\.parent) == [events[1].id, 0, 0])
        #expect(events[0].start >= events[1].start)
        #expect(events[0].end <= events[1].end)
    }

    @Test("derives a nested cache miss and statement from a fault that went to the store")
    func drawsFromOneRecord() throws {
        let open = try #require(recorder.begin())
        var fault = TraceEvent.Fault()
        fault.source = .store
        fault.entity = 7
        fault.seenBefore = true
        var statement = TraceEvent.Statement()
        statement.statement = 9
        statement.rows = 1
        let record = StatementRecord(fields: statement, start: open.start, duration: recorder.now() - open.start)
        recorder.end(open, fault, statement: record, context: 0, site: 0)
        let events = recorder.events()
        try #require(events.count == 3)
        #expect(events.map(\.kind) == [.fault, .cacheMiss, .sql])
        #expect(events.map(\.parent) == [0, events[0].id, events[1].id])
        #expect(Set(events.map(\.id)).count == 3)
        #expect(Set(events.map(\.stack)).count == 1)
        guard case .cacheMiss(let miss) = events[1].detail, case .sql(let drawn) = events[2].detail else {
            Issue.record("the drawn events are of the wrong kind")
            return
        }
        #expect(miss.fault == events[0].id && miss.entity == 7 && miss.seenBefore)
        #expect(drawn == statement)
        for (outer, inner) in zip(events, events.dropFirst()) {
            #expect(outer.start < inner.start && inner.end < outer.end)
        }
    }

    @Test("derives no cache miss from a fault that the row cache served")
    func rowCacheHit() throws {
        let open = try #require(recorder.begin())
        recorder.end(open, TraceEvent.Fault(), context: 0, site: 0)
        #expect(recorder.events().map(\.kind) == [.fault])
    }

    @Test("omits a cancelled event, and does not make it a parent")
    func cancels() throws {
        let open = try #require(recorder.begin())
        recorder.cancel(open)
        fetch()
        #expect(recorder.events().map(\.parent) == [0])
    }

    @Test("writes a dictionary entry once, however often it is interned")
    func internsOnce() {
        let entry = DictionaryEntry.shape(ShapeEntry(entity: "Item", predicate: "name == ?", sort: ["name ascending"]))
        let first = recorder.intern(entry)
        #expect(first != 0)
        #expect(recorder.intern(entry) == first)
        #expect(recorder.intern(.name(NameEntry(name: "list"))) != first)
        let written = recorder.messages().filter {
            if case .entry(_, first, _) = $0 { true } else { false }
        }
        #expect(written.count == 1)
    }

    @Test("records both ends of a scope, and the scope of each event in it")
    func scopes() throws {
        recorder.scope("screen", kind: .screen) {
            recorder.scope("row") { fetch() }
            fetch()
        }
        fetch()
        let events = recorder.events()
        #expect(events.map(\.kind) == [.scope, .scope, .fetch, .scope, .fetch, .scope, .fetch])
        let screen = events[0].id, row = events[1].id
        #expect(events.map(\.scope) == [0, screen, row, screen, screen, 0, 0])
        #expect(events[3].id == row && events[5].id == screen)
        // The beginning has the line that opens the scope.
        #expect(events.filter { $0.kind == .scope }.map { $0.stack != 0 } == [true, true, false, false])
        guard case .scope(let end) = events[5].detail else {
            Issue.record("The event is no scope.")
            return
        }
        #expect(end.kind == .screen && end.phase == .end)
        #expect(events[5].duration > 0)
    }

    @Test("keeps a scope across a suspension, and separate from another recorder's scopes")
    func asynchronousScopes() async throws {
        let other = Recorder.memory()
        await recorder.scope("request", kind: .request) {
            await Task.yield()
            other.scope("theirs") { fetch() }
        }
        let events = recorder.events()
        let fetched = try #require(events.first { $0.kind == .fetch })
        // The innermost scope belongs to the other recorder, and this one does not know it.
        #expect(fetched.scope == 0)
        #expect(other.events().count == 2)
    }

    @Test("counts events that do not fit the ring as lost, and records again when there is space")
    func losesAndCounts() {
        let small = Recorder.memory(ringBytes: 4096)
        for _ in 0..<200 {
            guard let open = small.begin() else { return }
            small.end(open, TraceEvent.Fetch(), context: 0, site: 0)
        }
        var lost: UInt64 = 0
        var kept = 0
        for message in small.messages() {
            if case .lost(let loss) = message { lost += loss.events }
            if case .event = message { kept += 1 }
        }
        #expect(kept > 10)
        #expect(UInt64(kept) + lost == 200)
        if let open = small.begin() { small.end(open, TraceEvent.Fetch(), context: 0, site: 0) }
        #expect(small.events().count == kept + 1)
    }

    @Test("attributes lost events to their thread, even after another thread took its ring")
    func losesPerThread() throws {
        let small = Recorder.memory(ringBytes: 4096)
        for _ in 0..<3 {
            // Joined, so the thread has returned its ring.
            var thread = pthread_t()
            let context = Unmanaged.passUnretained(small).toOpaque()
            let failure = pthread_create(
                &thread, nil,
                { context in
                    guard let context else { return nil }
                    let recorder = Unmanaged<Recorder>.fromOpaque(context).takeUnretainedValue()
                    for number in 0..<200 {
                        guard let open = recorder.begin() else { return nil }
                        recorder.end(open, TraceEvent.Fetch(), context: DictionaryID(number), site: 0)
                    }
                    return nil
                }, context)
            try #require(failure == 0)
            pthread_join(thread, nil)
        }
        var events: [UInt32: UInt64] = [:]
        for message in small.messages() {
            if case .lost(let loss) = message { events[loss.thread, default: 0] += loss.events }
            if case .event(let event) = message { events[event.thread, default: 0] += 1 }
        }
        #expect(events.count == 3 && events.values.allSatisfy { $0 == 200 })
        // The losses already reported do not block the ring: the next thread takes it.
        #expect(small.messages().count { if case .lost = $0 { true } else { false } } == 3)
    }

    @Test("keeps causes before effects across threads")
    func ordersThreads() async {
        for _ in 0..<50 {
            fetch(rows: 1)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<3 { group.addTask { fetch(rows: 2) } }
            }
        }
        let events = recorder.events()
        #expect(events.count == 200)
        #expect(zip(events, events.dropFirst()).allSatisfy { $0.end <= $1.end })
        #expect(Set(events.map(\.id)).count == 200)
    }

    @Test("records nothing while it is off")
    func off() {
        let off = Recorder.off()
        #expect(!off.isEnabled)
        #expect(off.begin() == nil)
        #expect(off.scope("nothing") { 3 } == 3)
        #expect(off.messages().isEmpty)
    }

    @Test("hashes with a key of its own")
    func keyedHashes() {
        #expect(recorder.hash(1, 2) == recorder.hash(1, 2))
        #expect(recorder.hash(1, 2) != recorder.hash(2, 1))
        #expect(recorder.hash(1, 2) != Recorder.memory().hash(1, 2))
    }
}

@Suite("A use summary")
struct FetchUseTests {
    let recorder = Recorder.memory()

    private func summary(rows: Int, _ body: (FetchUse) -> Void) throws -> TraceEvent.Use {
        do {
            let use = try #require(
                recorder.openUse(fetch: 5, entity: 1, shape: 2, batchSize: 50, rows: rows, context: 3, site: 4))
            body(use)
        }
        let event = try #require(recorder.events().last)
        #expect(event.context == 3 && event.site == 4)
        guard case .use(let use) = event.detail else {
            throw CocoaError(.featureUnsupported)
        }
        return use
    }

    @Test("counts each row once, in runs and in the window of each screen")
    func windows() throws {
        let use = try summary(rows: 100) { use in
            for screen in 0..<4 {
                recorder.scope("screen", kind: .screen) {
                    for row in (screen * 6)..<(screen * 6 + 6) {
                        recorder.scope("row") { use.touch(row: row) }
                        use.touch(row: row)
                    }
                }
            }
            recorder.scope("last", kind: .screen) { use.touch(row: 90) }
        }
        #expect(use.fetch == 5 && use.batchSize == 50 && use.rows == 100)
        #expect(use.touchedRows == 25)
        #expect(use.touches == 49)
        #expect(use.runs == [.init(first: 0, rows: 24), .init(first: 90, rows: 1)])
        #expect(
            use.windows == [.init(scopeKind: .screen, rows: 6, times: 4), .init(scopeKind: .screen, rows: 1, times: 1)])
        #expect(use.firstUse > 0 && use.lastUse >= use.firstUse)
        #expect(use.state == .closed)
    }

    @Test("records which properties were loaded and in how many rows each was read")
    func properties() throws {
        let use = try summary(rows: 10) { use in
            use.loaded(rows: 10, bytes: 1000)
            use.loadedProperty(2, rows: 10, bytes: 900, largeRows: 3)
            for row in 0..<4 {
                FetchUse.read(property: 1, row: Int32(row), in: use.slot)
                FetchUse.read(property: 1, row: Int32(row), in: use.slot)
            }
        }
        #expect(use.loadedRows == 10 && use.bytes == 1000)
        #expect(
            use.properties == [
                .init(index: 1, rowsRead: 4, rowsLoaded: 0, bytes: 0, largeRows: 0),
                .init(index: 2, rowsRead: 0, rowsLoaded: 10, bytes: 900, largeRows: 3),
            ])
    }

    @Test("outside any scope counts rows in one window as long as there is no pause")
    func noScope() throws {
        let use = try summary(rows: 5000) { use in
            for row in 0..<5000 { use.touch(row: row) }
        }
        #expect(use.windows.allSatisfy { $0.scopeKind == nil })
        #expect(use.windows.map { $0.rows * $0.times }.reduce(0, +) == 5000)
        #expect(use.touchedRows == 5000)
    }

    @Test("stays within its limits when rows are accessed at random")
    func bounded() throws {
        let use = try summary(rows: 1000) { use in
            for step in 0..<500 { use.touch(row: step * 7 % 1000) }
        }
        #expect(use.touchedRows == 500)
        #expect(use.runs.count == 24)
        #expect(use.runsLost > 0)
    }

    @Test("costs the same however many are open, up to a limit, beyond which they count as lost")
    func manyOpen() throws {
        let recorder = Recorder.memory(ringBytes: 8 << 20)
        var open = (0..<5000).map { _ in recorder.openUse(fetch: 5, entity: 1, shape: 2, batchSize: 0, rows: 1) }
        #expect(open.count { $0 != nil } == 4096)
        // Returned slots are reused, whichever they are.
        for place in stride(from: 0, to: 4096, by: 3) { open[place] = nil }
        for place in stride(from: 0, to: 4096, by: 3) {
            open[place] = recorder.openUse(fetch: 6, entity: 1, shape: 2, batchSize: 0, rows: 1)
        }
        #expect(open.count { $0 != nil } == 4096)
        #expect(recorder.openUse(fetch: 7, entity: 1, shape: 2, batchSize: 0, rows: 1) == nil)
        open.removeAll()
        let uses = recorder.events().compactMap { if case .use(let use) = $0.detail { use.fetch } else { nil } }
        #expect(uses.count { $0 == 5 } == 4096 && uses.count { $0 == 6 } == 1366)
    }

    @Test("counts the time of its creation as recording overhead, not as the program's time")
    func overhead() throws {
        var uses: [FetchUse?] = []
        for number in 0..<4 {
            if number == 3 {
                uses.append(recorder.openUse(fetch: 5, entity: 1, shape: 2, batchSize: 0, rows: 100))
            }
            guard let open = recorder.begin() else { return }
            recorder.end(open, TraceEvent.Fetch(), context: 0, site: 0)
        }
        // The first event collects its call stack, and the others nothing new. One event in sixteen is measured.
        #expect(recorder.events().map { $0.overhead > 0 } == [true, false, false, true])
        #expect(uses.count == 1)
    }
}
