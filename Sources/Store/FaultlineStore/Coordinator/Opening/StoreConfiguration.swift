package import FaultlineModel

/// The entities of a store whose description names a configuration of the model.
package struct StoreConfiguration {
    package let name: String
    /// The names of the configuration's entities and their subentities.
    let entities: Set<String>
    /// The tables of these entities' inheritance trees.
    package let tables: Set<String>
    /// The hash of the layout of these entities, as stored in the metadata.
    let hash: String

    /// Reads a configuration of a model.
    ///
    /// - Throws: ``StoreError`` if the model has no such configuration, or if a relationship leaves it.
    package init(_ name: String, of model: ManagedObjectModel, path: String) throws(StoreError) {
        guard let entities = model.family(ofConfiguration: name) else {
            let known = model.configurations.map { "'\($0.name)'" }.joined(separator: ", ")
            throw StoreError(
                .unsupportedModel,
                "The store '\(path)' cannot be opened with the configuration '\(name)', which the model does not have (it has \(known.isEmpty ? "none" : known)); correct the name, or add it to the model."
            )
        }
        let schemas = model.schema.entities
        let positions = entities.compactMap { model.schema.entity(named: $0)?.index }
        self.name = name
        self.entities = entities
        tables = Set(positions.map { schemas[$0].table })
        hash = model.schema.digest(of: entities)
        for position in positions.sorted() {
            for property in schemas[position].properties where property.isRelationship && !property.isTransient {
                let destination = schemas[property.destination]
                guard !tables.contains(destination.table) else { continue }
                throw StoreError(
                    .unsupportedModel,
                    "The store '\(path)' cannot be opened with the configuration '\(name)', because '\(schemas[position].name).\(property.name)' refers to \(destination.name), which the configuration does not have, and a relationship cannot refer to another store; add the entity to the configuration, or use a fetched property."
                )
            }
        }
    }
}
