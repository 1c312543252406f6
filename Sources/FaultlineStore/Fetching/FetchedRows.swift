import FaultlineModel
import FaultlineTrace

/// What a fetch request found.
struct FetchedRows {
    var keys: ContiguousArray<Int64> = []
    /// Places of entities; empty where all are of one entity.
    var entities: ContiguousArray<Int32> = []
    /// Empty unless the rows were read along.
    var rows: ContiguousArray<RowPointer> = []
    var blocks: [RowBlock] = []
    var prefetched: PrefetchedObjects?
    /// What the rows have; `nil`: everything.
    var partial: PartialSelection?
    /// Whether unsaved changes take part: then ``keys`` are those of the result, and ``rows`` only what was read for it.
    var isMerged = false
    /// Where unsaved changes take part: the objects by place, all of them or, where rows come in batches, those that
    /// have changes.
    var known: ContiguousArray<ManagedObject?> = []
    /// Where several stores have been asked: each of them, and by place which one the row comes from.
    var sources: [FetchSource] = []
    var sourceNumbers: ContiguousArray<UInt16> = []
    /// Of one of several stores: what each place is sorted by.
    var sortKeys: [[SQLValue]] = []
    var dictionaries: [[String: AttributeValue]] = []
    var count = 0
    var fetch: EventID = 0
    var shape: DictionaryID = 0
}

extension FetchedRows {
    func objectIDs(_ entity: EntityRuntime) -> [ManagedObjectID] {
        let store = entity.store
        if !isMerged, !rows.isEmpty {
            return rows.map { row in
                let schema = store.schema.entities[Int(row.header.pointee.entity)]
                return ManagedObjectID(store: store.identity, entity: schema, key: row.key)
            }
        }
        return keys.indices.map { place in
            let source = sources.isEmpty ? entity : sources[Int(sourceNumbers[place])].entity
            let store = source.store
            let schema = entities.isEmpty ? source.schema : store.schema.entities[Int(entities[place])]
            return ManagedObjectID(store: store.identity, entity: schema, key: keys[place])
        }
    }
}
