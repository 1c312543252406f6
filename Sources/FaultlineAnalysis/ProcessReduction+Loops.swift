internal import FaultlineTrace

/// Fetches of one shape from one line on one thread in one scope, while more may come.
struct OpenLoop: Sendable {
    struct Key: Sendable, Hashable {
        var scope: EventID
        var thread: UInt32
        /// The fetches' place in the tables.
        var fetch: Int
    }

    var executions: UInt64 = 0
    var rows: UInt64 = 0
    var time: UInt64 = 0
    var mainThreadTime: UInt64 = 0
    var waiting: UInt64 = 0
    var values = DistinctCount()
    /// The values of each term in one of the fetches, and which terms had others, as bits.
    var operands: [UInt64] = []
    var varied: UInt64 = 0
    var callers: [CallSite: UInt64] = [:]
    var speeds = Speeds()
    var start: UInt64 = 0
    var end: UInt64 = 0
    /// What the thread had done when the last of the fetches ended.
    var mark = ThreadMark()

    mutating func merge(_ other: OpenLoop) {
        executions &+= other.executions
        rows &+= other.rows
        time &+= other.time
        mainThreadTime &+= other.mainThreadTime
        waiting &+= other.waiting
        values.formUnion(other.values)
        note(other.operands)
        varied |= other.varied
        callers.merge(other.callers, uniquingKeysWith: &+)
        speeds.merge(other.speeds)
        start = min(start, other.start)
        end = max(end, other.end)
    }

    mutating func note(_ operands: [UInt64]) {
        for (term, (old, new)) in zip(self.operands, operands).enumerated() where old != new {
            varied |= 1 << UInt64(term & 63)
        }
    }
}

/// What a thread has done so far, as far as one fetch tells apart from the next.
struct ThreadMark: Sendable {
    /// Time in the store, in nanoseconds.
    var storeTime: UInt64 = 0
    /// Scopes that it has begun.
    var scopes: UInt64 = 0
}

extension ProcessReduction {
    /// Fetches, and distinct values, from which on fetches that follow one another count as a loop.
    static let loopThreshold = Threshold(
        "R04", "minimumFetches", 5, .count, "minimum fetches, and values, of a loop")
    /// Outside any scope a pause ends a piece of work: so many nanoseconds without the store, and so many times as long as
    /// the fetches take.
    static let pause: UInt64 = 5_000_000
    static let pauseFactor: UInt64 = 4

    /// Adds a fetch to those of its shape and line that it may be in a loop with.
    mutating func noteLoop(
        _ fetch: TraceEvent.Fetch, _ event: TraceEvent, at index: Int, in tables: inout ProfileTables
    ) {
        let shape = tables.fetches[index].key.shape
        // Results that are loaded in batches are lists of their own; of identities nobody knows whose they are.
        guard fetch.resultType != .objectIDs, fetch.error == 0, fetch.batchSize == 0 else { return }
        if shape.hasUntoldValues == true {
            guard fetch.resultType == .objects else { return }
        } else {
            guard let terms = shape.terms, !terms.isEmpty, fetch.operands.count == terms.count, !Self.isPaged(fetch)
            else { return }
        }
        let key = OpenLoop.Key(scope: event.scope, thread: event.thread, fetch: index)
        if let open = loops.peek(key), open.end <= event.start {
            let now = mark(of: event.thread)
            let (idle, store) = (event.start - open.end, now.storeTime &- open.mark.storeTime)
            let waiting = idle > store ? idle - store : 0
            let isPause = waiting >= Self.pause && waiting >= Self.pauseFactor * (open.time / open.executions)
            if event.scope == 0, isPause || now.scopes != open.mark.scopes {
                _ = loops.remove(key)
                judge([(key, open)], in: &tables)
            } else {
                loops.update(key) { $0.waiting &+= waiting } ?? ()
            }
        }
        add(fetch, event, to: key, in: &tables)
    }

    private mutating func add(
        _ fetch: TraceEvent.Fetch, _ event: TraceEvent, to key: OpenLoop.Key, in tables: inout ProfileTables
    ) {
        var loop = OpenLoop()
        loop.operands = fetch.operands
        loop.start = event.start
        if !loops.contains(key), let evicted = loops.insert(loop, for: key) {
            judge([(evicted.key, evicted.value)], in: &tables)
        }
        let caller = caller(of: event)
        var mark = mark(of: event.thread)
        // The fetch itself is added to the thread's time when it was accounted for.
        if event.parent == 0 { mark.storeTime &+= event.duration }
        loops.update(key) { loop in
            loop.executions &+= 1
            loop.rows &+= UInt64(fetch.rows)
            loop.time &+= event.duration
            loop.mainThreadTime &+= event.isMainThread ? event.duration : 0
            loop.speeds.add(event.duration)
            loop.values.insert(fetch.parameters)
            loop.note(fetch.operands)
            if let caller { loop.callers[caller, default: 0] &+= 1 }
            loop.end = max(loop.end, event.end)
            loop.mark = mark
        } ?? ()
    }

    /// Whether a fetch takes a part of what matches: one fetch for several values would take other parts.
    ///
    /// The one row that there is of a value, or that comes first, is no part.
    private static func isPaged(_ fetch: TraceEvent.Fetch) -> Bool {
        fetch.offset > 0 || fetch.limit > 1
    }

    /// Adds loops to the evidence if they pass the thresholds.
    mutating func judge(_ open: [(OpenLoop.Key, OpenLoop)], in tables: inout ProfileTables) {
        var units: [OpenLoop.Key: OpenLoop] = [:]
        for (key, loop) in open {
            let unit = unit(of: key.scope)
            guard !unit.isSetup else { continue }
            var merged = key
            merged.scope = unit.id
            if units[merged] == nil { units[merged] = loop } else { units[merged]?.merge(loop) }
        }
        for (key, loop) in units {
            let shape = tables.fetches[key.fetch].key.shape
            let term = Self.variedTerm(loop, of: shape)
            let isTold = loop.values.count >= Self.loopThreshold.count && term != nil
            guard loop.executions >= Self.loopThreshold.count, isTold || shape.hasUntoldValues == true else { continue }
            add(loop, key, term: term, to: &tables)
        }
    }

    /// The one term whose values differ, if `IN` can compare with all of them at once.
    private static func variedTerm(_ loop: OpenLoop, of shape: ShapeEntry) -> Int? {
        guard loop.varied.nonzeroBitCount == 1, let terms = shape.terms else { return nil }
        let place = loop.varied.trailingZeroBitCount
        guard place < terms.count else { return nil }
        let term = terms[place]
        let isJoinable = term.isAlternative != true && term.isNegated != true && term.options == nil
        return isJoinable && ["==", "IN"].contains(term.operation) ? place : nil
    }

    private mutating func add(
        _ loop: OpenLoop, _ key: OpenLoop.Key, term: Int?, to tables: inout ProfileTables
    ) {
        let evidenceKey = LoopEvidence.Key(fetch: tables.fetches[key.fetch].key, term: term)
        var evidence = LoopEvidence()
        evidence.occurrences = 1
        evidence.executions = loop.executions
        evidence.values = term == nil ? 0 : loop.values.count(of: loop.executions)
        evidence.speeds = loop.speeds
        evidence.rows = loop.rows
        evidence.time = loop.time
        evidence.mainThreadTime = loop.mainThreadTime
        evidence.waiting = loop.waiting
        evidence.callers = loop.callers
        let surroundings = surroundings(
            of: key.scope, for: .loop(evidenceKey), outside: loop.end > loop.start ? loop.end - loop.start : 0)
        evidence.lossyOccurrences = surroundings.lossyOccurrences
        evidence.scopes = surroundings.scopes
        evidence.wallTime = surroundings.wallTime
        tables.loops[evidenceKey, default: LoopEvidence()].merge(evidence)
    }
}
