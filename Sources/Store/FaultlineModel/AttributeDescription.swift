/// A property of an entity that holds a value.
public struct AttributeDescription: Sendable, Hashable {
    /// The name, unique among the properties of the entity.
    public var name: String
    /// The type of the values.
    public var type: AttributeType
    /// Whether an object can be saved without a value.
    public var isOptional: Bool
    /// Whether the value lives in memory only and is never stored.
    public var isTransient: Bool
    /// The value of a new object.
    public var defaultValue: AttributeValue?
    /// Whether large values are stored in files beside the store (``AttributeType/binary`` and
    /// ``AttributeType/transformable`` only).
    public var allowsExternalBinaryDataStorage: Bool
    /// The expression from which the store computes the value: `"pages.@count"`, `"now()"`; `nil` if the program sets
    /// it.
    public var derivationExpression: String?
    /// The minimum value, checked when an object is saved; for text, the minimum number of characters.
    public var minimumValue: AttributeValue?
    /// The maximum value, checked when an object is saved; for text, the maximum number of characters.
    public var maximumValue: AttributeValue?
    /// The pattern that text must match when an object is saved.
    public var regularExpression: String?
    /// The name of the transformer that archives a ``AttributeType/transformable`` value.
    public var valueTransformerName: String?
    /// The name of the class of a ``AttributeType/transformable`` value.
    public var attributeValueClassName: String?
    /// Whether generated accessors use a scalar type if there is one: `Int64` rather than a number object.
    public var usesScalarValueType: Bool
    /// Whether the model asks for an index on the attribute in the old form; newer models have
    /// ``FetchIndexDescription``.
    public var isIndexed: Bool
    /// Whether Spotlight finds objects by the value.
    public var isIndexedBySpotlight: Bool
    /// Whether persistent history keeps the value of a deleted object.
    public var preservesValueInHistoryOnDeletion: Bool
    /// Whether the value is encrypted in CloudKit.
    public var allowsCloudEncryption: Bool
    /// Whether the attribute is synchronized.
    public var isSyncable: Bool
    /// The attributes that a ``AttributeType/composite`` value consists of; empty if they are not known.
    ///
    /// The value of one is read under both names: `object["home.city"]`.
    public var elements: [AttributeDescription] = []
    /// The name that the attribute had in an earlier version of the model, for migration.
    public var renamingIdentifier: String?
    /// Text that changes the version of the attribute although nothing else about it changed.
    public var versionHashModifier: String?
    /// The notes of the model's author.
    public var userInfo: [String: String]
    var origin: Origin

    /// Creates an attribute; optional, stored and without a default unless specified otherwise.
    public init(
        _ name: String, _ type: AttributeType, isOptional: Bool = true, isTransient: Bool = false,
        defaultValue: AttributeValue? = nil, allowsExternalBinaryDataStorage: Bool = false,
        derivationExpression: String? = nil, minimumValue: AttributeValue? = nil, maximumValue: AttributeValue? = nil,
        regularExpression: String? = nil, valueTransformerName: String? = nil, attributeValueClassName: String? = nil,
        usesScalarValueType: Bool = false, isIndexed: Bool = false, isIndexedBySpotlight: Bool = false,
        preservesValueInHistoryOnDeletion: Bool = false, allowsCloudEncryption: Bool = false, isSyncable: Bool = true,
        renamingIdentifier: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:],
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.defaultValue = defaultValue
        self.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
        self.derivationExpression = derivationExpression
        self.minimumValue = minimumValue
        self.maximumValue = maximumValue
        self.regularExpression = regularExpression
        self.valueTransformerName = valueTransformerName
        self.attributeValueClassName = attributeValueClassName
        self.usesScalarValueType = usesScalarValueType
        self.isIndexed = isIndexed
        self.isIndexedBySpotlight = isIndexedBySpotlight
        self.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
        self.allowsCloudEncryption = allowsCloudEncryption
        self.isSyncable = isSyncable
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
        self.userInfo = userInfo
        origin = Origin(fileID, line)
    }

    /// The line that declares the attribute: `"Groceries/Model.swift:12"`.
    ///
    /// A report names it as the line to change.
    public var declaredAt: String {
        get { origin.declaredAt }
        set { origin.declaredAt = newValue }
    }

    /// Whether the store computes the value.
    public var isDerived: Bool { derivationExpression != nil }

    /// The type, with the elements of a composite one: `Composite of city (String), place (Composite of latitude (Double))`.
    package var typeWords: String {
        let words = elements.map { "\($0.name) (\($0.typeWords)\($0.isOptional ? "" : ", required"))" }
        return type.rawValue + (words.isEmpty ? "" : " of \(words.joined(separator: ", "))")
    }

    /// Whether the store has the attributes that the value consists of, rather than the value.
    var isDivided: Bool { type == .composite && !elements.isEmpty }

    /// Whether large values may be in files beside the store, if the model asks for it.
    package var canBeExternal: Bool { (type == .binary || type == .transformable) && !isTransient }
}
