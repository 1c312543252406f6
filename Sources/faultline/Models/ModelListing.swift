import FaultlineAnalysis
import FaultlineModel
import FaultlineReport
import FaultlineTrace
import Foundation

/// The entities of a version of a model, with their properties.
struct ModelListing: DiagramPrinting {
    /// The version of the JSON's keys; it increases when a key is removed or changes its meaning.
    static let version = 1

    let named: NamedModel

    // MARK: Text

    func text(_ layout: Layout) -> String {
        let ink = Ink(isColoured: layout.isColoured)
        let width = TextPage.width(layout.width)
        let entities = named.model.entities
        let head = "\(named.name): \(facts)"
        let sections = entities.ordered(on: \.name).map { entity in
            [title(entity, ink)]
                + lines(entity).flatMap { entry in
                    TextTable.wrapped(Phrase.printable(entry), width: width - 4).enumerated().map {
                        $0 == 0 ? "  \($1)" : "    \($1)"
                    }
                }
        }
        let checksum = ["Version checksum: \(named.model.versionChecksum)"]
        return TextPage.joined([[ink(.bold, Phrase.printable(head))]] + sections + [checksum], ink)
    }

    private func title(_ entity: EntityDescription, _ ink: Ink) -> String {
        let parent = entity.parent.map { ": \($0)" } ?? ""
        return ink(.bold, Phrase.printable(entity.name + parent)) + (entity.isAbstract ? " (abstract)" : "")
    }

    private func lines(_ entity: EntityDescription) -> [String] {
        entity.attributes.ordered(on: \.name).map { "\($0.name): \(Self.words($0))" }
            + entity.relationships.ordered(on: \.name).map { "\($0.name) → \(Self.words($0))" }
            + entity.uniquenessConstraints.map { "unique: \($0.joined(separator: ", "))" }
            + entity.indexes.map { index in
                "index \(index.name): \(index.elements.map { $0.expression ?? $0.property }.joined(separator: ", "))"
            }
    }

    static func words(_ attribute: AttributeDescription) -> String {
        let parts: [String?] = [
            attribute.type.rawValue, attribute.isOptional ? nil : "required", attribute.isTransient ? "transient" : nil,
            attribute.defaultValue.map { "default \($0)" }, attribute.derivationExpression.map { "derived from \($0)" },
            attribute.allowsExternalBinaryDataStorage ? "external storage" : nil,
            attribute.renamingIdentifier.flatMap { $0 == attribute.name ? nil : "was \($0)" },
        ]
        return parts.compactMap { $0 }.joined(separator: ", ")
    }

    static func words(_ relationship: RelationshipDescription) -> String {
        let count = relationship.isToMany ? (relationship.isOrdered ? "to-many, ordered" : "to-many") : "to-one"
        let parts: [String?] = [
            relationship.destination, count, relationship.isOptional ? nil : "required",
            relationship.isTransient ? "transient" : nil,
            relationship.inverse.map { "inverse \($0)" } ?? "no inverse",
            relationship.deleteRule == .nullify ? nil : "delete rule \(relationship.deleteRule.rawValue)",
            relationship.renamingIdentifier.flatMap { $0 == relationship.name ? nil : "was \($0)" },
        ]
        return parts.compactMap { $0 }.joined(separator: ", ")
    }

    private var facts: String {
        let entities = named.model.entities
        let properties = entities.reduce(0) { $0 + $1.attributes.count + $1.relationships.count }
        return
            "\(Phrase.count(UInt64(entities.count), "entity", plural: "entities")), \(Phrase.count(UInt64(properties), "property", plural: "properties"))"
    }

    var diagram: ModelDiagram { ModelDiagram(title: named.name, facts: facts, of: named.model) }

    // MARK: JSON

    var json: String {
        let hashes = named.model.entityVersionHashesByName
        return JSONValue.sorted([
            "version": .integer(Int64(Self.version)), "name": .string(named.name),
            "checksum": .string(named.model.versionChecksum),
            "entities": .array(
                named.model.entities.ordered(on: \.name).map { entity in
                    .sorted([
                        "name": .string(entity.name), "parent": entity.parent.map { .string($0) } ?? .null,
                        "isAbstract": .bool(entity.isAbstract),
                        "versionHash": .string(hashes[entity.name]?.base64EncodedString() ?? ""),
                        "attributes": .array(entity.attributes.ordered(on: \.name).map(Self.json)),
                        "relationships": .array(entity.relationships.ordered(on: \.name).map(Self.json)),
                        "uniquenessConstraints": .array(
                            entity.uniquenessConstraints.map { .array($0.map { .string($0) }) }),
                    ])
                }),
        ]).indented + "\n"
    }

    private static func json(_ attribute: AttributeDescription) -> JSONValue {
        .sorted([
            "name": .string(attribute.name), "type": .string(attribute.type.rawValue),
            "isOptional": .bool(attribute.isOptional), "isTransient": .bool(attribute.isTransient),
            "defaultValue": attribute.defaultValue.map { .string($0.description) } ?? .null,
            "derivation": attribute.derivationExpression.map { .string($0) } ?? .null,
        ])
    }

    private static func json(_ relationship: RelationshipDescription) -> JSONValue {
        .sorted([
            "name": .string(relationship.name), "destination": .string(relationship.destination),
            "inverse": relationship.inverse.map { .string($0) } ?? .null, "isToMany": .bool(relationship.isToMany),
            "isOrdered": .bool(relationship.isOrdered), "isOptional": .bool(relationship.isOptional),
            "isTransient": .bool(relationship.isTransient),
            "deleteRule": .string(relationship.deleteRule.rawValue),
        ])
    }
}
