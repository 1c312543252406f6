import FaultlineModel

/// The objects of an ordered to-many relationship, in their order.
///
/// Like ``ToMany``, a view of the object's state, not a copy. New members are added at the end; the store keeps the
/// order.
public struct OrderedToMany<Destination: ManagedObject> {
    let owner: ManagedObject
    private let index: Int

    init(_ owner: ManagedObject, _ index: Int) {
        self.owner = owner
        self.index = index
        requireCorrectUse(
            owner.runtime.schema.properties[index].isOrdered,
            "'\(owner.entityName).\(owner.runtime.schema.properties[index].name)' is unordered; read it as ToMany.")
    }

    private var members: ToMany<Destination> { ToMany(owner, index) }

    /// Whether the members have not been loaded.
    ///
    /// Does not fire the fault.
    public var isFault: Bool { members.isFault }

    /// Adds an object at the end, and sets the inverse; an existing member keeps its position.
    ///
    /// - Complexity: O(1); does not load the members.
    public func add(_ object: Destination) { members.add(object) }

    /// Adds objects at the end, and sets the inverse of each.
    public func add(contentsOf objects: some Sequence<Destination>) { members.add(contentsOf: objects) }

    /// Unavailable; use ``add(_:)``.
    @available(*, unavailable, renamed: "add(_:)")
    public func append(_ object: Destination) { fatalError("unavailable") }

    /// Inserts an object before the one at an index, and sets the inverse; an existing member keeps its position.
    ///
    /// - Complexity: O(n); fires the fault.
    public func insert(_ object: Destination, at position: Int) {
        requireCorrectUse(
            indices.contains(position) || position == count,
            "Index \(position) is out of range; there are \(count) objects.")
        guard !contains(object) else { return }
        owner.addMember(object, index)
        owner.moveMember(from: count - 1, to: position, index)
    }

    /// Moves the object at an index to `target`, its index after the move.
    ///
    /// - Complexity: O(n); fires the fault.
    public func move(from position: Int, to target: Int) {
        requireCorrectUse(
            indices.contains(position) && indices.contains(target),
            "Index \(indices.contains(position) ? target : position) is out of range; there are \(count) objects.")
        owner.moveMember(from: position, to: target, index)
    }

    /// Removes an object, and clears the inverse.
    public func remove(_ object: Destination) { members.remove(object) }

    /// Removes the object at an index, and clears the inverse.
    @discardableResult
    public func remove(at position: Int) -> Destination {
        let object = self[position]
        members.remove(object)
        return object
    }

    /// Removes all objects.
    public func removeAll() { members.removeAll() }

    /// Whether the object is a member.
    ///
    /// Fires the fault.
    ///
    /// - Complexity: O(1) once the members are loaded.
    public func contains(_ object: Destination) -> Bool { members.contains(object) }
}

extension OrderedToMany: RandomAccessCollection {
    /// The position of the first element: 0.
    public var startIndex: Int { 0 }
    /// The position after the last element.
    public var endIndex: Int { members.endIndex }
    /// The member at a position.
    public subscript(position: Int) -> Destination { members[position] }

    /// Iterates over the current members; changes during the iteration are not seen.
    public func makeIterator() -> AnyIterator<Destination> { members.makeIterator() }
}

@available(
    *, unavailable,
    message: "a relationship's members belong to their context; pass their objectIDs, or the values that you need"
)
extension OrderedToMany: Sendable {}
