import FaultlineModel

/// The objects at the other end of an ordered to-many relationship, in their order.
///
/// A view of the object's state, not a copy, as ``ToMany`` is. What is added stands at the end; the store keeps the
/// order.
public struct OrderedToMany<Destination: ManagedObject> {
    let owner: ManagedObject
    private let index: Int

    init(_ owner: ManagedObject, _ index: Int) {
        self.owner = owner
        self.index = index
        requireCorrectUse(
            owner.runtime.schema.properties[index].isOrdered,
            "'\(owner.entityName).\(owner.runtime.schema.properties[index].name)' has no order; read it as ToMany.")
    }

    private var members: ToMany<Destination> { ToMany(owner, index) }

    /// Whether the members were not asked for yet.
    ///
    /// Does not fire the fault.
    public var isFault: Bool { members.isFault }

    /// Adds an object at the end, and sets the inverse; one that is a member already stays where it is.
    ///
    /// - Complexity: O(1); does not load the members.
    public func add(_ object: Destination) { members.add(object) }

    /// Adds objects at the end, and sets the inverse of each.
    public func add(contentsOf objects: some Sequence<Destination>) { members.add(contentsOf: objects) }

    /// Not to be called: a relationship is no array, and its members are added.
    @available(*, unavailable, renamed: "add(_:)")
    public func append(_ object: Destination) { fatalError("unavailable") }

    /// Puts an object in front of the one at a place, and sets the inverse; one that is a member already stays where
    /// it is.
    ///
    /// - Complexity: O(n); fires the fault.
    public func insert(_ object: Destination, at place: Int) {
        requireCorrectUse(
            indices.contains(place) || place == count, "There is no place \(place) among \(count) objects.")
        guard !contains(object) else { return }
        owner.addMember(object, index)
        owner.moveMember(from: count - 1, to: place, index)
    }

    /// Moves the object at a place to another: afterwards it stands at `target`.
    ///
    /// - Complexity: O(n); fires the fault.
    public func move(from place: Int, to target: Int) {
        requireCorrectUse(
            indices.contains(place) && indices.contains(target),
            "There is no place \(indices.contains(place) ? target : place) among \(count) objects.")
        owner.moveMember(from: place, to: target, index)
    }

    /// Takes an object out, and sets the inverse.
    public func remove(_ object: Destination) { members.remove(object) }

    /// Takes the object at a place out, and sets the inverse.
    @discardableResult
    public func remove(at place: Int) -> Destination {
        let object = self[place]
        members.remove(object)
        return object
    }

    /// Takes all objects out.
    public func removeAll() { members.removeAll() }

    /// Whether the object is a member.
    ///
    /// Fires the fault.
    ///
    /// - Complexity: O(1) once the members are there.
    public func contains(_ object: Destination) -> Bool { members.contains(object) }
}

extension OrderedToMany: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { members.endIndex }
    public subscript(position: Int) -> Destination { members[position] }

    /// Goes over the members as they are now; changes meanwhile are not seen.
    public func makeIterator() -> AnyIterator<Destination> { members.makeIterator() }
}

@available(
    *, unavailable,
    message: "a relationship's members stay with their context; hand on their objectIDs, or the values that you need"
)
extension OrderedToMany: Sendable {}
