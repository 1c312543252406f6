import FaultlineModel

/// What was loaded along with a fetch for the objects that it returned.
///
/// They hold it, and pass it on to the objects that are reached from them.
final class PrefetchedObjects {
    /// The members of one to-many relationship of many objects.
    struct MemberLists {
        /// By the owner's key: where its members stand in `keys`.
        var ranges: [Int64: Range<Int>]
        var keys: ContiguousArray<Int64>
        /// Places of the members' entities; empty where all are of one entity.
        var entities: ContiguousArray<Int32>
        /// The relationship's generation when they were read.
        var generation: UInt64
    }

    /// By relationship number.
    private var lists: [Int: MemberLists] = [:]
    /// Rows of the destinations are in the row cache as long as these are held.
    private var blocks: [RowBlock] = []

    func hold(_ more: [RowBlock]) {
        blocks += more
    }

    func insert(_ list: MemberLists, for relationship: Int) {
        lists[relationship] = list
    }

    /// The members of an object's relationship; `nil` if they were not loaded along, or a save has changed the
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
