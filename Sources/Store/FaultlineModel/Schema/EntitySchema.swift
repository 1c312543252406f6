/// The layout of one entity: its number, its table, and the columns of its rows.
package final class EntitySchema: Sendable {
    package let name: String
    /// The index in ``ModelSchema/entities``.
    package let index: Int
    /// `Z_ENT`.
    package let number: Int64
    package let isAbstract: Bool
    /// The index of the parent; `nil` for the root of a tree.
    package let parent: Int?
    /// The index of the root of the tree.
    package let root: Int
    /// The indices of the entity itself and all that inherit from it.
    package let family: [Int]
    package let table: String
    /// Whether the table holds rows of more than one entity.
    package let isInTree: Bool
    /// All properties, inherited ones first.
    ///
    /// Within an entity, attributes come before relationships, each in alphabetical order. A property's index is the
    /// same in every entity that inherits it.
    package let properties: [PropertySchema]
    /// The columns of a row after `Z_PK` and `Z_OPT`, in the order of selection: attributes, then foreign keys, each
    /// in alphabetical order.
    package let columns: [ColumnSchema]
    package let declaredAt: String
    /// The entity's own uniqueness constraints, as indices of properties.
    package let uniquenessConstraints: [[Int]]
    /// Fetched properties by name, including inherited ones.
    package let fetchedProperties: [String: FetchedPropertyDescription]

    private let indexes: [String: Int]

    init(
        name: String, index: Int, number: Int64, isAbstract: Bool, parent: Int?, root: Int, family: [Int],
        table: String,
        isInTree: Bool, properties: [PropertySchema], columns: [ColumnSchema], declaredAt: String,
        uniquenessConstraints: [[String]] = [], fetchedProperties: [FetchedPropertyDescription] = []
    ) {
        self.name = name
        self.index = index
        self.number = number
        self.isAbstract = isAbstract
        self.parent = parent
        self.root = root
        self.family = family
        self.table = table
        self.isInTree = isInTree
        self.properties = properties
        self.columns = columns
        self.declaredAt = declaredAt
        let indexes = Dictionary(uniqueKeysWithValues: properties.map { ($0.name, $0.index) })
        self.indexes = indexes
        self.fetchedProperties = Dictionary(fetchedProperties.map { ($0.name, $0) }) { $1 }
        self.uniquenessConstraints = uniquenessConstraints.map { $0.compactMap { indexes[$0] } }
    }

    /// Returns the index of the property of that name, or `nil`.
    package func index(of property: String) -> Int? {
        indexes[property]
    }

    /// The properties that a composite attribute consists of, which have its name and a dot before their own.
    package func elements(of composite: String) -> [PropertySchema] {
        properties.filter { $0.name.hasPrefix(composite + ".") }
    }

    package func property(_ name: String) -> PropertySchema? {
        indexes[name].map { properties[$0] }
    }
}
