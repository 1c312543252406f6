/// The to-many relationships whose members a context retains and can release.
struct ShownRelationships {
    private struct Entry {
        weak var state: ToManyState?
    }

    private var entries: ContiguousArray<Entry> = []
    /// The number of entries at which those of deallocated objects are removed.
    private var limit = 256

    var isEmpty: Bool { entries.isEmpty }

    mutating func add(_ state: ToManyState) {
        if entries.count >= limit {
            entries.removeAll { $0.state == nil }
            limit = max(256, entries.count * 2)
        }
        entries.append(Entry(state: state))
    }

    /// Removes all entries, and returns the relationships that still exist.
    mutating func take() -> [ToManyState] {
        defer { entries = [] }
        return entries.compactMap(\.state)
    }
}

extension ManagedObjectContext {
    /// Notes that the members of a relationship are retained.
    func observeShown(_ state: ToManyState) {
        if concurrencyType == .privateQueue { shownRelationships.add(state) }
    }

    /// Releases the members of relationships without unsaved changes, at the end of a block.
    ///
    /// Objects whose relationships lead to each other form a retain cycle, and each of them retains the context. Only
    /// IDs leave a private queue, so nothing needs the objects that only such a cycle retains after the block. With an
    /// undo manager the members stay: undoing needs them, and retains the context anyway.
    func releaseMembers() {
        guard !shownRelationships.isEmpty, undoManager == nil else { return }
        for state in shownRelationships.take() {
            state.releaseMembers()
            if state.isLoaded { shownRelationships.add(state) }
        }
    }
}
