internal import FaultlineTrace

/// The numbers that tell an event's group, so that it is worked out once.
private struct GroupCacheKey: Sendable, Hashable {
    var kind: EventKind
    var type: UInt32
    var source: UInt32
    var subject: DictionaryID
    var second: DictionaryID
    var site: DictionaryID
    var stack: DictionaryID
    var fetch: Int
}

/// Finds the group of events that did the same from the same place.
struct EventGroups: Sendable {
    private var cache: [GroupCacheKey: Int] = [:]

    /// The event's place among the groups of events.
    mutating func group(
        of event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables
    ) -> Int {
        let fetch = context.current?.index
        let (type, source, subject, second) = Self.identity(of: event)
        let cacheKey = GroupCacheKey(
            kind: event.kind, type: type, source: source, subject: subject, second: second, site: event.site,
            stack: event.stack, fetch: event.kind == .batch ? fetch ?? -1 : -1)
        let isCached = event.kind != .save && event.kind != .merge
        if isCached, let index = cache[cacheKey] { return index }
        var key = EventGroup.Key(kind: event.kind, subject: Self.subject(of: event, in: context))
        if case .fault(let fault) = event.detail { (key.faultType, key.source) = (fault.type, fault.source) }
        if case .sql(let statement) = event.detail { key.statementType = statement.type }
        switch event.kind {
        case .fault, .cacheMiss: key.site = context.causeSite(of: event)
        case .batch:
            key.site = context.causeSite(of: event)
            key.fetchSite = fetch.flatMap { tables.fetches[$0].key.site }
        default: key.site = context.callSite(of: event)
        }
        let index = tables.group(key)
        if isCached { cache[cacheKey] = index }
        return index
    }

    /// The numbers that tell an event's group apart from others of its kind.
    private static func identity(of event: TraceEvent) -> (UInt32, UInt32, DictionaryID, DictionaryID) {
        switch event.detail {
        case .fetch(let fetch): (0, 0, fetch.shape, fetch.entity)
        case .batch(let batch): (0, 0, batch.shape, batch.entity)
        case .fault(let fault):
            (
                fault.type.rawValue, fault.source.rawValue, fault.relationship,
                fault.relationship == 0 ? fault.entity : fault.relationshipEntity
            )
        case .cacheMiss(let miss): (0, 0, miss.entity, 0)
        case .sql(let statement): (statement.type.rawValue, 0, statement.statement, 0)
        case .refresh(let refresh): (0, 0, refresh.entity, 0)
        case .wait(let wait): (wait.resource.rawValue, 0, 0, 0)
        default: (0, 0, 0, 0)
        }
    }

    private static func subject(
        of event: TraceEvent, in context: ProcessContext
    ) -> EventGroup.Key.Subject {
        let dictionary = context.dictionary
        let entity = { (id: DictionaryID) -> EventGroup.Key.Subject in
            context.entityName(id).map { .entity($0) } ?? .unknown
        }
        switch event.detail {
        case .fetch(let fetch): return dictionary.shape(fetch.shape).map { .shape($0) } ?? entity(fetch.entity)
        case .batch(let batch): return dictionary.shape(batch.shape).map { .shape($0) } ?? entity(batch.entity)
        case .fault(let fault):
            guard let name = dictionary.name(fault.relationship) else { return entity(fault.entity) }
            return .relationship(entity: context.entityName(fault.relationshipEntity) ?? "", name: name)
        case .cacheMiss(let miss): return entity(miss.entity)
        case .save(let save): return .saved(context.entityNames(of: save.entities))
        case .sql(let statement):
            return dictionary.statement(statement.statement).map { .statement($0.sql) } ?? .unknown
        case .merge(let merge): return .saved(context.entityNames(of: merge.entities))
        case .refresh(let refresh): return refresh.entity == 0 ? .named("objects") : entity(refresh.entity)
        case .wait(let wait): return .named("\(wait.resource)")
        default: return .unknown
        }
    }
}
