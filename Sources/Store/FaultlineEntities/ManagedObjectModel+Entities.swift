public import FaultlineRecorder
public import Foundation

extension ManagedObjectModel {
    /// Creates a model of the entities that classes declare.
    ///
    ///     let model = try ManagedObjectModel(entities: Item.self, Category.self)
    ///
    /// The model also contains the ancestors of these entities and the destinations of their relationships, after the
    /// named entities. Subentities must be named.
    ///
    /// - Throws: ``ModelError`` as
    ///   ``init(entities:versionIdentifiers:configurations:fetchRequestTemplates:compositeAttributes:)`` does, at the
    ///   line of the class or of its property. If the inverse of a relationship is ambiguous and not declared, the
    ///   relationship has no inverse; this is not an error.
    public convenience init(
        entities types: any Entity.Type..., versionIdentifiers: [String] = [],
        configurations: [ConfigurationDescription] = [], fetchRequestTemplates: [FetchRequestTemplate] = []
    ) throws(ModelError) {
        try self.init(
            entities: EntityAssembly(types).entities, versionIdentifiers: versionIdentifiers,
            configurations: configurations, fetchRequestTemplates: fetchRequestTemplates)
    }
}

extension PersistentContainer {
    /// Opens a store of the entities that classes declare, and creates it if it does not exist.
    ///
    ///     let container = try PersistentContainer(name: "Groceries", entities: Item.self, Category.self, storeURL: url)
    ///
    /// The model also contains the ancestors of these entities and the destinations of their relationships. Subentities
    /// must be named.
    ///
    /// - Throws: ``ModelError`` if the classes do not form a valid model; ``StoreError`` as
    ///   ``init(name:managedObjectModel:storeDescription:classes:recorder:sqlDebug:)``.
    public convenience init(
        name: String, entities types: any Entity.Type..., storeDescription: PersistentStoreDescription,
        recorder: Recorder = .shared, sqlDebug: SQLDebugLog = .shared
    ) throws {
        let assembly = EntityAssembly(types)
        try self.init(
            name: name, managedObjectModel: ManagedObjectModel(entities: assembly.entities),
            storeDescription: storeDescription, classes: assembly.types, recorder: recorder, sqlDebug: sqlDebug)
    }

    /// Opens a store of the entities that classes declare, with the default settings.
    ///
    /// Without a URL, the store is `NAME.sqlite` in ``defaultDirectoryURL()``.
    ///
    /// - Throws: The errors of ``init(name:entities:storeDescription:recorder:sqlDebug:)``.
    public convenience init(
        name: String, entities types: any Entity.Type..., storeURL: URL? = nil, recorder: Recorder = .shared,
        sqlDebug: SQLDebugLog = .shared
    ) throws {
        let assembly = EntityAssembly(types)
        try self.init(
            name: name, managedObjectModel: ManagedObjectModel(entities: assembly.entities), storeURL: storeURL,
            classes: assembly.types, recorder: recorder, sqlDebug: sqlDebug)
    }
}
