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
    ///   relationship has no inverse; this is no error.
    public convenience init(
        entities types: any Entity.Type..., versionIdentifiers: [String] = [],
        configurations: [ConfigurationDescription] = [], fetchRequestTemplates: [FetchRequestTemplate] = []
    ) throws(ModelError) {
        try self.init(
            entities: EntityAssembly(types).entities, versionIdentifiers: versionIdentifiers,
            configurations: configurations, fetchRequestTemplates: fetchRequestTemplates)
    }
}
