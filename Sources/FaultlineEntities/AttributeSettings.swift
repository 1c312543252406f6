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
