public import FaultlineModel
public import Foundation
import Synchronization

/// The name of an attribute with the type of its value, for accessors of hand-written classes.
///
///     final class Item: ManagedObject {
///         static let name = AttributeKey<String>("name")
///         var name: String {
///             get { self[Self.name] }
///             set { self[Self.name] = newValue }
///         }
///     }
///
/// An optional type reads as `nil` where there is no value; any other reads as the attribute's default, or else as
/// zero, empty or false.
///
/// - Complexity: the place of the attribute is looked up by name once and remembered.
public final class AttributeKey<Value: AttributeRepresentable>: Sendable {
    public let name: String
    private let place = PropertyPlace()

    public init(_ name: String) {
        self.name = name
    }

    @usableFromInline
    func index(in object: ManagedObject) -> Int {
        place.index(in: object.runtime) ?? find(object.runtime)
    }

    @inline(never)
    private func find(_ runtime: EntityRuntime) -> Int {
        let property = PropertyPlace.property(name, runtime)
        guard let type = property.attributeType else {
            preconditionFailure(
                "'\(runtime.schema.name).\(name)' is a relationship, not an attribute of type \(Value.self); name it in a ToOneKey or ToManyKey."
            )
        }
        precondition(
            Value._isStored(as: type),
            "'\(runtime.schema.name).\(name)' of type \(type.rawValue) cannot be read or set as \(Value.self); correct the type of its AttributeKey."
        )
        return place.remember(property.index, in: runtime)
    }
}

/// The name of a to-one relationship with the class of its destination; see ``AttributeKey``.
public final class ToOneKey<Destination: ManagedObject>: Sendable {
    public let name: String
    private let place = PropertyPlace()

    public init(_ name: String) {
        self.name = name
    }

    func index(in object: ManagedObject) -> Int {
        place.index(in: object.runtime)
            ?? place.findRelationship(name, isToMany: false, in: object.runtime)
    }
}

/// The name of a to-many relationship with the class of its destination; see ``AttributeKey``.
public final class ToManyKey<Destination: ManagedObject>: Sendable {
    public let name: String
    private let place = PropertyPlace()

    public init(_ name: String) {
        self.name = name
    }

    func index(in object: ManagedObject) -> Int {
        place.index(in: object.runtime)
            ?? place.findRelationship(name, isToMany: true, in: object.runtime)
    }
}

/// The name of an ordered to-many relationship with the class of its destination; see ``AttributeKey``.
public final class OrderedToManyKey<Destination: ManagedObject>: Sendable {
    public let name: String
    private let place = PropertyPlace()

    public init(_ name: String) {
        self.name = name
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
private final class PropertyPlace: Sendable {
    /// The layout's number above, the property's index below; 0: not asked yet.
    private let known = Atomic<UInt64>(0)

    @inline(__always)
    func index(in runtime: EntityRuntime) -> Int? {
        let known = known.load(ordering: .relaxed)
        return known >> 32 == UInt64(runtime.layoutID) ? Int(truncatingIfNeeded: known & 0xffff_ffff) : nil
    }

    static func property(_ name: String, _ runtime: EntityRuntime) -> PropertySchema {
        guard let property = runtime.schema.property(name) else {
            preconditionFailure("Entity '\(runtime.schema.name)' has no property '\(name)'.")
        }
        return property
    }

    @inline(never)
    func findRelationship(_ name: String, isToMany: Bool, in runtime: EntityRuntime) -> Int {
        let property = Self.property(name, runtime)
        precondition(
            isToMany ? property.isToMany : property.kind == .toOne,
            "'\(runtime.schema.name).\(name)' is \(property.kindText), not a to-\(isToMany ? "many" : "one") relationship; correct the kind of its key."
        )
        return remember(property.index, in: runtime)
    }

    func remember(_ index: Int, in runtime: EntityRuntime) -> Int {
        known.store(UInt64(runtime.layoutID) << 32 | UInt64(index), ordering: .relaxed)
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

/// What an ``AttributeKey`` can read and write: an ``AttributeScalar``, or an optional one.
public protocol AttributeRepresentable {
    static func _read(from object: ManagedObject, _ index: Int) -> Self
    var _attributeValue: AttributeValue? { get }
    /// Whether an attribute of that type keeps its values as this type reads them.
    static func _isStored(as type: AttributeType) -> Bool
}

extension Optional: AttributeRepresentable where Wrapped: AttributeScalar {
    @inlinable
    public static func _read(from object: ManagedObject, _ index: Int) -> Wrapped? {
        Wrapped._read(object, index)
    }

    @inlinable
    public var _attributeValue: AttributeValue? { map(\.attributeValue) }

    public static func _isStored(as type: AttributeType) -> Bool { Wrapped._isStored(as: type) }
}

extension AttributeScalar {
    @inlinable
    public static func _read(from object: ManagedObject, _ index: Int) -> Self {
        Self._read(object, index) ?? object._default(index)
    }

    @inlinable
    public var _attributeValue: AttributeValue? { attributeValue }

    public static func _isStored(as type: AttributeType) -> Bool {
        if Self.self == AttributeValue.self { return true }
        let sample = zeroValue.attributeValue
        switch (sample, type) {
        // Truth values are integers in a row, and the other way round.
        case (.integer, .boolean), (.boolean, .integer16), (.boolean, .integer32), (.boolean, .integer64): return true
        default: return sample.fits(type)
        }
    }
}

extension Int: AttributeRepresentable {}
extension Int16: AttributeRepresentable {}
extension Int32: AttributeRepresentable {}
extension Int64: AttributeRepresentable {}
extension Bool: AttributeRepresentable {}
extension Double: AttributeRepresentable {}
extension Float: AttributeRepresentable {}
extension String: AttributeRepresentable {}
extension Date: AttributeRepresentable {}
extension Data: AttributeRepresentable {}
extension UUID: AttributeRepresentable {}
extension URL: AttributeRepresentable {}
extension Decimal: AttributeRepresentable {}
