/// A property of an entity that holds a value.
public struct AttributeDescription: Sendable, Hashable {
    public var name: String
    public var type: AttributeType
    /// Whether an object can be saved without a value.
    public var isOptional: Bool
    /// Whether the value lives in memory only and is never stored.
    public var isTransient: Bool
    /// What a new object holds.
    public var defaultValue: AttributeValue?
    /// Whether large values are kept in files beside the store (``AttributeType/binary`` and
    /// ``AttributeType/transformable`` only).
    public var allowsExternalBinaryDataStorage: Bool
    /// The expression that the store works the value out from: `"pages.@count"`, `"now()"`; `nil`: it is set.
    public var derivationExpression: String?
    /// The least value that an object can be saved with, for text the least number of characters.
    public var minimumValue: AttributeValue?
    /// The greatest value that an object can be saved with, for text the greatest number of characters.
    public var maximumValue: AttributeValue?
    /// What text must look like for an object to be saved.
    public var regularExpression: String?
    /// The name of the transformer that archives a ``AttributeType/transformable`` value.
    public var valueTransformerName: String?
    /// The name of the class of a ``AttributeType/transformable`` value.
    public var attributeValueClassName: String?
    /// Whether generated accessors have a scalar type where there is one: `Int64` and not a number object.
    public var usesScalarValueType: Bool
    /// Whether an old model asks for an index over the attribute; newer ones have ``FetchIndexDescription``.
    public var isIndexed: Bool
    /// Whether Spotlight finds objects by the value.
    public var isIndexedBySpotlight: Bool
    /// Whether persistent history keeps the value of a deleted object.
    public var preservesValueInHistoryOnDeletion: Bool
    /// Whether the value is encrypted in CloudKit.
    public var allowsCloudEncryption: Bool
    /// Whether synchronisation takes the attribute along.
    public var isSyncable: Bool
    /// The name that the attribute had in an earlier version of the model, for migration.
    public var renamingIdentifier: String?
    /// Text that makes this version of the attribute another one, although nothing else about it changed.
    public var versionHashModifier: String?
    /// Whatever the model's author noted.
    public var userInfo: [String: String]
    var origin: Origin

    /// An attribute; optional, stored and without a default unless said otherwise.
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

    /// Where the attribute is declared: `"Groceries/Model.swift:12"`.
    ///
    /// A report names it as the line to change.
    public var declaredAt: String {
        get { origin.declaredAt }
        set { origin.declaredAt = newValue }
    }

    /// Whether the store works the value out.
    public var isDerived: Bool { derivationExpression != nil }
}
