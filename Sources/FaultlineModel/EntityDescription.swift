/// A kind of object: what it is called and what it holds.
public struct EntityDescription: Sendable, Hashable {
    public var name: String
    /// The name of the entity that this one inherits from.
    ///
    /// A whole tree of entities shares one table.
    public var parent: String?
    /// Whether there are no objects of this entity itself, only of those that inherit from it.
    public var isAbstract: Bool
    /// Its own attributes, without inherited ones.
    public var attributes: [AttributeDescription]
    /// Its own relationships, without inherited ones.
    public var relationships: [RelationshipDescription]
    /// Requests that are run to find what a property of an object holds.
    public var fetchedProperties: [FetchedPropertyDescription]
    public var indexes: [FetchIndexDescription]
    /// Names of properties over which an old model asks for one index each; newer ones have ``indexes``.
    public var compoundIndexes: [[String]]
    /// Names of properties of which no two objects have the same values.
    public var uniquenessConstraints: [[String]]
    /// The name of the class of the entity's objects; one that begins with a dot is in the program's own module.
    public var managedObjectClassName: String?
    /// What is generated for the entity's class: `"class"`, `"category"` or, with `nil`, nothing.
    public var codeGenerationType: String?
    /// Whether synchronisation takes the entity along.
    public var isSyncable: Bool
    /// The name that the entity had in an earlier version of the model, for migration.
    public var renamingIdentifier: String?
    /// Text that makes this version of the entity another one, although nothing else about it changed.
    public var versionHashModifier: String?
    /// The expression that gives the name under which Spotlight shows an object.
    public var coreSpotlightDisplayNameExpression: String?
    /// Whatever the model's author noted.
    public var userInfo: [String: String]
    var origin: Origin

    /// An entity; concrete and without a parent unless said otherwise.
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

    /// Where the entity is declared: `"Groceries/Model.swift:12"`.
    public var declaredAt: String {
        get { origin.declaredAt }
        set { origin.declaredAt = newValue }
    }
}
