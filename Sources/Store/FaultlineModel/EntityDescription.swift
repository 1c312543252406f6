/// A kind of object: its name and its properties.
public struct EntityDescription: Sendable, Hashable {
    /// The name, unique in the model.
    public var name: String
    /// The name of the parent entity.
    ///
    /// All entities of an inheritance tree share one table.
    public var parent: String?
    /// Whether only entities that inherit from this one have objects.
    public var isAbstract: Bool
    /// Its own attributes, without inherited ones.
    public var attributes: [AttributeDescription]
    /// Its own relationships, without inherited ones.
    public var relationships: [RelationshipDescription]
    /// Properties whose objects are found by a fetch request.
    public var fetchedProperties: [FetchedPropertyDescription]
    /// The indexes of the entity's table, besides those that the store creates itself.
    public var indexes: [FetchIndexDescription]
    /// Names of properties for indexes in the old form, one list per index; newer models have ``indexes``.
    public var compoundIndexes: [[String]]
    /// Names of properties that are unique together, one list per constraint.
    public var uniquenessConstraints: [[String]]
    /// The name of the class of the entity's objects; a leading dot stands for the program's own module.
    public var managedObjectClassName: String?
    /// The code to generate for the entity's class: `"class"`, `"category"` or, with `nil`, none.
    public var codeGenerationType: String?
    /// Whether the entity is synchronized.
    public var isSyncable: Bool
    /// The name that the entity had in an earlier version of the model, for migration.
    public var renamingIdentifier: String?
    /// Text that changes the version of the entity although nothing else about it changed.
    public var versionHashModifier: String?
    /// The expression for the name under which Spotlight shows an object.
    public var coreSpotlightDisplayNameExpression: String?
    /// The notes of the model's author.
    public var userInfo: [String: String]
    var origin: Origin

    /// Creates an entity; concrete and without a parent unless specified otherwise.
    public init(
        _ name: String, parent: String? = nil, isAbstract: Bool = false, attributes: [AttributeDescription] = [],
        relationships: [RelationshipDescription] = [], fetchedProperties: [FetchedPropertyDescription] = [],
        indexes: [FetchIndexDescription] = [], compoundIndexes: [[String]] = [],
        uniquenessConstraints: [[String]] = [], managedObjectClassName: String? = nil,
        codeGenerationType: String? = nil, isSyncable: Bool = true, renamingIdentifier: String? = nil,
        versionHashModifier: String? = nil, coreSpotlightDisplayNameExpression: String? = nil,
        userInfo: [String: String] = [:], fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.name = name
        self.parent = parent
        self.isAbstract = isAbstract
        self.attributes = attributes
        self.relationships = relationships
        self.fetchedProperties = fetchedProperties
        self.indexes = indexes
        self.compoundIndexes = compoundIndexes
        self.uniquenessConstraints = uniquenessConstraints
        self.managedObjectClassName = managedObjectClassName
        self.codeGenerationType = codeGenerationType
        self.isSyncable = isSyncable
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
        self.coreSpotlightDisplayNameExpression = coreSpotlightDisplayNameExpression
        self.userInfo = userInfo
        origin = Origin(fileID, line)
    }

    /// The line that declares the entity: `"Groceries/Model.swift:12"`.
    public var declaredAt: String {
        get { origin.declaredAt }
        set { origin.declaredAt = newValue }
    }
}
