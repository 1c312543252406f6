internal import FaultlineTrace

/// An open group of fetches of one shape from one line on one thread in one scope.
struct OpenLoop: RepeatedGroup {
    struct Key: ScopedKey {
        var scope: EventID
        var thread: UInt32
        /// The index of the fetches in the tables.
        var fetch: Int
    }

    var repetition = Repetition()
    var values = DistinctCount()
    /// The operands of each term in one of the fetches, and a bit for each term whose operands varied.
    var operands: [UInt64] = []
    var varied: UInt64 = 0

    mutating func merge(_ other: OpenLoop) {
        repetition.merge(other.repetition)
        values.formUnion(other.values)
        note(other.operands)
        varied |= other.varied
    }

    mutating func note(_ operands: [UInt64]) {
        for (term, (old, new)) in zip(self.operands, operands).enumerated() where old != new {
            varied |= 1 << UInt64(term & 63)
        }
    }
}

/// Detects consecutive fetches that differ in one value.
struct LoopDetector: EvidenceDetector {
    static let name = "loops"
    static let kinds: Set<EventKind> = [.fetch]
    static let wallTime: (any WritableKeyPath<LoopEvidence, UInt64> & Sendable)? = \LoopEvidence.wallTime
    static let capacity = 4096

    /// The minimum number of fetches, and of distinct values, of a loop.
    static let threshold = Threshold(
        "R04", "minimumFetches", 5, .count, "minimum fetches, and values, of a loop")

    var evidence: [LoopEvidence.Key: LoopEvidence] = [:]
    private(set) var open = BoundedTable<OpenLoop.Key, OpenLoop>(capacity: capacity)

    /// Adds a fetch to the open group of its shape and line.
    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        guard case .fetch(let fetch) = event.detail, let index = context.current?.index else { return }
        let shape = tables.fetches[index].key.shape
        // Batched results are lists of their own. Object IDs do not show which value they belong to.
        guard fetch.resultType != .objectIDs, fetch.error == 0, fetch.batchSize == 0 else { return }
        if shape.hasUnrecordedValues == true {
            guard fetch.resultType == .objects else { return }
        } else {
            guard let terms = shape.terms, !terms.isEmpty, fetch.operands.count == terms.count, !Self.isPaged(fetch)
            else { return }
        }
        let key = OpenLoop.Key(scope: event.scope, thread: event.thread, fetch: index)
        if let loop = open.removeIfOver(key, before: event, in: context) {
            evaluate([(key, loop)], in: &context, tables)
        }
        add(fetch, event, to: key, in: &context, tables)
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        evaluate(open.drain(), in: &context, tables)
    }

    private mutating func add(
        _ fetch: TraceEvent.Fetch, _ event: TraceEvent, to key: OpenLoop.Key, in context: inout ProcessContext,
        _ tables: ProfileTables
    ) {
        var loop = OpenLoop()
        loop.operands = fetch.operands
        if !open.contains(key), let evicted = open.insert(loop, for: key) {
            evaluate([evicted], in: &context, tables)
        }
        open.add(event, rows: UInt64(fetch.rows), to: key, in: &context) { loop in
            loop.values.insert(fetch.parameters)
            loop.note(fetch.operands)
        }
    }

    /// Whether a fetch returns a page of the matching rows.
    ///
    /// A joint fetch for several values would return other pages.
    ///
    /// A limit of 1, for the only or the first row of a value, is not a page.
    private static func isPaged(_ fetch: TraceEvent.Fetch) -> Bool {
        fetch.offset > 0 || fetch.limit > 1
    }

    /// Adds loops to the evidence if they pass the thresholds.
    private mutating func evaluate(
        _ open: [(key: OpenLoop.Key, value: OpenLoop)], in context: inout ProcessContext, _ tables: ProfileTables
    ) {
        for (key, loop) in context.units(of: open) {
            let shape = tables.fetches[key.fetch].key.shape
            let term = Self.variedTerm(loop, of: shape)
            let hasValues = loop.values.count >= Self.threshold.count && term != nil
            guard loop.repetition.executions >= Self.threshold.count, hasValues || shape.hasUnrecordedValues == true
            else {
                continue
            }
            add(loop, key, term: term, in: &context, tables)
        }
    }

    /// The one term whose values differ, if `IN` can compare with all of them at once.
    private static func variedTerm(_ loop: OpenLoop, of shape: ShapeEntry) -> Int? {
        guard loop.varied.nonzeroBitCount == 1, let terms = shape.terms else { return nil }
        let position = loop.varied.trailingZeroBitCount
        guard position < terms.count else { return nil }
        let term = terms[position]
        let isJoinable = term.isAlternative != true && term.isNegated != true && term.options == nil
        return isJoinable && ["==", "IN"].contains(term.operation) ? position : nil
    }

    private mutating func add(
        _ loop: OpenLoop, _ key: OpenLoop.Key, term: Int?, in context: inout ProcessContext, _ tables: ProfileTables
    ) {
        let evidenceKey = LoopEvidence.Key(fetch: tables.fetches[key.fetch].key, term: term)
        let repetition = loop.repetition
        var found = LoopEvidence(
            repetition,
            in: surroundings(of: key.scope, for: evidenceKey, outside: repetition.wallTime, in: &context))
        found.executions = repetition.executions
        found.values = term == nil ? 0 : loop.values.count(of: repetition.executions)
        found.speeds = repetition.speeds
        add(found, to: evidenceKey)
    }
}

extension Profile {
    /// Fetches that ran in a loop.
    public var loops: [(key: LoopEvidence.Key, evidence: LoopEvidence)] {
        evidence(of: LoopDetector.self)
    }

    /// The evidence of one loop.
    package func loop(of fetch: FetchProfile.Key, term: Int?) -> LoopEvidence? {
        tables.evidence[LoopDetector.self][LoopEvidence.Key(fetch: fetch, term: term)]
    }
}
