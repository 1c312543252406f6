internal import FaultlineTrace

/// The IDs that determine an event's group, so the group is looked up by name only once.
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

extension GroupCacheKey {
    /// The key's slot among the recent groups.
    ///
    /// Equal keys have the same slot.
    var recentPlace: Int {
        var mix = UInt64(subject) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(stack) &* 0xC2B2_AE3D_27D4_EB4F
        mix ^= UInt64(site) &* 0x1656_67B1_9E37_79F9 ^ UInt64(kind.rawValue) << 40 ^ UInt64(type) << 44
        return Int(truncatingIfNeeded: (mix ^ mix >> 29) & UInt64(EventGroups.recentCount - 1))
    }
}

/// Finds the group of an event.
struct EventGroups: Sendable {
    /// The number of groups that are found without hashing, a power of two.
    fileprivate static let recentCount = 512

    private var cache: [GroupCacheKey: Int] = [:]
    /// The most recent group in each slot.
    private var recent: [(key: GroupCacheKey, index: Int)?] = Array(repeating: nil, count: recentCount)

    /// The index of the event's group in the tables.
    mutating func group(
        of event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables
    ) -> Int {
        let fetch = context.current?.index
        let (type, source, subject, second) = Self.identity(of: event)
        let cacheKey = GroupCacheKey(
            kind: event.kind, type: type, source: source, subject: subject, second: second, site: event.site,
            stack: event.stack, fetch: event.kind == .batch ? fetch ?? -1 : -1)
        let isCached = event.kind != .save && event.kind != .merge
        let position = cacheKey.recentPlace
        if isCached {
            if let last = recent[position], last.key == cacheKey { return last.index }
            if let index = cache[cacheKey] {
                recent[position] = (cacheKey, index)
                return index
            }
        }
        let kind = event.kind.grouped
        var key = EventGroup.Key(kind: kind, subject: .init(of: event, in: context.dictionary))
        if case .fault(let fault) = event.detail { (key.faultType, key.source) = (fault.type, fault.source) }
        if case .cacheHits(let hits) = event.detail { (key.faultType, key.source) = (hits.type, .rowCache) }
        if case .sql(let statement) = event.detail { key.statementType = statement.type }
        switch event.kind {
        case .fault, .cacheMiss, .cacheHits: key.site = context.causeSite(of: event)
        case .batch:
            key.site = context.causeSite(of: event)
            key.fetchSite = fetch.flatMap { tables.fetches[$0].key.site }
        default: key.site = context.callSite(of: event)
        }
        let index = tables.group(key)
        if isCached {
            cache[cacheKey] = index
            recent[position] = (cacheKey, index)
        }
        return index
    }

    /// The IDs that distinguish an event's group from others of its kind.
    private static func identity(of event: TraceEvent) -> (UInt32, UInt32, DictionaryID, DictionaryID) {
        switch event.detail {
        case .fetch(let fetch): (0, 0, fetch.shape, fetch.entity)
        case .batch(let batch): (0, 0, batch.shape, batch.entity)
        case .fault(let fault): (fault.type.rawValue, fault.source.rawValue, fault.relationship, fault.owner)
        case .cacheHits(let hits): (hits.type.rawValue, 0, hits.relationship, hits.owner)
        case .cacheMiss(let miss): (0, 0, miss.entity, 0)
        case .sql(let statement): (statement.type.rawValue, 0, statement.statement, 0)
        case .refresh(let refresh): (0, 0, refresh.entity, 0)
        case .wait(let wait): (wait.resource.rawValue, 0, 0, 0)
        case .migration(let migration): (migration.stage.rawValue, migration.way.rawValue, migration.name, 0)
        case .save, .merge: (0, 0, 0, 0)
        default: (0, 0, event.titleValue.map { DictionaryID(truncatingIfNeeded: $0.value) } ?? 0, 0)
        }
    }
}
