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
        place.index(of: name, in: object)
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
        place.index(of: name, in: object)
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
        place.index(of: name, in: object)
    }
}

/// Where a property stands in the entity that was asked last.
private final class PropertyPlace: Sendable {
    /// The layout's number above, the property's index below; 0: not asked yet.
    private let known = Atomic<UInt64>(0)

    @inline(__always)
    func index(of name: String, in object: ManagedObject) -> Int {
        let known = known.load(ordering: .relaxed)
        if known >> 32 == UInt64(object.runtime.layoutID) { return Int(truncatingIfNeeded: known & 0xffff_ffff) }
        return find(name, object.runtime)
    }

    @inline(never)
    private func find(_ name: String, _ runtime: EntityRuntime) -> Int {
        guard let index = runtime.schema.index(of: name) else {
            preconditionFailure("Entity '\(runtime.schema.name)' has no property '\(name)'.")
        }
        known.store(UInt64(runtime.layoutID) << 32 | UInt64(index), ordering: .relaxed)
        return index
    }
}

/// What an ``AttributeKey`` can read and write: an ``AttributeScalar``, or an optional one.
public protocol AttributeRepresentable {
    static func _read(from object: ManagedObject, _ index: Int) -> Self
    var _attributeValue: AttributeValue? { get }
}

extension Optional: AttributeRepresentable where Wrapped: AttributeScalar {
    @inlinable
    public static func _read(from object: ManagedObject, _ index: Int) -> Wrapped? {
        Wrapped._read(object, index)
    }

    @inlinable
    public var _attributeValue: AttributeValue? { map(\.attributeValue) }
}

extension AttributeScalar {
    @inlinable
    public static func _read(from object: ManagedObject, _ index: Int) -> Self {
        Self._read(object, index) ?? object._default(index)
    }

    @inlinable
    public var _attributeValue: AttributeValue? { attributeValue }
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
