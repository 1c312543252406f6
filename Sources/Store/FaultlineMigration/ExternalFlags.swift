import CSQLite
import FaultlineModel
import FaultlineStore

/// Finds the attributes of a Core Data store that use external storage, which Core Data's copy of the model does not record.
///
/// A value of such an attribute begins with a byte that says where it is: 1 if the value follows it, 2 if the name of a file does.
struct ExternalFlags {
    typealias Attribute = StoreVersion.ExternalAttribute

    /// Whether all values of an attribute begin like external ones, by attribute; attributes without values are missing.
    private let looksExternal: [Attribute: Bool]

    /// Whether a model has attributes that can use external storage.
    static func matter(to model: ManagedObjectModel) -> Bool {
        model.entities.contains { $0.attributes.contains(where: \.canBeExternal) }
    }

    /// Looks at the values of a store.
    ///
    /// - Parameter version: The store's version, with or without the flags.
    init(_ setup: StoreSetup, _ version: StoreVersion) throws(StoreError) {
        var found: [Attribute: Bool] = [:]
        for entity in version.model.entities {
            guard let schema = version.schema.entity(named: entity.name), version.has(entity.name) else { continue }
            for attribute in entity.attributes where attribute.canBeExternal {
                guard let column = schema.property(attribute.name)?.column, !column.isEmpty else { continue }
                func exists(_ condition: String) throws(StoreError) -> Bool {
                    try setup.read("SELECT 1 FROM \(schema.table) WHERE \(column) IS NOT NULL AND \(condition) LIMIT 1")
                    {
                        _ in true
                    }.first ?? false
                }
                guard try exists("1") else { continue }
                let isMarked =
                    "(substr(\(column), 1, 1) = x'01' OR (length(\(column)) = 38 AND substr(\(column), 1, 1) = x'02' AND substr(\(column), 38) = x'00'))"
                found[Attribute(entity: entity.name, name: attribute.name)] = try !exists("NOT \(isMarked)")
            }
        }
        looksExternal = found
    }

    /// The attributes whose values look external; they may also all begin with such a byte by chance.
    var external: [Attribute] { looksExternal.filter(\.value).map(\.key) }

    /// Whether the flags of a version match those that the values show.
    func fit(_ model: ManagedObjectModel) -> Bool {
        looksExternal.allSatisfy { Self.flag(of: $0.key, in: model) == $0.value }
    }

    /// Whether the values do not contradict the flags of a version.
    func allow(_ model: ManagedObjectModel) -> Bool {
        looksExternal.allSatisfy { $0.value || Self.flag(of: $0.key, in: model) == false }
    }

    /// Returns a model with the flags that the values show.
    func completing(_ model: ManagedObjectModel) -> ManagedObjectModel? {
        let entities = model.entities.map { entity in
            var entity = entity
            for index in entity.attributes.indices {
                let key = Attribute(entity: entity.name, name: entity.attributes[index].name)
                if looksExternal[key] == true { entity.attributes[index].allowsExternalBinaryDataStorage = true }
            }
            return entity
        }
        return try? ManagedObjectModel(
            variant: entities, versionIdentifiers: model.versionIdentifiers, configurations: model.configurations)
    }

    private static func flag(of attribute: Attribute, in model: ManagedObjectModel) -> Bool? {
        model.entity(named: attribute.entity)?.attributes.first { $0.name == attribute.name }?
            .allowsExternalBinaryDataStorage
    }
}

extension StoreVersion {
    /// Checks that the store of this version can become one of a newer version, as far as the models show.
    ///
    /// - Throws: `StoreError` if no store can have the newer model, or if the newer one moves values out of files and
    ///   only the values show how the older version stores them.
    func checkMigration(to new: ManagedObjectModel, _ path: String) throws(StoreError) {
        if let error = StoreOpening.obstacle(new, path, isNew: true) { throw error }
        let attributes = new.entities.flatMap(\.attributes).filter {
            $0.canBeExternal && !$0.allowsExternalBinaryDataStorage
        }
        for guess in guessedExternal.sorted(by: { ($0.entity, $0.name) < ($1.entity, $1.name) })
        where attributes.contains(where: { $0.name == guess.name || $0.renamingIdentifier == guess.name }) {
            throw StoreError(
                .unknownModelVersion,
                "Migrating '\(path)' is refused because the values of '\(guess.entity).\(guess.name)' may be in external files, and Core Data's copy of the model does not record whether they are; name the version that wrote the store, in sourceModels or with --from."
            )
        }
    }
}
