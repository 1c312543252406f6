import FaultlineModel
import FaultlineTrace

/// The result of a fetch request.
struct FetchedRows {
    var keys: ContiguousArray<Int64> = []
    /// Indexes of the rows' entities; empty if all rows have the same entity.
    var entities: ContiguousArray<Int32> = []
    /// Empty unless the fetch read the rows.
    var rows: ContiguousArray<RowPointer> = []
    var blocks: [RowBlock] = []
    var prefetched: PrefetchedObjects?
    /// The columns that the rows contain; `nil` for all.
    var partial: PartialSelection?
    /// Whether unsaved changes were merged: then ``keys`` is the merged result, and ``rows`` is only what was read for
    /// it.
    var isMerged = false
    /// The merged objects by index: all of them or, with a batch size, those with changes.
    var known: ContiguousArray<ManagedObject?> = []
    /// With several stores: the stores, and for each result row the index of its store.
    var sources: [FetchSource] = []
    var sourceNumbers: ContiguousArray<UInt16> = []
    /// For a part of a result from several stores: the sort keys of each row.
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
        return keys.indices.map { position in
            let source = sources.isEmpty ? entity : sources[Int(sourceNumbers[position])].entity
            let store = source.store
            let schema = entities.isEmpty ? source.schema : store.schema.entities[Int(entities[position])]
            return ManagedObjectID(store: store.identity, entity: schema, key: keys[position])
        }
    }
}
