/// What changed in a context since it last told of it; kept only while somebody may listen.
///
/// Each object is in one of the sets: what was new stays new, and what was deleted, deleted.
struct ChangeLog {
    private(set) var inserted: Set<ManagedObject> = []
    private(set) var updated: Set<ManagedObject> = []
    private(set) var deleted: Set<ManagedObject> = []
    private(set) var refreshed: Set<ManagedObject> = []
    /// Whether the context let go of all its objects.
    private(set) var isReset = false

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && !isReset }

    mutating func insert(_ object: ManagedObject) {
        deleted.remove(object)
        inserted.insert(object)
    }

    mutating func update(_ object: ManagedObject) {
        guard !inserted.contains(object), !deleted.contains(object) else { return }
        updated.insert(object)
    }

    mutating func delete(_ object: ManagedObject) {
        updated.remove(object)
        refreshed.remove(object)
        // What came and went meanwhile is nothing to tell of.
        if inserted.remove(object) == nil { deleted.insert(object) }
    }

    mutating func refresh(_ object: ManagedObject) {
        deleted.remove(object)
        guard !inserted.contains(object) else { return }
        updated.remove(object)
        refreshed.insert(object)
    }

    mutating func reset() {
        self = ChangeLog()
        isReset = true
    }
}
