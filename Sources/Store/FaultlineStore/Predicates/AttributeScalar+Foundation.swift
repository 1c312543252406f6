public import FaultlineModel
public import Foundation

extension UUID: AttributeScalar {
    /// The value as the store and predicates represent it.
    public var attributeValue: AttributeValue { .uuid(self) }
    /// The UUID with only zero bits.
    public static var zeroValue: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }

    /// Converts a stored value.
    ///
    /// - Returns: `nil` if the value has another type.
    public init?(_ value: AttributeValue) {
        guard case .uuid(let value) = value else { return nil }
        self = value
    }

    /// Reads an attribute of an object.
    public static func _read(_ object: ManagedObject, _ index: Int) -> UUID? {
        guard case .uuid(let value)? = object.readValue(index) else { return nil }
        return value
    }
}

extension URL: AttributeScalar {
    /// The value as the store and predicates represent it.
    public var attributeValue: AttributeValue { .uri(self) }
    /// The URL `about:blank`.
    public static var zeroValue: URL { URL(string: "about:blank")! }

    /// Converts a stored value.
    ///
    /// - Returns: `nil` if the value has another type.
    public init?(_ value: AttributeValue) {
        guard case .uri(let value) = value else { return nil }
        self = value
    }

    /// Reads an attribute of an object.
    public static func _read(_ object: ManagedObject, _ index: Int) -> URL? {
        guard case .uri(let value)? = object.readValue(index) else { return nil }
        return value
    }
}

extension Decimal: AttributeScalar {
    /// The value as the store and predicates represent it.
    public var attributeValue: AttributeValue { .decimal(self) }
    /// The value of a required attribute before one is set.
    public static var zeroValue: Decimal { 0 }

    /// Converts a stored value.
    ///
    /// - Returns: `nil` if the value has another type.
    public init?(_ value: AttributeValue) {
        switch value {
        case .decimal(let value): self = value
        case .integer(let value): self = Decimal(value)
        default: return nil
        }
    }

    /// Reads an attribute of an object.
    public static func _read(_ object: ManagedObject, _ index: Int) -> Decimal? {
        guard case .decimal(let value)? = object.readValue(index) else { return nil }
        return value
    }
}

extension AttributeValue: AttributeScalar {
    /// The value as the store and predicates represent it.
    public var attributeValue: AttributeValue { self }
    /// The value of a required attribute before one is set.
    public static var zeroValue: AttributeValue { .integer(0) }

    /// Converts a stored value.
    ///
    /// - Returns: `nil` if the value has another type.
    public init?(_ value: AttributeValue) {
        self = value
    }

    /// Reads an attribute of an object.
    public static func _read(_ object: ManagedObject, _ index: Int) -> AttributeValue? { object.readValue(index) }
}
