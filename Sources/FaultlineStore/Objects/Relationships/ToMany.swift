import FaultlineModel

/// The objects at the other end of a to-many relationship.
///
/// A view of the object's state, not a copy: it shows later changes. The first look fires the relationship's fault;
/// adding and removing do not. The order is that of the keys, new objects behind them.
///
/// An object keeps the members that it has shown alive. Objects of a many-to-many relationship that was looked at from
/// both sides therefore keep each other: in a background context until the end of the `perform`, which remembers who the
/// members are; in a main context until one of them is refreshed or the context is reset.
public struct ToMany<Destination: ManagedObject> {
    let owner: ManagedObject
    private let index: Int

    init(_ owner: ManagedObject, _ index: Int) {
        self.owner = owner
        self.index = index
    }

    private var name: String { owner.runtime.schema.properties[index].name }

    /// Whether the members were not asked for yet.
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

    /// Not to be called: a relationship is no set, and its members are added.
    @available(*, unavailable, renamed: "add(_:)")
    public func insert(_ object: Destination) { fatalError("unavailable") }

    /// Not to be called: a relationship is no array, and its members are added.
    @available(*, unavailable, renamed: "add(_:)")
    public func append(_ object: Destination) { fatalError("unavailable") }

    /// Takes an object out, and sets the inverse.
    public func remove(_ object: Destination) {
        owner.removeMember(object, index)
    }

    /// Takes all objects out.
    public func removeAll() {
        owner.setToMany(index, [])
    }

    /// Whether the object is a member.
    ///
    /// Fires the fault.
    ///
    /// - Complexity: O(1) once the members are there.
    public func contains(_ object: Destination) -> Bool {
        _ = owner.members(index)
        return owner.toManyState(index).contains(object)
    }
}

extension ToMany: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { owner.members(index).count }

    public subscript(position: Int) -> Destination {
        ManagedObject.cast(owner.members(index)[position], name)
    }

    /// Goes over the members as they are now; changes meanwhile are not seen.
    public func makeIterator() -> AnyIterator<Destination> {
        var members = owner.members(index).makeIterator()
        return AnyIterator { members.next().map { ManagedObject.cast($0, name) } }
    }
}

@available(
    *, unavailable,
    message: "a relationship's members stay with their context; hand on their objectIDs, or the values that you need"
)
extension ToMany: Sendable {}
