import FaultlineModel

/// The relationships that were prefetched with a fetch for its objects.
///
/// The fetched objects retain it, and pass it on to the objects reached through them.
final class PrefetchedObjects {
    /// The members of one to-many relationship of many objects.
    struct MemberLists {
        /// By the owner's key: the range of its members in `keys`.
        var ranges: [Int64: Range<Int>]
        var keys: ContiguousArray<Int64>
        /// Indexes of the members' entities; empty if all members have the same entity.
        var entities: ContiguousArray<Int32>
        /// The relationship's generation when the members were read.
        var generation: UInt64
    }

    /// By relationship number.
    private var lists: [Int: MemberLists] = [:]
    /// Retaining these blocks keeps the destinations' rows in the row cache.
    private var blocks: [RowBlock] = []

    func hold(_ more: [RowBlock]) {
        blocks += more
    }

    func insert(_ list: MemberLists, for relationship: Int) {
        lists[relationship] = list
    }

    /// The members of an object's relationship; `nil` if they were not prefetched, or if a save has changed the
    /// relationship since.
    func members(
        _ property: PropertySchema, of key: Int64, _ store: SQLStore
    ) -> (keys: ContiguousArray<Int64>, entities: ContiguousArray<Int32>)? {
        guard let list = lists[property.relationshipNumber], let range = list.ranges[key] else { return nil }
        guard store.relationshipGenerations[property.relationshipNumber] == list.generation else { return nil }
        return (
            ContiguousArray(list.keys[range]), list.entities.isEmpty ? [] : ContiguousArray(list.entities[range])
        )
    }
}
