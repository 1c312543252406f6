package import FaultlineTrace

/// Records which relationships fired on each fetch's objects, and where the objects were first read.
///
/// Rules build key paths from the relationships that fired.
package struct FiringDetector: Detector {
    package static let kinds: Set<EventKind> = [.fault, .cacheHits]

    /// The place where objects of a fetch were first read, and their entity, as dictionary IDs.
    ///
    /// Lines and names are slow to look up.
    private struct FirstReads: Sendable, Hashable {
        /// The fetch's index in the tables.
        var fetch: Int
        var stack: DictionaryID
        var entity: DictionaryID
    }

    private var reads: [FirstReads: UInt64] = [:]

    package init() {}

    package mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables)
    {
        switch event.detail {
        case .fault(let fault): add(fault, 1, first: fault.seenBefore ? 0 : 1, event, in: &context, &tables)
        case .cacheHits(let hits): add(hits, hits.hits, first: 0, event, in: &context, &tables)
        default: break
        }
    }

    /// - Parameters:
    ///   - count: The number of faults.
    ///   - first: The number of these on objects that the row cache had not had before.
    private mutating func add(
        _ fault: some FaultEvent, _ count: UInt64, first: UInt64, _ event: TraceEvent,
        in context: inout ProcessContext, _ tables: inout ProfileTables
    ) {
        guard let index = context.fetches.update(fault.origin, { $0.index }) else { return }
        guard fault.relationship != 0 else {
            if fault.type == .object {
                reads[FirstReads(fetch: index, stack: event.stack, entity: fault.entity), default: 0] &+= count
            }
            return
        }
        guard let name = context.dictionary.name(fault.relationship),
            let entity = context.entityName(fault.relationshipEntity)
        else { return }
        let edge = FetchProfile.Edge(entity: entity, name: name)
        tables.changeFetch(index) {
            $0.firedRelationships[edge, default: 0] &+= count
            if first > 0 { $0.firstFirings[edge, default: 0] &+= first }
            if fault.type == .toMany { $0.askedToMany[edge, default: 0] &+= count }
        }
    }

    package mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        for (position, count) in reads {
            let site = context.stackSite(of: position.stack)
            let entity = context.entityName(position.entity)
            tables.changeFetch(position.fetch) {
                $0.readSites[site, default: 0] &+= count
                if let entity { $0.readEntities[entity, default: 0] &+= count }
            }
        }
        reads = [:]
    }
}
