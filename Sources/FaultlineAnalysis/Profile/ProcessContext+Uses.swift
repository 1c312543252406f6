internal import FaultlineTrace

extension ProcessContext {
    /// Adds the use of a result to the fetch that returned it.
    mutating func add(_ use: TraceEvent.Use, _ event: TraceEvent, to tables: inout ProfileTables) {
        if use.state == .open { summary.counts.openUses &+= 1 }
        let fetch = fetches.update(use.fetch) {
            if use.state == .closed { $0.isClosed = true }
            return $0
        }
        guard !isSetup(fetch?.scope ?? event.scope) else { return }
        let index =
            fetch?.index
            ?? tables.fetch(FetchProfile.Key(shape: shape(use.shape, entity: use.entity), site: callSite(of: event)))
        let entity = dictionary.entity(use.entity)
        let shape = tables.fetches[index].key.shape
        let isLimited = fetch.map { $0.limit > 0 } ?? shape.isLimited
        let unread = fetch.flatMap { $0.hasPending ? nil : $0.unread }
        let need =
            unread.flatMap { ResultNeed(use, entity: entity, unread: $0) }
            ?? ResultNeed(use, entity: entity, showsModifications: shape.terms != nil)
        current = CurrentFetch(index: index, isUnused: need == .nothing && use.state == .closed)
        tables.changeFetch(index) { profile in
            profile.uses[use.batchSize, default: ResultUse()].add(use, isLimited: isLimited)
            profile.uses[use.batchSize]?.add(need, of: use, time: fetch?.time ?? 0, unread)
            profile.sample.add(use.runs, to: StableHash.event(process: event.process, id: use.fetch))
            guard let entity else { return }
            for property in use.properties where property.index < UInt64(entity.properties.count) {
                let name = entity.properties[Int(property.index)].name
                profile.properties[entity.name, default: [:]][name, default: PropertyUse()].merge(
                    PropertyUse(
                        rowsLoaded: property.rowsLoaded, rowsRead: property.rowsRead, bytes: property.bytes,
                        largeRows: property.largeRows))
            }
        }
    }
}
