extension ManagedObjectModel {
    /// A model of the entities that classes declare.
    ///
    ///     let model = try ManagedObjectModel(entities: Item.self, Category.self)
    ///
    /// Entities that these inherit from or lead to belong to it too, behind those that are named; those that inherit
    /// from them have to be named.
    ///
    /// - Throws: ``ModelError`` as ``init(entities:versionIdentifiers:configurations:fetchRequestTemplates:compositeAttributes:)``
    ///   does, at the line of the class or of its property. Not if two relationships could be each other's inverse and
    ///   do not say so; they have none then.
    public convenience init(
        entities types: any Entity.Type..., versionIdentifiers: [String] = [],
        configurations: [ConfigurationDescription] = [], fetchRequestTemplates: [FetchRequestTemplate] = []
    ) throws(ModelError) {
        try self.init(
            entities: EntityAssembly(types).entities, versionIdentifiers: versionIdentifiers,
            configurations: configurations, fetchRequestTemplates: fetchRequestTemplates)
    }
}
