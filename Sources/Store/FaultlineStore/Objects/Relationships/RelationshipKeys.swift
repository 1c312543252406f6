import CStore
import FaultlineModel

/// The name of a to-one relationship with the class of its destination; see ``AttributeKey``.
public final class ToOneKey<Destination: ManagedObject>: @unchecked Sendable {
    /// The name of the relationship in the model.
    public let name: String
    // Read and written as a word; see `AttributeKey`.
    @exclusivity(unchecked)
    @usableFromInline var location: PropertyLocation

    /// Creates a key for the relationship with that name in the model.
    @inlinable
    public init(_ name: String) {
        self.name = name
        location = PropertyLocation()
    }

    func index(in object: ManagedObject) -> Int {
        location.index(of: name, .toOne, in: object.runtime)
    }
}

/// The name of a to-many relationship with the class of its destination; see ``AttributeKey``.
public final class ToManyKey<Destination: ManagedObject>: @unchecked Sendable {
    /// The name of the relationship in the model.
    public let name: String
    // Read and written as a word; see `AttributeKey`.
    @exclusivity(unchecked)
    @usableFromInline var location: PropertyLocation

    /// Creates a key for the relationship with that name in the model.
    @inlinable
    public init(_ name: String) {
        self.name = name
        location = PropertyLocation()
    }

    /// Unavailable; a key has no members, an object does.
    @available(*, unavailable, message: "a key is only a name; write 'object[key].add(member)'")
    public func insert(_ object: Destination) { fatalError("unavailable") }

    /// Unavailable; a key has no members, an object does.
    @available(*, unavailable, message: "a key is only a name; write 'object[key].add(member)'")
    public func add(_ object: Destination) { fatalError("unavailable") }

    func index(in object: ManagedObject) -> Int {
        location.index(of: name, .toMany, in: object.runtime)
    }
}

/// The name of an ordered to-many relationship with the class of its destination; see ``AttributeKey``.
public final class OrderedToManyKey<Destination: ManagedObject>: @unchecked Sendable {
    /// The name of the relationship in the model.
    public let name: String
    // Read and written as a word; see `AttributeKey`.
    @exclusivity(unchecked)
    @usableFromInline var location: PropertyLocation

    /// Creates a key for the relationship with that name in the model.
    @inlinable
    public init(_ name: String) {
        self.name = name
        location = PropertyLocation()
    }

    /// Unavailable; a key has no members, an object does.
    @available(*, unavailable, message: "a key is only a name; write 'object[key].add(member)'")
    public func insert(_ object: Destination) { fatalError("unavailable") }

    /// Unavailable; a key has no members, an object does.
    @available(*, unavailable, message: "a key is only a name; write 'object[key].add(member)'")
    public func add(_ object: Destination) { fatalError("unavailable") }

    func index(in object: ManagedObject) -> Int {
        location.index(of: name, .orderedToMany, in: object.runtime)
    }
}

/// The index of a property in the entity that was read last.
///
/// Only a checked index is cached: reading a row relies on the type that the key declares.
@usableFromInline
struct PropertyLocation {
    /// The layout's number in the upper half, the property's index in the lower; 0 if not looked up yet.
    @usableFromInline var known: UInt64

    @inlinable
    init() {
        known = 0
    }

    @inline(__always)
    mutating func index(in runtime: EntityRuntime) -> Int? {
        let known = cstore_load_word(&known)
        return known >> 32 == UInt64(runtime.layoutID) ? Int(truncatingIfNeeded: known & 0xffff_ffff) : nil
    }

    static func property(_ name: String, _ runtime: EntityRuntime) -> PropertySchema {
        guard let property = runtime.schema.property(name) else {
            incorrectUse("Entity '\(runtime.schema.name)' has no property '\(name)'.")
        }
        return property
    }

    /// Returns the index of the relationship with a name.
    ///
    /// Traps if the relationship is not of the key's kind.
    @inline(__always)
    mutating func index(of name: String, _ kind: RelationshipKind, in runtime: EntityRuntime) -> Int {
        index(in: runtime) ?? find(name, kind, in: runtime)
    }

    @inline(never)
    private mutating func find(_ name: String, _ kind: RelationshipKind, in runtime: EntityRuntime) -> Int {
        let property = Self.property(name, runtime)
        requireCorrectUse(
            kind.holds(property),
            "'\(runtime.schema.name).\(name)' is \(property.kindText), not \(kind.rawValue); correct the kind of its key."
        )
        return remember(property.index, in: runtime)
    }

    mutating func remember(_ index: Int, in runtime: EntityRuntime) -> Int {
        cstore_store_word(&known, UInt64(runtime.layoutID) << 32 | UInt64(index))
        return index
    }
}

/// The kind of relationship that a key expects, as errors describe it.
enum RelationshipKind: String {
    case toOne = "a to-one relationship"
    case toMany = "a to-many relationship"
    case orderedToMany = "an ordered to-many relationship"

    /// Whether a property is of this kind; an ordered relationship also counts as an unordered one.
    fileprivate func holds(_ property: PropertySchema) -> Bool {
        switch self {
        case .toOne: property.kind == .toOne
        case .toMany: property.isToMany
        case .orderedToMany: property.isToMany && property.isOrdered
        }
    }
}

extension PropertySchema {
    fileprivate var kindText: String {
        switch kind {
        case .attribute(let type): "an attribute of type \(type.rawValue)"
        case .toOne: "a to-one relationship"
        case .toMany, .manyToMany: "a to-many relationship"
        }
    }
}
