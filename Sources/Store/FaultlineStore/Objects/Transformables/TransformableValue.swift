public import FaultlineModel
import Foundation

/// A custom type that an ``AttributeKey`` reads from a transformable or binary attribute.
///
///     struct Color: Codable, TransformableValue {
///         var red, green, blue: Double
///         static let zeroValue = Color(red: 0, green: 0, blue: 0)
///     }
///     static let color = AttributeKey<Color?>("color")
///
/// A `Codable` type is stored as JSON unless it provides another transformer. Every read decodes the bytes. Bytes that
/// cannot be decoded read as no value, and the next fetch or save of the context throws.
public protocol TransformableValue: AttributeScalar, AttributeRepresentable {
    /// The transformer between values of this type and bytes; see ``ValueTransformer`` for the direction.
    static var valueTransformer: ValueTransformer { get }
}

extension TransformableValue where Self: Codable {
    /// A transformer that encodes values as JSON.
    public static var valueTransformer: ValueTransformer { CodableTransformer<Self>() }
}

extension TransformableValue {
    /// The encoded value.
    public var attributeValue: AttributeValue {
        guard let data = Self.valueTransformer.data(self) else {
            incorrectUse("A \(Self.self) cannot be stored because its transformer returned no data for it: \(self).")
        }
        return .binary(data)
    }

    /// Converts a stored value.
    ///
    /// - Returns: `nil` if the value has another type.
    public init?(_ value: AttributeValue) {
        guard case .binary(let data) = value, let found = Self.valueTransformer.value(data) as? Self else { return nil }
        self = found
    }

    /// Reads an attribute of an object.
    public static func _read(_ object: ManagedObject, _ index: Int) -> Self? {
        guard case .binary(let data)? = object.readValue(index) else { return nil }
        if let found = valueTransformer.value(data) as? Self { return found }
        object.observeUnreadable(index, data, as: "\(Self.self)")
        return nil
    }
}

/// A transformer that stores `Codable` values as JSON or as binary property lists.
///
/// Equal values produce equal bytes if their encoding has a fixed order: keys are sorted, but the members of a `Set`
/// are not.
public final class CodableTransformer<Value: Codable>: ValueTransformer, @unchecked Sendable {
    /// The format of the encoded bytes.
    public enum Format: Sendable {
        /// JSON.
        case json
        /// A binary property list; its top-level value must be an array or a dictionary.
        case propertyList
    }

    private let format: Format

    /// Creates a transformer for a format.
    ///
    /// - Parameter format: Default: JSON, which encodes non-finite numbers as the strings `nan`, `inf` and `-inf`.
    public init(_ format: Format = .json) {
        self.format = format
    }

    public override func transformedValue(_ value: Any?) -> Any? {
        guard let value = value as? Value else { return nil }
        switch format {
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            encoder.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
            return try? encoder.encode(value)
        case .propertyList:
            let encoder = PropertyListEncoder()
            encoder.outputFormat = .binary
            return try? encoder.encode(value)
        }
    }

    public override func reverseTransformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        switch format {
        case .json:
            let decoder = JSONDecoder()
            decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
            return try? decoder.decode(Value.self, from: data)
        case .propertyList:
            // Foundation expands shared objects without a bound.
            guard (try? PropertyListValue(data, limit: PropertyListValue.Limit.value(data))) != nil else { return nil }
            return try? PropertyListDecoder().decode(Value.self, from: data)
        }
    }
}
