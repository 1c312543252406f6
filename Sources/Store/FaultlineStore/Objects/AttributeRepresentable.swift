public import FaultlineModel
public import Foundation

/// A type that an ``AttributeKey`` can read and write: an ``AttributeScalar`` or an optional one.
public protocol AttributeRepresentable {
    static func _read(from object: ManagedObject, _ index: Int) -> Self
    /// Whether a row stores values of this type directly.
    static var _isInRow: Bool { get }
    static func _read(at location: StoredValueLocation) -> Self
    var _attributeValue: AttributeValue? { get }
    /// Whether this type can read and write an attribute of that type.
    static func _isStored(as type: AttributeType) -> Bool
}

extension Optional: AttributeRepresentable where Wrapped: AttributeScalar {
    /// Reads an attribute of an object.
    @inlinable
    public static func _read(from object: ManagedObject, _ index: Int) -> Wrapped? {
        Wrapped._read(object, index)
    }

    /// Whether a row stores values of this type directly.
    @inlinable
    public static var _isInRow: Bool { Wrapped._isInRow }

    /// Reads the value at a place in a row.
    @inlinable
    @inline(__always)
    public static func _read(at location: StoredValueLocation) -> Wrapped? { Wrapped._read(at: location) }

    /// The value as the store keeps it.
    @inlinable
    public var _attributeValue: AttributeValue? { map(\.attributeValue) }

    /// Whether this type can read and write an attribute of that type.
    public static func _isStored(as type: AttributeType) -> Bool { Wrapped._isStored(as: type) }
}

extension AttributeScalar {
    /// Reads an attribute of an object.
    @inlinable
    public static func _read(from object: ManagedObject, _ index: Int) -> Self {
        Self._read(object, index) ?? object._default(index)
    }

    /// Whether a row stores values of this type directly.
    @inlinable
    public static var _isInRow: Bool { false }

    /// Reads the value at a place in a row.
    public static func _read(at location: StoredValueLocation) -> Self {
        incorrectUse("\(Self.self) cannot be read from a row.")
    }

    /// The value as the store keeps it.
    @inlinable
    public var _attributeValue: AttributeValue? { attributeValue }

    /// Whether this type can read and write an attribute of that type.
    public static func _isStored(as type: AttributeType) -> Bool {
        if Self.self == AttributeValue.self { return true }
        let sample = zeroValue.attributeValue
        switch (sample, type) {
        // A row stores Boolean values as integers, so either type reads the other.
        case (.integer, .boolean), (.boolean, .integer16), (.boolean, .integer32), (.boolean, .integer64): return true
        default: return sample.fits(type)
        }
    }
}

extension AttributeScalar where Self: FixedWidthInteger {
    /// Whether a row stores values of this type directly.
    @inlinable
    public static var _isInRow: Bool { true }

    /// Reads the value at a place in a row.
    @inlinable
    @inline(__always)
    public static func _read(at location: StoredValueLocation) -> Self { Self(truncatingIfNeeded: location.integer) }
}

extension Int: AttributeRepresentable {}
extension Int16: AttributeRepresentable {}
extension Int32: AttributeRepresentable {}
extension Int64: AttributeRepresentable {}

extension Bool: AttributeRepresentable {
    /// Whether a row stores values of this type directly.
    @inlinable
    public static var _isInRow: Bool { true }

    /// Reads the value at a place in a row.
    @inlinable
    @inline(__always)
    public static func _read(at location: StoredValueLocation) -> Bool { location.integer != 0 }
}

extension Double: AttributeRepresentable {
    /// Whether a row stores values of this type directly.
    @inlinable
    public static var _isInRow: Bool { true }

    /// Reads the value at a place in a row.
    @inlinable
    @inline(__always)
    public static func _read(at location: StoredValueLocation) -> Double { location.real }
}

extension Float: AttributeRepresentable {
    /// Whether a row stores values of this type directly.
    @inlinable
    public static var _isInRow: Bool { true }

    /// Reads the value at a place in a row.
    @inlinable
    @inline(__always)
    public static func _read(at location: StoredValueLocation) -> Float { Float(location.real) }
}

extension String: AttributeRepresentable {
    /// Whether a row stores values of this type directly.
    @inlinable
    public static var _isInRow: Bool { true }

    /// Reads the value at a place in a row.
    @inlinable
    @inline(__always)
    public static func _read(at location: StoredValueLocation) -> String { location.text }
}

extension Date: AttributeRepresentable {
    /// Whether a row stores values of this type directly.
    @inlinable
    public static var _isInRow: Bool { true }

    /// Reads the value at a place in a row.
    @inlinable
    @inline(__always)
    public static func _read(at location: StoredValueLocation) -> Date {
        Date(timeIntervalSinceReferenceDate: location.real)
    }
}

extension Data: AttributeRepresentable {}
extension UUID: AttributeRepresentable {}
extension URL: AttributeRepresentable {}
extension Decimal: AttributeRepresentable {}
