import FaultlineModel

/// The members of a to-many relationship of one object, as far as they are known.
final class ToManyState {
    /// Whether ``members`` are all.
    private(set) var isLoaded = false
    /// The members in their order or, if they have none, in that of their keys; new ones behind them in the order in
    /// which they were added.
    private(set) var members: ContiguousArray<ManagedObject> = []
    private var memberIDs: Set<ObjectIdentifier> = []
    /// Who the members are while they are not held; see ``letGo()``.
    private(set) var identities: [ManagedObjectID]?
    /// What was added and taken out since the object was read or saved; each object is in one of them at most.
    private(set) var added: ContiguousArray<ManagedObject> = []
    private(set) var removed: ContiguousArray<ManagedObject> = []

    /// Whether members were put in another order since the object was read or saved.
    private(set) var isRearranged = false

    /// Whether the store need not be asked who the members are.
    var isKnown: Bool { isLoaded || identities != nil }

    var hasChanges: Bool { !added.isEmpty || !removed.isEmpty || isRearranged }

    /// Whether an ordered relationship must tell the store who stands where; a member that goes leaves the others'
    /// order as it is.
    var isOrderChanged: Bool { !added.isEmpty || isRearranged }

    func contains(_ object: ManagedObject) -> Bool {
        memberIDs.contains(ObjectIdentifier(object))
    }

    /// Takes in what the store has, with what was changed since applied to it.
    ///
    /// - Parameter isWhole: whether that is all it has, and not what is left after a failure.
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
            // Only now it is known which of the changes change something.
            added.removeAll { storedIDs.contains(ObjectIdentifier($0)) }
            removed.removeAll { !storedIDs.contains(ObjectIdentifier($0)) }
        }
        for object in added where memberIDs.insert(ObjectIdentifier(object)).inserted { members.append(object) }
        isLoaded = true
    }

    /// Adds an object, if it is not known to be there.
    ///
    /// Until the members are loaded the last call counts, whatever the store has: what it has is not known, and adding
    /// a member to it or taking out what is none changes nothing there.
    func add(_ object: ManagedObject) {
        guard memberIDs.insert(ObjectIdentifier(object)).inserted else { return }
        identities = nil
        let wasRemoved = Self.take(object, from: &removed)
        if !isLoaded || !wasRemoved { added.append(object) }
        if isLoaded { members.append(object) }
    }

    /// Takes an object out, if it is not known not to be there.
    func remove(_ object: ManagedObject) {
        let wasMember = memberIDs.remove(ObjectIdentifier(object)) != nil
        guard wasMember || !isLoaded else { return }
        identities = nil
        let wasAdded = wasMember && Self.take(object, from: &added)
        if isLoaded {
            if !wasAdded { removed.append(object) }
            _ = Self.take(object, from: &members)
        } else if !removed.contains(where: { $0 === object }) {
            removed.append(object)
        }
    }

    /// Takes back what was said of an object since it was read or saved.
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

    /// Lets go of objects that are not in the store any more.
    func forget(_ gone: Set<ManagedObject>) {
        identities = nil
        members.removeAll { gone.contains($0) }
        added.removeAll { gone.contains($0) }
        removed.removeAll { gone.contains($0) }
        for object in gone { memberIDs.remove(ObjectIdentifier(object)) }
    }

    private static func take(_ object: ManagedObject, from list: inout ContiguousArray<ManagedObject>) -> Bool {
        guard let place = list.lastIndex(where: { $0 === object }) else { return false }
        list.remove(at: place)
        return true
    }

    /// Puts the member at a place elsewhere.
    ///
    /// All members must be known.
    func move(from place: Int, to target: Int) {
        guard place != target else { return }
        members.insert(members.remove(at: place), at: target)
        isRearranged = true
    }

    /// Puts the members in that order; they must be the same.
    ///
    /// Returns whether they were in another.
    func arrange(_ objects: [ManagedObject]) -> Bool {
        var seen: Set<ObjectIdentifier> = []
        let wanted = ContiguousArray(objects.filter { seen.insert(ObjectIdentifier($0)).inserted })
        guard wanted != members else { return false }
        members = wanted
        isRearranged = true
        return true
    }

    /// Puts the members in that order, as far as they are still there; others follow.
    func restoreOrder(_ wanted: ContiguousArray<ManagedObject>, wasRearranged: Bool) {
        let kept = wanted.filter { contains($0) }
        let known = Set(kept.map { ObjectIdentifier($0) })
        members = kept + members.filter { !known.contains(ObjectIdentifier($0)) }
        isRearranged = wasRearranged
    }

    /// Puts a member at a place.
    ///
    /// - Parameter isRearrangement: whether that is a change of the order.
    func put(_ object: ManagedObject, at place: Int, isRearrangement: Bool) {
        let target = min(place, members.count - 1)
        guard isLoaded, let now = members.lastIndex(where: { $0 === object }), now != target else { return }
        members.insert(members.remove(at: now), at: target)
        if isRearrangement { isRearranged = true }
    }

    /// The relationship's object has no row any more, so that all members are to be added to the one it gets.
    func becomeNew() {
        if !isLoaded { load([]) }
        added = members
        removed = []
    }

    /// The changes are in the store now.
    func wasSaved() {
        added = []
        removed = []
        isRearranged = false
        if !isLoaded { memberIDs = [] }
    }

    /// Holds the members no longer, and keeps who they are.
    ///
    /// Does nothing where there are changes, or where the members hold nothing in their turn.
    func letGo() {
        guard isLoaded, !hasChanges, members.contains(where: { !$0.toMany.isEmpty }) else { return }
        let known = members.map(\.objectID)
        unload()
        identities = known
    }

    /// Makes the members unknown again; the changes stay.
    func unload() {
        isLoaded = false
        identities = nil
        members = []
        memberIDs = Set(added.map { ObjectIdentifier($0) })
    }
}
