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
    @inlinable
    public static func _read(from object: ManagedObject, _ index: Int) -> Wrapped? {
        Wrapped._read(object, index)
    }

    @inlinable
    public static var _isInRow: Bool { Wrapped._isInRow }

    @inlinable
    @inline(__always)
    public static func _read(at location: StoredValueLocation) -> Wrapped? { Wrapped._read(at: location) }

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
    public static var _isInRow: Bool { false }

    public static func _read(at location: StoredValueLocation) -> Self {
        incorrectUse("\(Self.self) cannot be read from a row.")
    }

    @inlinable
    public var _attributeValue: AttributeValue? { attributeValue }

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
    @inlinable
    public static var _isInRow: Bool { true }

    @inlinable
    @inline(__always)
    public static func _read(at location: StoredValueLocation) -> Self { Self(truncatingIfNeeded: location.integer) }
}

extension Int: AttributeRepresentable {}
extension Int16: AttributeRepresentable {}
extension Int32: AttributeRepresentable {}
extension Int64: AttributeRepresentable {}

extension Bool: AttributeRepresentable {
    @inlinable
    public static var _isInRow: Bool { true }

    @inlinable
    @inline(__always)
    public static func _read(at location: StoredValueLocation) -> Bool { location.integer != 0 }
}

extension Double: AttributeRepresentable {
    @inlinable
    public static var _isInRow: Bool { true }

    @inlinable
    @inline(__always)
    public static func _read(at location: StoredValueLocation) -> Double { location.real }
}

extension Float: AttributeRepresentable {
    @inlinable
    public static var _isInRow: Bool { true }

    @inlinable
    @inline(__always)
    public static func _read(at location: StoredValueLocation) -> Float { Float(location.real) }
}

extension String: AttributeRepresentable {
    @inlinable
    public static var _isInRow: Bool { true }

    @inlinable
    @inline(__always)
    public static func _read(at location: StoredValueLocation) -> String { location.text }
}

extension Date: AttributeRepresentable {
    @inlinable
    public static var _isInRow: Bool { true }

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
