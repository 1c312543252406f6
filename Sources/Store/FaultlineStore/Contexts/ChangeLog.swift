import FaultlineModel
import Foundation

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
    /// The values of changed objects before their first change.
    private(set) var baselines: [ManagedObject: EventBaseline] = [:]

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

    /// Keeps the values of an object that is about to change, unless it has changed since the last notification.
    mutating func keepBaseline(of object: ManagedObject) {
        if baselines[object] == nil { baselines[object] = EventBaseline(object) }
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

/// The values of an object when its context last notified its observers of changes.
struct EventBaseline {
    /// By property; `.unchanged` for to-many relationships, and for the committed values of a fault.
    private let values: ContiguousArray<PendingValue>
    /// The to-many relationships that had been used.
    private let relationships: [Int: Relationship]

    private struct Relationship {
        /// The members, if they were loaded.
        var members: ContiguousArray<ManagedObject>?
        var added: ContiguousArray<ManagedObject> = []
        var removed: ContiguousArray<ManagedObject> = []
    }

    init(_ object: ManagedObject) {
        values =
            object.isFault
            ? ContiguousArray(object.runtime.schema.properties.indices.map { object.pending?[$0] ?? .unchanged })
            : object.currentValues()
        relationships = object.toMany.mapValues { state in
            Relationship(members: state.isLoaded ? state.members : nil, added: state.added, removed: state.removed)
        }
    }

    /// The value that a stored property had; `nil` if it is the current one.
    func changedValue(_ property: PropertySchema, of object: ManagedObject) -> Any? {
        guard property.isToMany else {
            let old = values[property.index]
            if case .unchanged = old { return object.isChanged(property) ? object.committedValue(property) : nil }
            guard !old.isSame(as: object.currentValue(property)) else { return nil }
            switch old {
            case .object(let destination): return destination
            case .value(let value): return object.transformedValue(value, property) ?? NSNull()
            case .null, .unchanged: return NSNull()
            }
        }
        guard let state = object.toMany[property.index] else { return nil }
        let old = relationships[property.index] ?? Relationship()
        if let members = old.members, state.isLoaded {
            let isSame = property.isOrdered ? members == state.members : Set(members) == Set(state.members)
            return isSame ? nil : ManagedObject.plain(members, property)
        }
        guard Set(old.added) != Set(state.added) || Set(old.removed) != Set(state.removed) || state.isRearranged else {
            return nil
        }
        let stored = object.members(property.index).filter { !state.added.contains($0) } + state.removed
        return ManagedObject.plain(stored.filter { !old.removed.contains($0) } + old.added, property)
    }
}
