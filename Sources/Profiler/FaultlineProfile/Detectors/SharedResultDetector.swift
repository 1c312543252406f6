package import FaultlineTrace

/// Detects fetches whose own results were never used, but whose rows served faults of other fetches' objects from the
/// row cache.
package struct SharedResultDetector: Detector {
    package static let kinds: Set<EventKind> = [.fault, .cacheHits, .use]

    /// The last time a fault was served by another fetch's rows, by the entity tree of its object.
    private var lastServed: [String: UInt64] = [:]
    /// The start of the first fetch whose rows were never used, by its index in the tables.
    private var firstUnused: [Int: UInt64] = [:]

    package init() {}

    package mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables)
    {
        switch event.detail {
        case .fault(let fault) where fault.source == .rowCache && fault.type != .toMany:
            observe(fault, at: event.start, in: context, tables)
        case .cacheHits(let hits) where hits.type != .toMany:
            observe(hits, at: event.end, in: context, tables)
        case .use(let use):
            guard let current = context.current, current.isUnused else { return }
            let start = context.fetches.read(use.fetch) { $0.start } ?? event.start
            firstUnused[current.index] = min(firstUnused[current.index] ?? .max, start)
        default: break
        }
    }

    /// - Parameter time: The time of the last hit.
    private mutating func observe(
        _ hit: some FaultEvent, at time: UInt64, in context: ProcessContext, _ tables: ProfileTables
    ) {
        guard let entity = context.entityName(hit.entity) else { return }
        let tree = tables.tree(of: entity)
        if let index = context.fetches.read(hit.origin, { $0.index }) {
            // Accessed by index, to avoid copying the shape.
            if tables.fetches[index].key.shape.resultType == "objects",
                tables.tree(of: tables.fetches[index].key.shape.entity) == tree
            {
                return
            }
        }
        lastServed[tree] = max(lastServed[tree] ?? 0, time)
    }

    package mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        for (index, start) in firstUnused {
            let tree = tables.tree(of: tables.fetches[index].key.shape.entity)
            if let served = lastServed[tree], served > start { tables.changeFetch(index) { $0.hasServedOthers = true } }
        }
        firstUnused = [:]
    }
}
