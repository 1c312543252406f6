internal import Foundation
internal import Synchronization

/// The entities of a store, validated and immutable.
///
/// A model is created in code, or loaded from a model file (``init(contentsOf:version:)``):
///
///     let model = try ManagedObjectModel(entities: [
///         EntityDescription("Item", attributes: [AttributeDescription("name", .string)]),
///     ])
public final class ManagedObjectModel: Sendable {
    /// The entities, in the order in which they were given.
    public let entities: [EntityDescription]
    /// The program's names for versions of the model, which are written to the store's metadata.
    public let versionIdentifiers: [String]
    /// Named subsets of the model's entities.
    public let configurations: [ConfigurationDescription]
    /// Fetch requests in the model.
    public let fetchRequestTemplates: [FetchRequestTemplate]
    /// The definitions of attributes of the type ``AttributeType/composite``.
    public let compositeAttributes: [CompositeAttributeDescription]
    /// A digest of the parts of the model that determine the store's layout, as 16 hexadecimal digits.
    ///
    /// Models with the same layout have equal digests: optionality, defaults, delete rules and the order of
    /// declarations do not matter.
    public var versionHash: String { schema.digest }
    /// The layout, once it was used: versions of a model that are only compared need none.
    private let layout = Mutex<ModelSchema?>(nil)
    /// The element of the file that the model was loaded from.
    let origin: ModelElement?
    /// The file that the model was loaded from.
    let file: URL?
    /// Whether Core Data wrote this copy into a store.
    ///
    /// Such a copy does not record which attributes use external storage.
    package let isCoreDataCopy: Bool

    private let entitiesByName: [String: EntityDescription]

    /// Validates the entities.
    ///
    /// - Throws: ``ModelError`` if a name is used twice or cannot name a table or column; if a parent, destination,
    ///   inverse, index element, constraint or configuration names something that does not exist; if an inverse does
    ///   not point back; if entities inherit from each other in a cycle; or if a property's type does not match its
    ///   default or options. Also if a property has a name that every object has already, such as `description`,
    ///   `hash` or `isDeleted`, as in Core Data; models that are loaded may have them. A relationship without an inverse
    ///   is allowed.
    public convenience init(
        entities: [EntityDescription], versionIdentifiers: [String] = [],
        configurations: [ConfigurationDescription] = [], fetchRequestTemplates: [FetchRequestTemplate] = [],
        compositeAttributes: [CompositeAttributeDescription] = []
    ) throws(ModelError) {
        if let property = Self.reservedProperties(of: entities).first {
            throw ModelError(
                .invalidName,
                "Property '\(property.entity).\(property.name)' has a name that every object has already; choose another name, such as '\(property.otherName)'.",
                at: property.declaredAt)
        }
        try self.init(
            checking: entities, versionIdentifiers: versionIdentifiers, configurations: configurations,
            fetchRequestTemplates: fetchRequestTemplates, compositeAttributes: compositeAttributes, origin: nil)
    }

    /// Makes a variant of a model from its entities, whose properties may have any names that its file has.
    package convenience init(
        variant entities: [EntityDescription], versionIdentifiers: [String] = [],
        configurations: [ConfigurationDescription] = [], compositeAttributes: [CompositeAttributeDescription] = []
    ) throws(ModelError) {
        try self.init(
            checking: entities, versionIdentifiers: versionIdentifiers, configurations: configurations,
            fetchRequestTemplates: [], compositeAttributes: compositeAttributes, origin: nil)
    }

    init(
        checking entities: [EntityDescription], versionIdentifiers: [String],
        configurations: [ConfigurationDescription], fetchRequestTemplates: [FetchRequestTemplate],
        compositeAttributes: [CompositeAttributeDescription], origin: ModelElement?, file: URL? = nil,
        isCoreDataCopy: Bool = false
    ) throws(ModelError) {
        let entities = compositeAttributes.resolved(entities)
        try ModelCheck(entities, configurations).run()
        self.entities = entities
        self.versionIdentifiers = versionIdentifiers
        self.configurations = configurations
        self.fetchRequestTemplates = fetchRequestTemplates
        self.compositeAttributes = compositeAttributes
        self.origin = origin
        self.file = file
        self.isCoreDataCopy = isCoreDataCopy
        entitiesByName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
    }

    /// The model's layout in SQLite, which is computed when it is first used.
    package var schema: ModelSchema {
        layout.withLock { layout in
            if let layout { return layout }
            ModelWork.observer?(.layout)
            let made = ModelSchema(entities, numbers: [:])
            layout = made
            return made
        }
    }

    /// Returns the entity of that name, or `nil`.
    public func entity(named name: String) -> EntityDescription? {
        entitiesByName[name]
    }

    /// Returns the entities of the named configuration, or `nil` if there is no such configuration.
    public func entities(forConfiguration name: String) -> [EntityDescription]? {
        configurations.first { $0.name == name }?.entities.compactMap { entitiesByName[$0] }
    }

    /// Returns the fetch request of that name, or `nil`.
    public func fetchRequestTemplate(named name: String) -> FetchRequestTemplate? {
        fetchRequestTemplates.first { $0.name == name }
    }
}

extension ManagedObjectModel: Equatable {
    /// Whether two models describe the same entities; the lines of declarations do not matter.
    public static func == (left: ManagedObjectModel, right: ManagedObjectModel) -> Bool {
        left.entities == right.entities && left.versionIdentifiers == right.versionIdentifiers
            && left.configurations == right.configurations
            && left.fetchRequestTemplates == right.fetchRequestTemplates
            && left.compositeAttributes == right.compositeAttributes
    }
}

/// Work on models that takes long for large ones.
package enum ModelWork: Sendable, Equatable {
    /// The layout of a model was computed.
    case layout
    /// The mapping between two versions was inferred.
    case inference

    /// Receives the work of this thread, so that tests can check that nothing is done twice.
    @TaskLocal package static var observer: (@Sendable (ModelWork) -> Void)?
}
