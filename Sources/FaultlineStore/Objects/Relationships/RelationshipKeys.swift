import CStore
import FaultlineModel

/// The name of a to-one relationship with the class of its destination; see ``AttributeKey``.
public final class ToOneKey<Destination: ManagedObject>: @unchecked Sendable {
    public let name: String
    // Read and written as a word; see `AttributeKey`.
    @exclusivity(unchecked)
    @usableFromInline var place: PropertyPlace

    @inlinable
    public init(_ name: String) {
        self.name = name
        place = PropertyPlace()
    }

    func index(in object: ManagedObject) -> Int {
        place.index(of: name, .toOne, in: object.runtime)
    }
}

/// The name of a to-many relationship with the class of its destination; see ``AttributeKey``.
public final class ToManyKey<Destination: ManagedObject>: @unchecked Sendable {
    public let name: String
    // Read and written as a word; see `AttributeKey`.
    @exclusivity(unchecked)
    @usableFromInline var place: PropertyPlace

    @inlinable
    public init(_ name: String) {
        self.name = name
        place = PropertyPlace()
    }

    /// Not to be called: a key is a name, and an object has the members.
    @available(*, unavailable, message: "a key is only a name; write 'object[key].add(member)'")
    public func insert(_ object: Destination) { fatalError("unavailable") }

    /// Not to be called: a key is a name, and an object has the members.
    @available(*, unavailable, message: "a key is only a name; write 'object[key].add(member)'")
    public func add(_ object: Destination) { fatalError("unavailable") }

    func index(in object: ManagedObject) -> Int {
        place.index(of: name, .toMany, in: object.runtime)
    }
}

/// The name of an ordered to-many relationship with the class of its destination; see ``AttributeKey``.
public final class OrderedToManyKey<Destination: ManagedObject>: @unchecked Sendable {
    public let name: String
    // Read and written as a word; see `AttributeKey`.
    @exclusivity(unchecked)
    @usableFromInline var place: PropertyPlace

    @inlinable
    public init(_ name: String) {
        self.name = name
        place = PropertyPlace()
    }

    /// Not to be called: a key is a name, and an object has the members.
    @available(*, unavailable, message: "a key is only a name; write 'object[key].add(member)'")
    public func insert(_ object: Destination) { fatalError("unavailable") }

    /// Not to be called: a key is a name, and an object has the members.
    @available(*, unavailable, message: "a key is only a name; write 'object[key].add(member)'")
    public func add(_ object: Destination) { fatalError("unavailable") }

    func index(in object: ManagedObject) -> Int {
        place.index(of: name, .orderedToMany, in: object.runtime)
    }
}

/// Where a property stands in the entity that was asked last.
///
/// What is remembered was checked: reading takes the bytes of a row for what the key says they are.
@usableFromInline
struct PropertyPlace {
    /// The layout's number above, the property's index below; 0: not asked yet.
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

    /// The relationship of that name.
    ///
    /// Traps if it is none of the key's kind.
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

/// What a key takes a relationship for, in words.
enum RelationshipKind: String {
    case toOne = "a to-one relationship"
    case toMany = "a to-many relationship"
    case orderedToMany = "an ordered to-many relationship"

    /// An ordered relationship may be taken for one without order.
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
