internal import FaultlineTrace

/// Fetches of one shape with the same values from one line in one context and scope, while more may come.
struct OpenRepeat: Sendable {
    struct Key: Sendable, Hashable {
        /// The piece of work that the fetches belong to.
        var scope: EventID
        /// The fetches' place in the tables.
        var fetch: Int
        var context: DictionaryID
        var parameters: UInt64
        var limit: UInt32
        var offset: UInt32
    }

    /// Rows that each of them matched.
    let rows: UInt32
    let start: UInt64
    private(set) var lastStart: UInt64
    private(set) var end: UInt64
    private(set) var evidence = RepeatEvidence()
    /// Nanoseconds from one start to the next, summed up, and their squares.
    private var gaps = (sum: 0.0, squares: 0.0)

    init(_ fetch: TraceEvent.Fetch, _ event: TraceEvent) {
        rows = fetch.rows
        (start, lastStart, end) = (event.start, event.start, event.end)
        add(event)
    }

    mutating func repeated(_ fetch: TraceEvent.Fetch, _ event: TraceEvent, caller: CallSite?) {
        let gap = Double(event.start - lastStart)
        gaps.sum += gap
        gaps.squares += gap * gap
        (lastStart, end) = (event.start, max(end, event.end))
        add(event)
        evidence.trips &+= UInt64(fetch.trips)
        if fetch.resultType == .objects, fetch.batchSize == 0 { evidence.rows &+= UInt64(fetch.rows) }
        if let caller { evidence.callers[caller, default: 0] &+= 1 }
    }

    private mutating func add(_ event: TraceEvent) {
        evidence.executions &+= 1
        evidence.time &+= event.duration
        evidence.mainThreadTime &+= event.isMainThread ? event.duration : 0
        evidence.longest = max(evidence.longest, event.duration)
    }

    /// Whether they came at regular intervals of a tenth of a second or more, as a timer makes them.
    var isRegular: Bool {
        let count = Double(evidence.executions - 1)
        let mean = gaps.sum / count
        let variance = max(0, gaps.squares / count - mean * mean)
        return count >= 2 && mean >= 100_000_000 && variance.squareRoot() < 0.2 * mean
    }
}

/// Finds fetches that were made again although nothing had changed.
struct RepeatDetector: EvidenceDetector {
    static let name = "repeats"
    static let kinds: Set<EventKind> = [.fetch, .save, .merge, .refresh]
    static let wallTime: (any WritableKeyPath<RepeatEvidence, UInt64> & Sendable)? = \RepeatEvidence.wallTime
    private static let capacity = 4096

    /// Nanoseconds without the fetch that end a piece of work where no scope marks one.
    private static let pause: UInt64 = 100_000_000

    var evidence: [FetchProfile.Key: RepeatEvidence] = [:]
    private var open = BoundedTable<OpenRepeat.Key, OpenRepeat>(capacity: capacity)
    private var writes = WriteLog()

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        switch event.detail {
        case .fetch(let fetch): observe(fetch, event, in: &context, tables)
        case .save(let save): observeWrite(of: save.entities.map(\.entity), event, in: context, tables)
        case .merge(let merge): observeWrite(of: merge.entities.map(\.entity), event, in: context, tables)
        case .refresh(let refresh):
            observeWrite(of: refresh.entity == 0 ? [] : [refresh.entity], event, in: context, tables)
        default: break
        }
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        for (key, repeated) in open.drain() { evaluate(repeated, key, in: &context, tables) }
    }

    /// Adds a fetch to those that were the same, if there can have been no other result.
    private mutating func observe(
        _ fetch: TraceEvent.Fetch, _ event: TraceEvent, in context: inout ProcessContext, _ tables: ProfileTables
    ) {
        guard let index = context.current?.index else { return }
        let unit = context.unit(of: event.scope)
        // Of fetches that are not told apart nobody knows whether they are the same.
        guard fetch.error == 0, !unit.isSetup, tables.fetches[index].key.shape.hasUntoldValues != true else { return }
        let key = OpenRepeat.Key(
            scope: unit.id, fetch: index, context: event.context, parameters: fetch.parameters, limit: fetch.limit,
            offset: fetch.offset)
        if let repeated = open.peek(key) {
            if isSame(fetch, event, as: repeated, key, in: &context, tables) {
                let caller = context.caller(of: event)
                return open.update(key) { $0.repeated(fetch, event, caller: caller) } ?? ()
            }
            _ = open.remove(key)
            evaluate(repeated, key, in: &context, tables)
        }
        guard let evicted = open.insert(OpenRepeat(fetch, event), for: key) else { return }
        evaluate(evicted.value, evicted.key, in: &context, tables)
    }

    /// Whether a fetch could have taken the result of the one before.
    ///
    /// What the context changed and did not save shows in the number of rows, if at all.
    private func isSame(
        _ fetch: TraceEvent.Fetch, _ event: TraceEvent, as open: OpenRepeat, _ key: OpenRepeat.Key,
        in context: inout ProcessContext, _ tables: ProfileTables
    ) -> Bool {
        guard open.rows == fetch.rows, open.end <= event.start,
            key.scope != 0 || event.start - open.end < Self.pause
        else { return false }
        return !writes.mayHaveWritten(context.sources(of: key.fetch, in: tables), at: open.lastStart...event.start)
    }

    /// Remembers that entities were written, or are to be read anew.
    private mutating func observeWrite(
        of entities: [DictionaryID], _ event: TraceEvent, in context: ProcessContext, _ tables: ProfileTables
    ) {
        let names = entities.map { context.entityName($0) }
        let isKnown = !names.isEmpty && !names.contains(nil)
        let trees = isKnown ? Set(names.compactMap { $0 }.map { tables.tree(of: $0) }) : nil
        writes.add(trees, at: event.start...max(event.start, event.end))
    }

    /// Adds fetches to the evidence if there were several.
    private mutating func evaluate(
        _ open: OpenRepeat, _ key: OpenRepeat.Key, in context: inout ProcessContext, _ tables: ProfileTables
    ) {
        guard open.evidence.executions >= 2,
            // Events of another thread can have come late.
            !writes.mayHaveWritten(context.sources(of: key.fetch, in: tables), at: open.start...open.lastStart)
        else { return }
        let evidenceKey = tables.fetches[key.fetch].key
        var found = open.evidence
        found.occurrences = 1
        found.most = found.executions
        found.regularOccurrences = open.isRegular ? 1 : 0
        let surroundings = surroundings(
            of: key.scope, for: evidenceKey, outside: open.end - open.start, in: &context)
        found.lossyOccurrences = surroundings.lossyOccurrences
        found.scopes = surroundings.scopes
        found.wallTime = surroundings.wallTime
        add(found, to: evidenceKey)
    }
}
