/// The entities of a store, checked and ready to use.
///
/// A model is made in code, or loaded from a model file (``init(contentsOf:version:)``), and never changes:
///
///     let model = try ManagedObjectModel(entities: [
///         EntityDescription("Item", attributes: [AttributeDescription("name", .string)]),
///     ])
public final class ManagedObjectModel: Sendable {
    /// The entities in the order in which they were given.
    public let entities: [EntityDescription]
    /// Names that a program gives its versions of the model; they are written into the store's metadata.
    public let versionIdentifiers: [String]
    /// Named parts of the model.
    public let configurations: [ConfigurationDescription]
    /// Fetch requests that are kept in the model.
    public let fetchRequestTemplates: [FetchRequestTemplate]
    /// What attributes of the type ``AttributeType/composite`` are made of.
    public let compositeAttributes: [CompositeAttributeDescription]
    /// A digest of everything in the model that the store's layout depends on, as 16 hexadecimal digits.
    ///
    /// Equal for models that lay their stores out equally: optionality, defaults, delete rules and the order in which
    /// things are declared do not count.
    public let versionHash: String
    /// How the model is laid out in SQLite.
    package let schema: ModelSchema
    /// The element of the file that the model was loaded from.
    let origin: ModelElement?

    private let entitiesByName: [String: EntityDescription]

    /// Checks the entities and works out how they are laid out in a store.
    ///
    /// - Throws: ``ModelError`` if a name is used twice or cannot name a table or column; a parent, destination,
    ///   inverse, index element, constraint or configuration names nothing; an inverse does not point back; entities
    ///   inherit from each other in a circle; or a property's type and its default or options do not go together.
    ///   Not if a relationship has no inverse.
    public convenience init(
        entities: [EntityDescription], versionIdentifiers: [String] = [],
        configurations: [ConfigurationDescription] = [], fetchRequestTemplates: [FetchRequestTemplate] = [],
        compositeAttributes: [CompositeAttributeDescription] = []
    ) throws(ModelError) {
        try self.init(
            checking: entities, versionIdentifiers: versionIdentifiers, configurations: configurations,
            fetchRequestTemplates: fetchRequestTemplates, compositeAttributes: compositeAttributes, origin: nil)
    }

    init(
        checking entities: [EntityDescription], versionIdentifiers: [String],
        configurations: [ConfigurationDescription], fetchRequestTemplates: [FetchRequestTemplate],
        compositeAttributes: [CompositeAttributeDescription], origin: ModelElement?
    ) throws(ModelError) {
        try ModelCheck(entities, configurations).run()
        self.entities = entities
        self.versionIdentifiers = versionIdentifiers
        self.configurations = configurations
        self.fetchRequestTemplates = fetchRequestTemplates
        self.compositeAttributes = compositeAttributes
        self.origin = origin
        entitiesByName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
        schema = ModelSchema(entities, numbers: [:])
        versionHash = schema.digest
    }

    /// The entity of that name, or `nil`.
    public func entity(named name: String) -> EntityDescription? {
        entitiesByName[name]
    }

    /// The entities of the named configuration, or `nil` if there is none of that name.
    public func entities(forConfiguration name: String) -> [EntityDescription]? {
        configurations.first { $0.name == name }?.entities.compactMap { entitiesByName[$0] }
    }

    /// The fetch request of that name, or `nil`.
    public func fetchRequestTemplate(named name: String) -> FetchRequestTemplate? {
        fetchRequestTemplates.first { $0.name == name }
    }
}

extension ManagedObjectModel: Equatable {
    /// Whether two models describe the same; where things are declared does not count.
    public static func == (left: ManagedObjectModel, right: ManagedObjectModel) -> Bool {
        left.entities == right.entities && left.versionIdentifiers == right.versionIdentifiers
            && left.configurations == right.configurations
            && left.fetchRequestTemplates == right.fetchRequestTemplates
            && left.compositeAttributes == right.compositeAttributes
    }
}
