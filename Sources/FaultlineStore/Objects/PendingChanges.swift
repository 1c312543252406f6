import FaultlineModel

/// What a property of an object was set to since the object was read or saved.
enum PendingValue {
    case unchanged
    case null
    case value(AttributeValue)
    case object(ManagedObject)
}

/// The unsaved changes of one object.
final class PendingChanges {
    /// By property.
    var values: ContiguousArray<PendingValue>
    /// The key that the save under way gives a new object; 0: none yet.
    var newKey: Int64 = 0

    init(count: Int) {
        values = ContiguousArray(repeating: .unchanged, count: count)
    }

    /// Makes room for the properties of a subentity.
    func grow(to count: Int) {
        if values.count < count { values += repeatElement(.unchanged, count: count - values.count) }
    }

    /// What a new object holds.
    init(defaults: [AttributeValue?]) {
        values = ContiguousArray(defaults.map { $0.map { .value($0) } ?? .unchanged })
    }
}

/// The members of a to-many relationship of one object, as far as they are known.
final class ToManyState {
    /// Whether ``members`` are all.
    private(set) var isLoaded = false
    /// The members, in the order of their keys, new ones behind them in the order in which they were added.
    private(set) var members: ContiguousArray<ManagedObject> = []
    private var memberIDs: Set<ObjectIdentifier> = []
    /// What was added and taken out since the object was read or saved.
    private(set) var added: ContiguousArray<ManagedObject> = []
    private(set) var removed: ContiguousArray<ManagedObject> = []

    var hasChanges: Bool { !added.isEmpty || !removed.isEmpty }

    func contains(_ object: ManagedObject) -> Bool {
        memberIDs.contains(ObjectIdentifier(object))
    }

    /// Takes in what the store has, with what was changed since applied to it.
    func load(_ stored: some Sequence<ManagedObject>) {
        let removedIDs = Set(removed.map { ObjectIdentifier($0) })
        members = []
        memberIDs = []
        for object in stored where !removedIDs.contains(ObjectIdentifier(object)) && !object.isDeleted {
            if memberIDs.insert(ObjectIdentifier(object)).inserted { members.append(object) }
        }
        for object in added where memberIDs.insert(ObjectIdentifier(object)).inserted { members.append(object) }
        isLoaded = true
    }

    /// Adds an object, if it is not known to be there.
    func add(_ object: ManagedObject) {
        if let place = removed.firstIndex(where: { $0 === object }) {
            removed.remove(at: place)
        } else if isLoaded ? !contains(object) : !memberIDs.contains(ObjectIdentifier(object)) {
            added.append(object)
        } else {
            return
        }
        if memberIDs.insert(ObjectIdentifier(object)).inserted, isLoaded { members.append(object) }
    }

    /// Takes an object out, if it is not known not to be there.
    func remove(_ object: ManagedObject) {
        if let place = added.lastIndex(where: { $0 === object }) {
            added.remove(at: place)
        } else if !isLoaded || contains(object) {
            guard !removed.contains(where: { $0 === object }) else { return }
            removed.append(object)
        } else {
            return
        }
        memberIDs.remove(ObjectIdentifier(object))
        if isLoaded, let place = members.lastIndex(where: { $0 === object }) { members.remove(at: place) }
    }

    /// The changes are in the store now.
    func wasSaved() {
        added = []
        removed = []
        if !isLoaded { memberIDs = [] }
    }
}
