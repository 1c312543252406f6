import Foundation

/// The settings of
/// ``Attribute(_:type:isOptional:minimumValue:maximumValue:regularExpression:renamingIdentifier:versionHashModifier:userInfo:)``.
public struct AttributeSettings: Sendable {
    let options: [AttributeOption]
    let type: AttributeType?
    let isOptional: Bool?
    private let minimumValue: AttributeValue?
    private let maximumValue: AttributeValue?
    private let regularExpression: String?
    private let renamingIdentifier: String?
    private let versionHashModifier: String?
    private let userInfo: [String: String]

    /// Creates settings from the macro's arguments.
    public init(
        _ options: AttributeOption..., type: AttributeType? = nil, isOptional: Bool? = nil,
        minimumValue: AttributeValue? = nil, maximumValue: AttributeValue? = nil, regularExpression: String? = nil,
        renamingIdentifier: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:]
    ) {
        self.options = options
        self.type = type
        self.isOptional = isOptional
        self.minimumValue = minimumValue
        self.maximumValue = maximumValue
        self.regularExpression = regularExpression
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
        self.userInfo = userInfo
    }

    /// Applies the settings that the attribute's key does not determine.
    func apply(to description: inout AttributeDescription) {
        // The limits of a string are numbers of characters.
        description.minimumValue = minimumValue?.converted(to: description.type)
        description.maximumValue = maximumValue?.converted(to: description.type)
        description.regularExpression = regularExpression
        description.renamingIdentifier = renamingIdentifier
        description.versionHashModifier = versionHashModifier
        description.userInfo = userInfo
        for option in options { option.apply(to: &description) }
    }
}

extension AttributeValue {
    /// Converts a number to the numeric type that attributes of a type store; leaves other values unchanged.
    func converted(to type: AttributeType) -> AttributeValue {
        switch (self, type) {
        case (.integer(let value), .double), (.integer(let value), .float): .double(Double(value))
        case (.integer(let value), .decimal): .decimal(Decimal(value))
        case (.boolean(let value), .integer16), (.boolean(let value), .integer32), (.boolean(let value), .integer64):
            .integer(value ? 1 : 0)
        case (.integer(let value), .boolean): .boolean(value != 0)
        default: self
        }
    }
}

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
