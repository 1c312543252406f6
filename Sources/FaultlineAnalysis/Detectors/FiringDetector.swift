internal import FaultlineTrace

/// Records which relationships fired on each fetch's objects, and where the objects were first read.
///
/// Rules build key paths from the relationships that fired.
struct FiringDetector: Detector {
    static let kinds: Set<EventKind> = [.fault, .cacheHits]

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

    /// Faults that differ only in their objects.
    private struct Firings {
        var origin: EventID
        var type: TraceEvent.Fault.FaultType
        var entity: DictionaryID
        var relationship: DictionaryID
        var relationshipEntity: DictionaryID
        var count: UInt64 = 1
        /// The number of faults on objects that the row cache had not had before.
        var first: UInt64 = 0
    }

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        switch event.detail {
        case .fault(let fault):
            let one = Firings(
                origin: fault.origin, type: fault.type, entity: fault.entity, relationship: fault.relationship,
                relationshipEntity: fault.relationshipEntity, first: fault.seenBefore ? 0 : 1)
            add(one, event, in: &context, &tables)
        case .cacheHits(let hits):
            let all = Firings(
                origin: hits.origin, type: hits.type, entity: hits.entity, relationship: hits.relationship,
                relationshipEntity: hits.relationshipEntity, count: hits.hits)
            add(all, event, in: &context, &tables)
        default: break
        }
    }

    private mutating func add(
        _ firings: Firings, _ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables
    ) {
        guard let index = context.fetches.update(firings.origin, { $0.index }) else { return }
        guard firings.relationship != 0 else {
            if firings.type == .object {
                let place = FirstReads(fetch: index, stack: event.stack, entity: firings.entity)
                reads[place, default: 0] &+= firings.count
            }
            return
        }
        guard let name = context.dictionary.name(firings.relationship),
            let entity = context.entityName(firings.relationshipEntity)
        else { return }
        let edge = FetchProfile.Edge(entity: entity, name: name)
        tables.changeFetch(index) {
            $0.firedRelationships[edge, default: 0] &+= firings.count
            if firings.first > 0 { $0.firstFirings[edge, default: 0] &+= firings.first }
            if firings.type == .toMany { $0.askedToMany[edge, default: 0] &+= firings.count }
        }
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
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
