/// An option of
/// ``Attribute(_:type:isOptional:minimumValue:maximumValue:regularExpression:renamingIdentifier:versionHashModifier:userInfo:)``.
public struct AttributeOption: Sendable, Hashable {
    private enum Value: Hashable {
        case transient, unique, externalStorage, spotlight, preservesValueInHistoryOnDeletion, allowsCloudEncryption
        case derived(String)
        case transformable(String?)
    }

    private let value: Value

    /// The value exists in memory only and is never stored.
    public static let transient = AttributeOption(value: .transient)
    /// The value is unique among the entity's objects.
    public static let unique = AttributeOption(value: .unique)
    /// Large values are stored in files beside the store; for data only.
    public static let externalStorage = AttributeOption(value: .externalStorage)
    /// Spotlight finds objects by the value.
    public static let spotlight = AttributeOption(value: .spotlight)
    /// Persistent history keeps the value of a deleted object.
    public static let preservesValueInHistoryOnDeletion = AttributeOption(value: .preservesValueInHistoryOnDeletion)
    /// The value is encrypted in CloudKit.
    public static let allowsCloudEncryption = AttributeOption(value: .allowsCloudEncryption)

    /// The store computes the value from an expression: `"pages.@count"`, `"canonical:(title)"`, `"now()"`.
    public static func derived(_ expression: String) -> AttributeOption {
        AttributeOption(value: .derived(expression))
    }

    /// A transformer encodes the value: the one with a name, or else the default one.
    ///
    /// The attribute's type is `AttributeType.transformable`.
    public static func transformable(by transformerName: String? = nil) -> AttributeOption {
        AttributeOption(value: .transformable(transformerName))
    }

    func apply(to description: inout AttributeDescription) {
        switch value {
        case .transient: description.isTransient = true
        // EntityProperty turns this into an entity constraint.
        case .unique: break
        case .externalStorage: description.allowsExternalBinaryDataStorage = true
        case .spotlight: description.isIndexedBySpotlight = true
        case .preservesValueInHistoryOnDeletion: description.preservesValueInHistoryOnDeletion = true
        case .allowsCloudEncryption: description.allowsCloudEncryption = true
        case .derived(let expression): description.derivationExpression = expression
        case .transformable(let name):
            description.type = .transformable
            description.valueTransformerName = name
        }
    }
}
