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
    public var indexes: [FetchIndexDescription]
    /// Where the entity is declared: `"Groceries/Model.swift:12"`.
    public var declaredAt: String

    /// An entity; concrete and without a parent unless said otherwise.
    public init(
        _ name: String, parent: String? = nil, isAbstract: Bool = false, attributes: [AttributeDescription] = [],
        relationships: [RelationshipDescription] = [], indexes: [FetchIndexDescription] = [],
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.name = name
        self.parent = parent
        self.isAbstract = isAbstract
        self.attributes = attributes
        self.relationships = relationships
        self.indexes = indexes
        declaredAt = "\(fileID):\(line)"
    }
}
