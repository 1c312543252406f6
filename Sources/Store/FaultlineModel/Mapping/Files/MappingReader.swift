internal import Foundation

/// Converts the objects of a mapping model's file to the mappings between two models.
///
/// The file has neither names nor hashes nor default expressions: all are derived from the models.
struct MappingReader {
    /// An entity mapping with its object in the file.
    struct Entry {
        var mapping: EntityMapping
        let object: MappingFile.Object
        let old: EntityDescription?
        let new: EntityDescription?
    }

    let file: MappingFile
    private let objects: [String: MappingFile.Object]
    let defaults: MappingDefaults
    private let source: ManagedObjectModel
    private let destination: ManagedObjectModel

    /// Returns the mappings in the order of their numbers.
    static func entityMappings(
        of file: MappingFile, from source: ManagedObjectModel, to destination: ManagedObjectModel
    ) throws(ModelError) -> [EntityMapping] {
        try Self(file: file, objects: try file.objects(), source, destination).entityMappings()
    }

    private init(
        file: MappingFile, objects: [String: MappingFile.Object], _ source: ManagedObjectModel,
        _ destination: ManagedObjectModel
    ) {
        self.file = file
        self.objects = objects
        self.source = source
        self.destination = destination
        defaults = MappingDefaults(source: source, destination: destination)
    }

    private func entityMappings() throws(ModelError) -> [EntityMapping] {
        let hashes = (source.entityVersionHashesByName, destination.entityVersionHashesByName)
        var entries: [Entry] = []
        for object in try file.entityMappings(objects) {
            var entry = try entry(object, names: entries.map(\.mapping.name))
            entry.mapping.sourceEntityVersionHash = entry.old.flatMap { hashes.0[$0.name] }
            entry.mapping.destinationEntityVersionHash = entry.new.flatMap { hashes.1[$0.name] }
            entries.append(entry)
        }
        let mappings = entries.map(\.mapping)
        return try entries.map { entry throws(ModelError) in
            try withProperties(entry, mappings)
        }
    }

    // MARK: - Entities

    private func entry(_ object: MappingFile.Object, names: [String]) throws(ModelError) -> Entry {
        guard let (name, from, to) = object.entities(besides: names) else {
            throw file.error(
                .malformedFile, object,
                "an entity mapping has neither a source nor a destination; choose them in Xcode, or remove it")
        }
        let policy = object.text("migrationpolicyclassname")
        let type: EntityMapping.MappingType =
            policy != nil ? .custom : from == nil ? .add : to == nil ? .remove : .transform
        let mapping = EntityMapping(name, type, from: from, to: to, entityMigrationPolicyClassName: policy)
        try check(
            object, "the mapping '\(mapping.name)'",
            ["sourcename", "destinationname", "mappingtypename", "mappingnumber", "migrationpolicyclassname"])
        guard object.isAutomatic != false else {
            throw file.error(
                .invalidExpression, object,
                "the mapping '\(mapping.name)' selects its objects by an expression of its own, which Faultline cannot read; write this mapping in code"
            )
        }
        return Entry(
            mapping: mapping, object: object, old: try entity(from, in: source, "older", mapping, object),
            new: try entity(to, in: destination, "newer", mapping, object))
    }

    private func entity(
        _ name: String?, in model: ManagedObjectModel, _ age: String, _ mapping: EntityMapping,
        _ object: MappingFile.Object
    ) throws(ModelError) -> EntityDescription? {
        guard let name else { return nil }
        guard let entity = model.entity(named: name) else {
            var error = file.error(
                .invalidMapping, object,
                "the mapping '\(mapping.name)' names the entity '\(name)', which the \(age) model does not have; choose other models, or correct the mapping in Xcode"
            )
            error.entity = name
            throw error
        }
        return entity
    }

    // MARK: - Properties

    private func withProperties(_ entry: Entry, _ mappings: [EntityMapping]) throws(ModelError) -> EntityMapping {
        var mapping = entry.mapping
        guard let new = entry.new else { return mapping }
        var isAutomatic = true
        let attributes: [AttributeDescription] = destination.properties(of: new)
        let relationships: [RelationshipDescription] = destination.properties(of: new)
        for object in try file.references(entry.object, "attributemappings", .attribute, objects) {
            let name = try name(object, "attribute", of: new, mapping.attributeMappings)
            guard let attribute = attributes.first(where: { $0.name == name }) else {
                throw unknown("attribute", name, new, object)
            }
            try check(object, "the mapping of '\(new.name).\(name)'", ["name", "valueexpressiondata"])
            let stored = try expression(object, name, entry, mappings)
            let isOff = object.isAutomatic == false
            if stored != nil || isOff { isAutomatic = false }
            mapping.attributeMappings.append(
                PropertyMapping(name, stored ?? (isOff ? nil : defaults.expression(for: attribute, from: entry.old))))
        }
        for object in try file.references(entry.object, "relationshipmappings", .relationship, objects) {
            let name = try name(object, "relationship", of: new, mapping.relationshipMappings)
            guard let relationship = relationships.first(where: { $0.name == name }) else {
                throw unknown("relationship", name, new, object)
            }
            try check(
                object, "the mapping of '\(new.name).\(name)'",
                ["name", "valueexpressiondata", "sourcekeypath", "sourcemappingname"])
            let instances = try instances(object, name, entry, mappings)
            let stored = if let instances { instances } else { try expression(object, name, entry, mappings) }
            let isOn = object.isAutomatic == true
            if stored != nil || !isOn { isAutomatic = false }
            mapping.relationshipMappings.append(
                PropertyMapping(
                    name, stored ?? (isOn ? defaults.expression(for: relationship, from: entry.old, mappings) : nil)))
        }
        mapping.attributeMappings.sort { $0.name < $1.name }
        mapping.relationshipMappings.sort { $0.name < $1.name }
        if mapping.mappingType == .transform, isAutomatic, mapping.sourceEntityName == mapping.destinationEntityName,
            mapping.sourceEntityVersionHash == mapping.destinationEntityVersionHash,
            defaults.areComplete(mapping, attributes, relationships)
        {
            mapping.mappingType = .copy
        }
        return mapping
    }

    private func name(
        _ object: MappingFile.Object, _ kind: String, of entity: EntityDescription, _ known: [PropertyMapping]
    ) throws(ModelError) -> String {
        guard let name = object.text("name") else {
            throw error(
                .malformedFile, object, entity, nil,
                "a mapping of '\(entity.name)' has no \(kind); save the mapping model again in Xcode")
        }
        guard !known.contains(where: { $0.name == name }) else {
            throw error(
                .malformedFile, object, entity, name,
                "'\(entity.name).\(name)' is mapped twice by one entity mapping; remove one of the two in Xcode")
        }
        return name
    }

    private func unknown(
        _ kind: String, _ name: String, _ entity: EntityDescription, _ object: MappingFile.Object
    ) -> ModelError {
        error(
            .invalidMapping, object, entity, name,
            "the \(kind) '\(entity.name).\(name)' is mapped, but the newer model does not have it; choose other models, or correct the mapping in Xcode"
        )
    }

    // MARK: - Objects

    /// Rejects an object with an unknown attribute, which might change the migration.
    private func check(_ object: MappingFile.Object, _ subject: String, _ known: [String]) throws(ModelError) {
        let name = object.attributeNames.first { !known.contains($0) && $0 != "autogenerateexpression" }
        guard let name else { return }
        throw file.error(
            .malformedFile, object,
            "\(subject) has the setting '\(name)', which Faultline does not know; remove it, or write the mapping in code"
        )
    }

    func error(
        _ code: ModelError.Code, _ object: MappingFile.Object, _ entity: EntityDescription, _ property: String?,
        _ text: String
    ) -> ModelError {
        var error = file.error(code, object, text)
        error.entity = entity.name
        error.property = property
        return error
    }
}
