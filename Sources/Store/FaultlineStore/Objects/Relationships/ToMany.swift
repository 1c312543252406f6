import FaultlineModel

/// The objects of a to-many relationship.
///
/// A view of the object's state, not a copy: it reflects later changes. The first read fires the relationship's fault;
/// adding and removing do not. Members are ordered by primary key, followed by new objects.
///
/// An object retains the members that were read. Objects of a many-to-many relationship that was read from both sides
/// therefore retain each other: in a background context until the end of the `perform`, which then keeps only the
/// members' IDs; in a main context until one of them is refreshed or the context is reset.
public struct ToMany<Destination: ManagedObject> {
    let owner: ManagedObject
    private let index: Int

    init(_ owner: ManagedObject, _ index: Int) {
        self.owner = owner
        self.index = index
    }

    private var name: String { owner.runtime.schema.properties[index].name }

    /// Whether the members have not been loaded.
    ///
    /// Does not fire the fault.
    public var isFault: Bool { !owner.toManyState(index).isKnown }

    /// Adds an object, and sets the inverse.
    ///
    /// - Complexity: O(1); does not load the members.
    public func add(_ object: Destination) {
        owner.addMember(object, index)
    }

    /// Adds objects, and sets the inverse of each.
    public func add(contentsOf objects: some Sequence<Destination>) {
        for object in objects { owner.addMember(object, index) }
    }

    /// Unavailable; use ``add(_:)``.
    @available(*, unavailable, renamed: "add(_:)")
    public func insert(_ object: Destination) { fatalError("unavailable") }

    /// Unavailable; use ``add(_:)``.
    @available(*, unavailable, renamed: "add(_:)")
    public func append(_ object: Destination) { fatalError("unavailable") }

    /// Removes an object, and clears the inverse.
    public func remove(_ object: Destination) {
        owner.removeMember(object, index)
    }

    /// Removes all objects.
    public func removeAll() {
        owner.setToMany(index, [])
    }

    /// Whether the object is a member.
    ///
    /// Fires the fault.
    ///
    /// - Complexity: O(1) once the members are loaded.
    public func contains(_ object: Destination) -> Bool {
        _ = owner.members(index)
        return owner.toManyState(index).contains(object)
    }
}

extension ToMany: RandomAccessCollection {
    /// The position of the first element: 0.
    public var startIndex: Int { 0 }
    /// The position after the last element.
    public var endIndex: Int { owner.members(index).count }

    /// The member at a position.
    public subscript(position: Int) -> Destination {
        ManagedObject.cast(owner.members(index)[position], name)
    }

    /// Iterates over the current members; changes during the iteration are not seen.
    public func makeIterator() -> AnyIterator<Destination> {
        var members = owner.members(index).makeIterator()
        return AnyIterator { members.next().map { ManagedObject.cast($0, name) } }
    }
}

@available(
    *, unavailable,
    message: "a relationship's members belong to their context; pass their objectIDs, or the values that you need"
)
extension ToMany: Sendable {}
