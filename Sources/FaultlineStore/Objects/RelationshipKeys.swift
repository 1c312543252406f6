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
        place.index(in: object.runtime)
            ?? place.findRelationship(name, isToMany: false, in: object.runtime)
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

    func index(in object: ManagedObject) -> Int {
        place.index(in: object.runtime)
            ?? place.findRelationship(name, isToMany: true, in: object.runtime)
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

    func index(in object: ManagedObject) -> Int {
        place.index(in: object.runtime) ?? find(object.runtime)
    }

    @inline(never)
    private func find(_ runtime: EntityRuntime) -> Int {
        let property = PropertyPlace.property(name, runtime)
        precondition(
            property.isToMany && property.isOrdered,
            "'\(runtime.schema.name).\(name)' is \(property.kindText), not an ordered to-many relationship; correct the kind of its key."
        )
        return place.remember(property.index, in: runtime)
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
            preconditionFailure("Entity '\(runtime.schema.name)' has no property '\(name)'.")
        }
        return property
    }

    @inline(never)
    mutating func findRelationship(_ name: String, isToMany: Bool, in runtime: EntityRuntime) -> Int {
        let property = Self.property(name, runtime)
        precondition(
            isToMany ? property.isToMany : property.kind == .toOne,
            "'\(runtime.schema.name).\(name)' is \(property.kindText), not a to-\(isToMany ? "many" : "one") relationship; correct the kind of its key."
        )
        return remember(property.index, in: runtime)
    }

    mutating func remember(_ index: Int, in runtime: EntityRuntime) -> Int {
        cstore_store_word(&known, UInt64(runtime.layoutID) << 32 | UInt64(index))
        return index
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
