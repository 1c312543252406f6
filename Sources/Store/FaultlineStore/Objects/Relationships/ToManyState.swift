import FaultlineModel

/// The known members of one object's to-many relationship.
final class ToManyState {
    /// Whether the members live in memory only, so that they are always complete and never changed as a save sees it.
    let isTransient: Bool
    /// Whether ``members`` is complete.
    private(set) var isLoaded: Bool
    /// The members in their order or, if the relationship is unordered, by key; new members follow in the order in
    /// which they were added.
    private(set) var members: ContiguousArray<ManagedObject> = []
    private var memberIDs: Set<ObjectIdentifier> = []
    /// The members' IDs while the members are not retained; see ``releaseMembers()``.
    private(set) var identities: [ManagedObjectID]?
    /// The objects added and removed since the object was last read or saved; each is in at most one of the two.
    private(set) var added: ContiguousArray<ManagedObject> = []
    private(set) var removed: ContiguousArray<ManagedObject> = []

    /// Whether members were reordered since the object was last read or saved.
    private(set) var isRearranged = false

    init(isTransient: Bool) {
        self.isTransient = isTransient
        isLoaded = isTransient
    }

    /// Whether the members are known without asking the store.
    var isKnown: Bool { isLoaded || identities != nil }

    var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || isRearranged }

    /// Whether a save must write the order of an ordered relationship.
    ///
    /// Removing a member leaves the order of the others unchanged.
    var isOrderChanged: Bool { !added.isEmpty || isRearranged }

    func contains(_ object: ManagedObject) -> Bool {
        memberIDs.contains(ObjectIdentifier(object))
    }

    /// Loads the stored members, and applies the unsaved changes to them.
    ///
    /// - Parameter isWhole: Whether these are all stored members, rather than what could be read before a failure.
    func load(_ stored: some Sequence<ManagedObject>, isWhole: Bool = true) {
        identities = nil
        let removedIDs = Set(removed.map { ObjectIdentifier($0) })
        var storedIDs: Set<ObjectIdentifier> = []
        members = []
        memberIDs = []
        for object in stored where storedIDs.insert(ObjectIdentifier(object)).inserted {
            guard !removedIDs.contains(ObjectIdentifier(object)), !object.isDeleted else { continue }
            memberIDs.insert(ObjectIdentifier(object))
            members.append(object)
        }
        if isWhole {
            // Drop the changes that turn out to change nothing.
            added.removeAll { storedIDs.contains(ObjectIdentifier($0)) }
            removed.removeAll { !storedIDs.contains(ObjectIdentifier($0)) }
        }
        for object in added where memberIDs.insert(ObjectIdentifier(object)).inserted { members.append(object) }
        isLoaded = true
    }

    /// Adds an object, unless it is known to be a member.
    ///
    /// Until the members are loaded, the last call wins, whatever the store contains: adding a stored member or
    /// removing a non-member changes nothing there.
    func add(_ object: ManagedObject) {
        guard memberIDs.insert(ObjectIdentifier(object)).inserted else { return }
        identities = nil
        let wasRemoved = Self.take(object, from: &removed)
        if !isLoaded || !wasRemoved, !isTransient { added.append(object) }
        if isLoaded { members.append(object) }
    }

    /// Removes an object, unless it is known not to be a member.
    func remove(_ object: ManagedObject) {
        let wasMember = memberIDs.remove(ObjectIdentifier(object)) != nil
        guard wasMember || !isLoaded else { return }
        identities = nil
        let wasAdded = wasMember && Self.take(object, from: &added)
        if isLoaded {
            if !wasAdded, !isTransient { removed.append(object) }
            _ = Self.take(object, from: &members)
        } else if !removed.contains(where: { $0 === object }) {
            removed.append(object)
        }
    }

    /// Reverts the addition or removal of an object since the last read or save.
    func retract(_ object: ManagedObject) {
        if Self.take(object, from: &added) {
            memberIDs.remove(ObjectIdentifier(object))
            if isLoaded { _ = Self.take(object, from: &members) }
        } else if Self.take(object, from: &removed), isLoaded,
            memberIDs.insert(ObjectIdentifier(object)).inserted
        {
            members.append(object)
        }
    }

    /// Removes objects that are no longer in the store.
    func forget(_ gone: Set<ManagedObject>) {
        identities = nil
        members.removeAll { gone.contains($0) }
        added.removeAll { gone.contains($0) }
        removed.removeAll { gone.contains($0) }
        for object in gone { memberIDs.remove(ObjectIdentifier(object)) }
    }

    private static func take(_ object: ManagedObject, from list: inout ContiguousArray<ManagedObject>) -> Bool {
        guard let position = list.lastIndex(where: { $0 === object }) else { return false }
        list.remove(at: position)
        return true
    }

    /// Moves a member to another index.
    ///
    /// All members must be loaded.
    func move(from position: Int, to target: Int) {
        guard position != target else { return }
        members.insert(members.remove(at: position), at: target)
        isRearranged = !isTransient
    }

    /// Reorders the members; `objects` must contain the same ones.
    ///
    /// Returns whether the order changed.
    func arrange(_ objects: [ManagedObject]) -> Bool {
        var seen: Set<ObjectIdentifier> = []
        let wanted = ContiguousArray(objects.filter { seen.insert(ObjectIdentifier($0)).inserted })
        guard wanted != members else { return false }
        members = wanted
        isRearranged = !isTransient
        return true
    }

    /// Restores an order of the members that still exist; other members follow.
    func restoreOrder(_ wanted: ContiguousArray<ManagedObject>, wasRearranged: Bool) {
        let kept = wanted.filter { contains($0) }
        let known = Set(kept.map { ObjectIdentifier($0) })
        members = kept + members.filter { !known.contains(ObjectIdentifier($0)) }
        isRearranged = wasRearranged && !isTransient
    }

    /// Moves a member to an index.
    ///
    /// - Parameter isRearrangement: Whether this counts as a change of the order.
    func put(_ object: ManagedObject, at position: Int, isRearrangement: Bool) {
        let target = min(position, members.count - 1)
        guard isLoaded, let now = members.lastIndex(where: { $0 === object }), now != target else { return }
        members.insert(members.remove(at: now), at: target)
        if isRearrangement { isRearranged = !isTransient }
    }

    /// Marks all members as added, for an object whose row was deleted and which will get a new one.
    func becomeNew() {
        if isTransient { return }
        if !isLoaded { load([]) }
        added = members
        removed = []
    }

    /// Clears the changes after a save has written them.
    func wasSaved() {
        added = []
        removed = []
        isRearranged = false
        if !isLoaded { memberIDs = [] }
    }

    /// Releases the members, and keeps their IDs.
    ///
    /// Does nothing if there are changes, or if no member has to-many state, because then no retain cycle is possible.
    func releaseMembers() {
        guard isLoaded, !hasChanges, !isTransient, members.contains(where: { !$0.toMany.isEmpty }) else { return }
        let known = members.map(\.objectID)
        unload()
        identities = known
    }

    /// Forgets the members that were read.
    ///
    /// Unsaved changes and members that only live in memory stay.
    func unload() {
        if isTransient { return }
        isLoaded = false
        identities = nil
        members = []
        memberIDs = Set(added.map { ObjectIdentifier($0) })
    }
}
