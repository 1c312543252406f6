public import FaultlineModel
public import Foundation

/// A Swift type for the values of attributes.
public protocol AttributeScalar: Sendable, FetchPredicateArgument {
    /// The value as the store and predicates represent it.
    var attributeValue: AttributeValue { get }

    /// Creates the equivalent value of this type, if there is one.
    init?(_ value: AttributeValue)

    /// The value of an attribute that has neither a value nor a default.
    static var zeroValue: Self { get }

    /// Reads an attribute for ``ManagedObject``; `nil` if it has no value.
    static func _read(_ object: ManagedObject, _ index: Int) -> Self?

    /// Whether a row stores values of this type directly, which allows reading them without the object.
    static var _isInRow: Bool { get }

    /// Reads a value from a row; called only if ``_isInRow`` is true.
    static func _read(at position: StoredValueLocation) -> Self
}

extension AttributeScalar where Self: BinaryInteger {
    /// The value as the store and predicates represent it.
    public var attributeValue: AttributeValue { .integer(Int64(self)) }
    /// The value of a required attribute before one is set.
    public static var zeroValue: Self { 0 }

    /// Converts a stored value.
    ///
    /// - Returns: `nil` if the value has another type.
    public init?(_ value: AttributeValue) {
        switch value {
        case .integer(let value): self.init(exactly: value)
        case .boolean(let value): self = value ? 1 : 0
        default: return nil
        }
    }
}

extension Int: AttributeScalar {
    /// Reads an attribute of an object.
    public static func _read(_ object: ManagedObject, _ index: Int) -> Int? {
        object.readInteger(index).map { Int($0) }
    }
}

extension Int16: AttributeScalar {
    /// Reads an attribute of an object.
    public static func _read(_ object: ManagedObject, _ index: Int) -> Int16? {
        object.readInteger(index).map { Int16(truncatingIfNeeded: $0) }
    }
}

extension Int32: AttributeScalar {
    /// Reads an attribute of an object.
    public static func _read(_ object: ManagedObject, _ index: Int) -> Int32? {
        object.readInteger(index).map { Int32(truncatingIfNeeded: $0) }
    }
}

extension Int64: AttributeScalar {
    /// Reads an attribute of an object.
    public static func _read(_ object: ManagedObject, _ index: Int) -> Int64? { object.readInteger(index) }
}

extension Bool: AttributeScalar {
    /// The value as the store and predicates represent it.
    public var attributeValue: AttributeValue { .boolean(self) }
    /// The value of a required attribute before one is set.
    public static var zeroValue: Bool { false }

    /// Converts a stored value.
    ///
    /// - Returns: `nil` if the value has another type.
    public init?(_ value: AttributeValue) {
        switch value {
        case .boolean(let value): self = value
        case .integer(let value): self = value != 0
        default: return nil
        }
    }

    /// Reads an attribute of an object.
    public static func _read(_ object: ManagedObject, _ index: Int) -> Bool? {
        object.readInteger(index).map { $0 != 0 }
    }
}

extension Double: AttributeScalar {
    /// The value as the store and predicates represent it.
    public var attributeValue: AttributeValue { .double(self) }
    /// The value of a required attribute before one is set.
    public static var zeroValue: Double { 0 }

    /// Converts a stored value.
    ///
    /// - Returns: `nil` if the value has another type.
    public init?(_ value: AttributeValue) {
        switch value {
        case .double(let value): self = value
        case .integer(let value): self = Double(value)
        default: return nil
        }
    }

    /// Reads an attribute of an object.
    public static func _read(_ object: ManagedObject, _ index: Int) -> Double? { object.readReal(index) }
}

extension Float: AttributeScalar {
    /// The value as the store and predicates represent it.
    public var attributeValue: AttributeValue { .double(Double(self)) }
    /// The value of a required attribute before one is set.
    public static var zeroValue: Float { 0 }

    /// Converts a stored value.
    ///
    /// - Returns: `nil` if the value has another type.
    public init?(_ value: AttributeValue) {
        guard let value = Double(value) else { return nil }
        self = Float(value)
    }

    /// Reads an attribute of an object.
    public static func _read(_ object: ManagedObject, _ index: Int) -> Float? {
        object.readReal(index).map { Float($0) }
    }
}

extension String: AttributeScalar {
    /// The value as the store and predicates represent it.
    public var attributeValue: AttributeValue { .string(self) }
    /// The value of a required attribute before one is set.
    public static var zeroValue: String { "" }

    /// Converts a stored value.
    ///
    /// - Returns: `nil` if the value has another type.
    public init?(_ value: AttributeValue) {
        guard case .string(let value) = value else { return nil }
        self = value
    }

    /// Reads an attribute of an object.
    public static func _read(_ object: ManagedObject, _ index: Int) -> String? { object.readText(index) }
}

extension Date: AttributeScalar {
    /// The value as the store and predicates represent it.
    public var attributeValue: AttributeValue { .date(self) }
    /// 2001-01-01 00:00 UTC.
    public static var zeroValue: Date { Date(timeIntervalSinceReferenceDate: 0) }

    /// Converts a stored value.
    ///
    /// - Returns: `nil` if the value has another type.
    public init?(_ value: AttributeValue) {
        guard case .date(let value) = value else { return nil }
        self = value
    }

    /// Reads an attribute of an object.
    public static func _read(_ object: ManagedObject, _ index: Int) -> Date? {
        object.readReal(index).map { Date(timeIntervalSinceReferenceDate: $0) }
    }
}

extension Data: AttributeScalar {
    /// The value as the store and predicates represent it.
    public var attributeValue: AttributeValue { .binary(self) }
    /// The value of a required attribute before one is set.
    public static var zeroValue: Data { Data() }

    /// Converts a stored value.
    ///
    /// - Returns: `nil` if the value has another type.
    public init?(_ value: AttributeValue) {
        guard case .binary(let value) = value else { return nil }
        self = value
    }

    /// Reads an attribute of an object.
    public static func _read(_ object: ManagedObject, _ index: Int) -> Data? { object.readData(index) }
}
