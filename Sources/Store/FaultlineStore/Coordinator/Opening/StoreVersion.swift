package import FaultlineModel

/// A model version as a store has it, or will have it.
package struct StoreVersion {
    package let model: ManagedObjectModel
    /// The layout, with the numbers of the store.
    package let schema: ModelSchema
    /// `nil` if the store has all entities.
    package let configuration: StoreConfiguration?
    /// The attributes that count as external because of their values alone.
    package var guessedExternal: [ExternalAttribute] = []

    /// An attribute that uses external storage.
    package struct ExternalAttribute: Hashable {
        package let entity: String
        package let name: String

        package init(entity: String, name: String) {
            (self.entity, self.name) = (entity, name)
        }
    }

    package init(model: ManagedObjectModel, schema: ModelSchema, configuration: StoreConfiguration?) {
        (self.model, self.schema, self.configuration) = (model, schema, configuration)
    }

    package var tables: Set<String>? { configuration?.tables }
    /// The entities for whose objects the store has tables.
    package var storedEntities: [EntitySchema] { schema.entities.filter { tables?.contains($0.table) != false } }

    package func has(_ entity: String) -> Bool { configuration?.entities.contains(entity) != false }
}
