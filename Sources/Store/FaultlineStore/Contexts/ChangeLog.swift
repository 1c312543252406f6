/// The changes in a context since it last notified its observers.
///
/// Logged only while an observer or a child may want them. Each object is in at most one of the sets: a new object
/// stays new, and a deleted one stays deleted.
struct ChangeLog {
    private(set) var inserted: Set<ManagedObject> = []
    private(set) var updated: Set<ManagedObject> = []
    private(set) var deleted: Set<ManagedObject> = []
    private(set) var refreshed: Set<ManagedObject> = []
    /// Whether the context was reset.
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
        // An object that was inserted and deleted since the last notification is not reported.
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
