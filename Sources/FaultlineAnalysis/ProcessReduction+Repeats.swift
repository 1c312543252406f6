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

extension ProcessReduction {
    /// Nanoseconds without the fetch that end a piece of work where no scope marks one.
    static let pauseBetweenFetches: UInt64 = 100_000_000

    /// Adds a fetch to those that were the same, if there can have been no other result.
    mutating func noteRepeat(
        _ fetch: TraceEvent.Fetch, _ event: TraceEvent, at index: Int, in tables: inout ProfileTables
    ) {
        let unit = unit(of: event.scope)
        // Of fetches that are not told apart nobody knows whether they are the same.
        guard fetch.error == 0, !unit.isSetup, tables.fetches[index].key.shape.hasUntoldValues != true else { return }
        let key = OpenRepeat.Key(
            scope: unit.id, fetch: index, context: event.context, parameters: fetch.parameters, limit: fetch.limit,
            offset: fetch.offset)
        if let open = repeats.peek(key) {
            if isSame(fetch, event, as: open, key, in: tables) {
                let caller = caller(of: event)
                return repeats.update(key) { $0.repeated(fetch, event, caller: caller) } ?? ()
            }
            _ = repeats.remove(key)
            judge(open, key, in: &tables)
        }
        guard let evicted = repeats.insert(OpenRepeat(fetch, event), for: key) else { return }
        judge(evicted.value, evicted.key, in: &tables)
    }

    /// Whether a fetch could have taken the result of the one before.
    ///
    /// What the context changed and did not save shows in the number of rows, if at all.
    private mutating func isSame(
        _ fetch: TraceEvent.Fetch, _ event: TraceEvent, as open: OpenRepeat, _ key: OpenRepeat.Key,
        in tables: ProfileTables
    ) -> Bool {
        guard open.rows == fetch.rows, open.end <= event.start,
            key.scope != 0 || event.start - open.end < Self.pauseBetweenFetches
        else { return false }
        return !writes.mayHaveWritten(sources(of: key.fetch, in: tables), at: open.lastStart...event.start)
    }

    /// Remembers that entities were written, or are to be read anew.
    mutating func noteWrite(of entities: [DictionaryID], _ event: TraceEvent, in tables: ProfileTables) {
        let names = entities.map { dictionary.entity($0)?.name }
        let isKnown = !names.isEmpty && !names.contains(nil)
        let trees = isKnown ? Set(names.compactMap { $0 }.map { tables.tree(of: $0) }) : nil
        writes.add(trees, at: event.start...max(event.start, event.end))
    }

    /// The trees of entities that decide what fetches find; `nil`: it cannot be told.
    private mutating func sources(of index: Int, in tables: ProfileTables) -> Set<String>? {
        if let known = sourceCache[index] { return known }
        let sources = tables.sources(of: tables.fetches[index].key.shape)
        sourceCache[index] = .some(sources)
        return sources
    }

    /// Adds fetches to the evidence if there were several.
    mutating func judge(_ open: OpenRepeat, _ key: OpenRepeat.Key, in tables: inout ProfileTables) {
        guard open.evidence.executions >= 2,
            // Events of another thread can have come late.
            !writes.mayHaveWritten(sources(of: key.fetch, in: tables), at: open.start...open.lastStart)
        else { return }
        let evidenceKey = tables.fetches[key.fetch].key
        var evidence = open.evidence
        evidence.occurrences = 1
        evidence.most = evidence.executions
        evidence.regularOccurrences = open.isRegular ? 1 : 0
        let surroundings = surroundings(of: key.scope, for: .repeats(evidenceKey), outside: open.end - open.start)
        evidence.lossyOccurrences = surroundings.lossyOccurrences
        evidence.scopes = surroundings.scopes
        evidence.wallTime = surroundings.wallTime
        tables.repeats[evidenceKey, default: RepeatEvidence()].merge(evidence)
    }
}

extension ProfileTables {
    /// The entity at the top of an entity's inheritance tree.
    func tree(of entity: String) -> String { model[entity]?.root ?? entity }

    /// The trees of entities that decide what a shape finds and in which order; `nil`: it cannot be told.
    fileprivate func sources(of shape: ShapeEntry) -> Set<String>? {
        guard let terms = shape.terms, terms.count < ShapeEntry.maximumTerms, shape.expressions == nil,
            shape.groups == nil, !terms.contains(where: { $0.operand == "expression" })
        else { return nil }
        var trees: Set = [tree(of: shape.entity)]
        let sortKeys = shape.sort.compactMap { $0.split(separator: " ").first.map(String.init) }
        for path in terms.map(\.keyPath) + shape.prefetch + sortKeys {
            guard let reached = self.trees(on: path, from: shape.entity) else { return nil }
            trees.formUnion(reached)
        }
        return trees
    }

    /// The trees of the entities that a key path leads through; `nil`: it is none that the model knows.
    private func trees(on path: String, from entity: String) -> Set<String>? {
        var trees: Set<String> = []
        var entity = entity
        for name in path.split(separator: ".") where name.uppercased() != "SELF" && !name.hasPrefix("@") {
            guard let property = model[entity]?.property(name) else { return nil }
            guard let destination = property.destination else { continue }
            entity = destination
            trees.insert(tree(of: destination))
        }
        return trees
    }
}
