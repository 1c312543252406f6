/// The to-many relationships of a context whose members are held, so that they can be let go of.
struct ShownRelationships {
    private struct Entry {
        weak var state: ToManyState?
    }

    private var entries: ContiguousArray<Entry> = []
    /// How many entries there may be before those are taken out whose objects went away.
    private var limit = 256

    var isEmpty: Bool { entries.isEmpty }

    mutating func add(_ state: ToManyState) {
        if entries.count >= limit {
            entries.removeAll { $0.state == nil }
            limit = max(256, entries.count * 2)
        }
        entries.append(Entry(state: state))
    }

    /// Hands out those that are still there.
    mutating func take() -> [ToManyState] {
        defer { entries = [] }
        return entries.compactMap(\.state)
    }
}

extension ManagedObjectContext {
    /// Remembers that the members of a relationship are held.
    func observeShown(_ state: ToManyState) {
        if concurrencyType == .privateQueue { shownRelationships.add(state) }
    }

    /// At the end of a piece of work, lets go of the members of relationships that have no unsaved changes.
    ///
    /// Objects of relationships that lead back to them hold each other, and each of them holds the context. From a queue of
    /// the context's own only identities go on to other work: what nobody else holds by then is not to be held by such a
    /// circle. What can be undone needs the members that there were, and holds the context anyway.
    func letGoOfMembers() {
        guard !shownRelationships.isEmpty, undoManager == nil else { return }
        for state in shownRelationships.take() {
            state.letGo()
            if state.isLoaded { shownRelationships.add(state) }
        }
    }
}
