/// The entities of a store, checked and ready to use.
///
/// A model is made in code and never changes:
///
///     let model = try ManagedObjectModel(entities: [
///         EntityDescription("Item", attributes: [AttributeDescription("name", .string)]),
///     ])
public final class ManagedObjectModel: Sendable {
    /// The entities in the order in which they were given.
    public let entities: [EntityDescription]
    /// Names that a program gives its versions of the model; they are written into the store's metadata.
    public let versionIdentifiers: [String]
    /// A digest of everything in the model that the store's layout depends on, as 16 hexadecimal digits.
    ///
    /// Equal for models that lay their stores out equally: optionality, defaults, delete rules and the order in which
    /// things are declared do not count.
    public let versionHash: String
    /// How the model is laid out in SQLite.
    package let schema: ModelSchema

    private let entitiesByName: [String: EntityDescription]

    /// Checks the entities and works out how they are laid out in a store.
    ///
    /// - Throws: ``ModelError`` if a name is used twice, a parent, destination, inverse or index element names nothing,
    ///   an inverse does not point back, entities inherit from each other in a circle, or a property's type and its
    ///   default or options do not go together.
    public init(entities: [EntityDescription], versionIdentifiers: [String] = []) throws(ModelError) {
        try ModelCheck(entities).run()
        self.entities = entities
        self.versionIdentifiers = versionIdentifiers
        entitiesByName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
        schema = ModelSchema(entities, numbers: [:])
        versionHash = schema.digest
    }

    /// The entity of that name, or `nil`.
    public func entity(named name: String) -> EntityDescription? {
        entitiesByName[name]
    }
}
