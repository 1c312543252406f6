import Foundation
import Synchronization

/// Converts the values of a transformable attribute to bytes and back.
///
/// A model names the transformer of an attribute (`AttributeDescription.valueTransformerName`); the program registers
/// one under that name before it reads or sets the attribute by name:
///
///     final class ColorTransformer: ValueTransformer {
///         override func transformedValue(_ value: Any?) -> Any? { (value as? Color)?.data }
///         override func reverseTransformedValue(_ value: Any?) -> Any? { (value as? Data).flatMap { Color($0) } }
///     }
///     ValueTransformer.setValueTransformer(ColorTransformer(), forName: "ColorTransformer")
///
/// As with Core Data, ``transformedValue(_:)`` converts toward the store; only ``SecureUnarchiveFromDataTransformer``
/// and its subclasses use the opposite direction. Replaces Foundation's class of the same name, which Linux does not
/// have.
open class ValueTransformer: @unchecked Sendable {
    // Has no state. State added by a subclass must be safe to use from the queues of all contexts.

    /// Creates a transformer.
    public init() {}

    /// Whether values can be transformed back.
    ///
    /// Default: yes.
    open class func allowsReverseTransformation() -> Bool { true }

    /// Returns the transformed value; `nil` if there is none.
    ///
    /// Default: the value itself.
    open func transformedValue(_ value: Any?) -> Any? { value }

    /// Returns the original of a transformed value; `nil` if there is none.
    ///
    /// Default: ``transformedValue(_:)``, for transformers that are their own inverse.
    open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }

    // MARK: - Transformers by name

    private static let registered = Mutex<[ValueTransformerName: ValueTransformer]>([:])

    /// Registers a transformer under a name; `nil` removes it.
    public static func setValueTransformer(_ transformer: ValueTransformer?, forName name: ValueTransformerName) {
        registered.withLock { $0[name] = transformer }
    }

    /// Returns the transformer registered under a name, or the store's own.
    public static func valueTransformer(forName name: ValueTransformerName) -> ValueTransformer? {
        if let known = registered.withLock({ $0[name] }) { return known }
        return ValueTransformerName.unarchiving.contains(name) ? SecureUnarchiveFromDataTransformer.shared : nil
    }

    /// Returns the names of all registered transformers, sorted.
    public static func valueTransformerNames() -> [ValueTransformerName] {
        registered.withLock { $0.keys.sorted { $0.rawValue < $1.rawValue } }
    }
}

/// The name of a ``ValueTransformer``.
public struct ValueTransformerName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
    /// The name.
    public let rawValue: String

    /// Creates a name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates a name from its text.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates one from text in quotation marks.
    public init(stringLiteral value: String) {
        rawValue = value
    }

    /// The transformer of attributes that name none: ``SecureUnarchiveFromDataTransformer``.
    public static let secureUnarchiveFromDataTransformerName: Self = "NSSecureUnarchiveFromData"

    /// The names that Core Data uses for archives.
    fileprivate static let unarchiving: Set<Self> = [
        secureUnarchiveFromDataTransformerName, "NSSecureUnarchiveFromDataTransformer", "NSKeyedUnarchiveFromData",
        "NSUnarchiveFromData",
    ]
}
