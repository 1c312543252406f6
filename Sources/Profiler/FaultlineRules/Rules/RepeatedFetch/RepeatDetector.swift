internal import FaultlineProfile
internal import FaultlineTrace

/// An open group of fetches of one shape with the same values from one line in one context and scope.
struct OpenRepeat: Sendable {
    struct Key: Sendable, Hashable {
        /// The unit of work of the fetches.
        var scope: EventID
        /// The index of the fetches in the tables.
        var fetch: Int
        var context: DictionaryID
        var parameters: UInt64
        var limit: UInt32
        var offset: UInt32
    }

    /// The number of rows that each of them matched.
    let rows: UInt32
    let start: UInt64
    private(set) var lastStart: UInt64
    private(set) var end: UInt64
    private(set) var evidence = RepeatEvidence()
    /// The sum of the times from one start to the next, in nanoseconds, and of their squares.
    private var gaps = (sum: 0.0, squares: 0.0)

    init(_ fetch: TraceEvent.Fetch, _ event: TraceEvent) {
        rows = fetch.rows
        (start, lastStart, end) = (event.start, event.start, event.end)
        add(event)
    }

    /// - Parameter refresh: The line that refreshed objects since the last fetch, or `nil` if none did.
    mutating func repeated(
        _ fetch: TraceEvent.Fetch, _ event: TraceEvent, caller: CallSite?, refresh: ContextRefreshes.Refresh?
    ) {
        let gap = Double(event.start - lastStart)
        gaps.sum += gap
        gaps.squares += gap * gap
        (lastStart, end) = (event.start, max(end, event.end))
        add(event)
        evidence.trips &+= UInt64(fetch.trips)
        if fetch.resultType == .objects, fetch.batchSize == 0 { evidence.rows &+= UInt64(fetch.rows) }
        if let caller { evidence.callers[caller, default: 0] &+= 1 }
        if let refresh { evidence.refreshes[refresh.site, default: 0] &+= 1 }
    }

    private mutating func add(_ event: TraceEvent) {
        evidence.executions &+= 1
        evidence.time &+= event.ownDuration
        evidence.mainThreadTime &+= event.isMainThread ? event.ownDuration : 0
        evidence.longest = max(evidence.longest, event.ownDuration)
    }

    /// Whether the fetches came at regular intervals of at least 0.1 s, as from a timer.
    var isRegular: Bool {
        let count = Double(evidence.executions - 1)
        let mean = gaps.sum / count
        let variance = max(0, gaps.squares / count - mean * mean)
        return count >= 2 && mean >= 100_000_000 && variance.squareRoot() < 0.2 * mean
    }
}

/// Detects fetches that were repeated although nothing had changed.
struct RepeatDetector: EvidenceDetector {
    static let name = "repeats"
    static let kinds: Set<EventKind> = [.fetch, .save, .merge, .refresh]
    private static let capacity = 4096

    var evidence: [FetchProfile.Key: RepeatEvidence] = [:]
    private var open = BoundedTable<OpenRepeat.Key, OpenRepeat>(capacity: capacity)
    private var writes = WriteLog()
    private var refreshes = BoundedTable<DictionaryID, ContextRefreshes>(capacity: capacity)

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        switch event.detail {
        case .fetch(let fetch): observe(fetch, event, in: &context, tables)
        case .save(let save): observeWrite(of: save.entities.map(\.entity), event, in: context, tables)
        case .merge(let merge): observeWrite(of: merge.entities.map(\.entity), event, in: context, tables)
        case .refresh(let refresh): observe(refresh, event, in: &context, tables)
        default: break
        }
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        for (key, repeated) in open.drain() { evaluate(repeated, key, in: &context, tables) }
    }

    /// Adds a fetch to the group of equal fetches, if its result cannot have changed.
    private mutating func observe(
        _ fetch: TraceEvent.Fetch, _ event: TraceEvent, in context: inout ProcessContext, _ tables: ProfileTables
    ) {
        guard let index = context.current?.index else { return }
        let unit = context.unit(of: event.scope)
        // Without the values, the trace does not show whether two fetches are equal.
        guard fetch.error == 0, !unit.isSetup, tables.fetches[index].key.shape.hasUnrecordedValues != true else {
            return
        }
        let key = OpenRepeat.Key(
            scope: unit.id, fetch: index, context: event.context, parameters: fetch.parameters, limit: fetch.limit,
            offset: fetch.offset)
        if let repeated = open.peek(key) {
            if isSame(fetch, event, as: repeated, key, in: &context, tables) {
                let caller = context.caller(of: event)
                let refresh = refresh(since: repeated, key, in: &context, tables)
                return open.update(key) { $0.repeated(fetch, event, caller: caller, refresh: refresh) } ?? ()
            }
            _ = open.remove(key)
            evaluate(repeated, key, in: &context, tables)
        }
        guard let evicted = open.insert(OpenRepeat(fetch, event), for: key) else { return }
        evaluate(evicted.value, evicted.key, in: &context, tables)
    }

    /// Whether a fetch could have used the previous result.
    ///
    /// Unsaved changes in the context show only in the number of rows, if at all.
    private func isSame(
        _ fetch: TraceEvent.Fetch, _ event: TraceEvent, as open: OpenRepeat, _ key: OpenRepeat.Key,
        in context: inout ProcessContext, _ tables: ProfileTables
    ) -> Bool {
        guard open.rows == fetch.rows, open.end <= event.start,
            key.scope != 0 || event.start - open.end < Repetition.longPause
        else { return false }
        return !writes.mayHaveWritten(context.sources(of: key.fetch, in: tables), at: open.lastStart...event.start)
    }

    /// The last refresh in the context, since the previous fetch, of objects that a fetch reads.
    private func refresh(
        since open: OpenRepeat, _ key: OpenRepeat.Key, in context: inout ProcessContext, _ tables: ProfileTables
    ) -> ContextRefreshes.Refresh? {
        guard let known = refreshes.peek(key.context) else { return nil }
        return known.last(of: context.sources(of: key.fetch, in: tables), since: open.lastStart)
    }

    /// Records that objects of a context must be read again.
    private mutating func observe(
        _ refresh: TraceEvent.Refresh, _ event: TraceEvent, in context: inout ProcessContext, _ tables: ProfileTables
    ) {
        let tree = context.entityName(refresh.entity).map { tables.tree(of: $0) } ?? ""
        let found = ContextRefreshes.Refresh(start: event.start, site: context.callSite(of: event))
        if refreshes.update(event.context, { $0.trees[tree] = found }) == nil {
            _ = refreshes.insert(ContextRefreshes(trees: [tree: found]), for: event.context)
        }
    }

    /// Records that entities were written.
    private mutating func observeWrite(
        of entities: [DictionaryID], _ event: TraceEvent, in context: ProcessContext, _ tables: ProfileTables
    ) {
        let names = entities.map { context.entityName($0) }
        let isKnown = !names.isEmpty && !names.contains(nil)
        let trees = isKnown ? Set(names.compactMap { $0 }.map { tables.tree(of: $0) }) : nil
        writes.add(trees, at: event.start...max(event.start, event.end))
    }

    /// Adds the fetches to the evidence if there were several.
    private mutating func evaluate(
        _ open: OpenRepeat, _ key: OpenRepeat.Key, in context: inout ProcessContext, _ tables: ProfileTables
    ) {
        guard open.evidence.executions >= 2,
            // Events of another thread can arrive late.
            !writes.mayHaveWritten(context.sources(of: key.fetch, in: tables), at: open.start...open.lastStart)
        else { return }
        let evidenceKey = tables.fetches[key.fetch].key
        var found = open.evidence
        found.occurrences = 1
        found.most = found.executions
        found.regularOccurrences = open.isRegular ? 1 : 0
        let surroundings = surroundings(
            of: key.scope, for: evidenceKey, outside: open.end - open.start, in: &context)
        found.complete(in: surroundings)
        add(found, to: evidenceKey)
    }
}

extension Profile {
    /// Fetches that were repeated although nothing had changed.
    var repeats: [(key: FetchProfile.Key, evidence: RepeatEvidence)] {
        evidence(of: RepeatDetector.self)
    }
}

/// Fetches of one shape from one line that were repeated with the same values, although nothing they read had been
/// written since.
struct RepeatEvidence: RunEvidence {
    var runs = RunSums()
    /// The number of occurrences at regular intervals, as from a timer.
    var regularOccurrences: UInt64 = 0
    /// The most fetches in one occurrence.
    var most: UInt64 = 0
    /// The total time of each occurrence's longest fetch, in nanoseconds.
    var longest: UInt64 = 0
    /// The round trips of the fetches except the first of each occurrence, and the rows that they loaded.
    var trips: UInt64 = 0
    /// The fetches before which the context refreshed objects, by the line of the refresh.
    var refreshes: [CallSite?: UInt64] = [:]
}

extension RepeatEvidence {
    static let parts: [SumPart<RepeatEvidence>] = [
        .members(\.runs), .sum("regularOccurrences", \.regularOccurrences), .sum("longest", \.longest),
        .sum("trips", \.trips), .maximum("most", \.most), .part("refreshes", \.refreshes),
    ]
}

/// The last refreshes of one context, by the root of the objects' inheritance tree.
///
/// The empty name stands for all trees.
struct ContextRefreshes: Sendable {
    struct Refresh: Sendable {
        var start: UInt64
        var site: CallSite?
    }

    var trees: [String: Refresh]

    /// The last refresh since a time.
    ///
    /// - Parameter read: The trees, or `nil` for any.
    func last(of read: Set<String>?, since time: UInt64) -> Refresh? {
        trees.filter { $0.value.start >= time && ($0.key.isEmpty || read?.contains($0.key) != false) }
            .map(\.value).max { $0.start < $1.start }
    }
}

/// The times at which entities were recently written, by the roots of their inheritance trees.
///
/// Writes arrive in any order. The log keeps the latest writes of each tree. For earlier times, it reports that there
/// may have been a write.
struct WriteLog: Sendable {
    /// The number of writes that are kept for a tree.
    static let capacity = 64

    private struct Times: Sendable {
        var latest: [ClosedRange<UInt64>] = []
        /// The latest end of a write that was dropped.
        var forgotten: UInt64?

        mutating func add(_ time: ClosedRange<UInt64>) {
            latest.append(time)
            guard latest.count > WriteLog.capacity else { return }
            let oldest = latest.indices.min { latest[$0].upperBound < latest[$1].upperBound } ?? 0
            forgotten = max(forgotten ?? 0, latest.remove(at: oldest).upperBound)
        }

        func overlap(_ time: ClosedRange<UInt64>) -> Bool {
            forgotten.map { $0 >= time.lowerBound } == true || latest.contains { $0.overlaps(time) }
        }
    }

    private var trees: [String: Times] = [:]
    /// Writes with unknown entities.
    private var unknown = Times()
    private var all = Times()

    /// - Parameter written: The trees that were written, or `nil` if unknown.
    mutating func add(_ written: Set<String>?, at time: ClosedRange<UInt64>) {
        all.add(time)
        guard let written else { return unknown.add(time) }
        for tree in written { trees[tree, default: Times()].add(time) }
    }

    /// Whether one of some trees may have been written in a time range.
    ///
    /// - Parameter read: The trees, or `nil` for any.
    func mayHaveWritten(_ read: Set<String>?, at time: ClosedRange<UInt64>) -> Bool {
        guard let read else { return all.overlap(time) }
        return unknown.overlap(time) || read.contains { trees[$0]?.overlap(time) == true }
    }
}
