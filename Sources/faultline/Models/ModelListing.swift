package import FaultlineDocuments
import FaultlineFindings
package import FaultlineModel
import FaultlineReport
import FaultlineTrace
import Foundation

/// The entities of a version of a model, with their properties.
struct ModelListing: DiagramPrinting {
    let named: NamedModel

    // MARK: - Text

    func text(_ layout: Layout) -> String {
        let ink = Ink(isColoured: layout.isColoured)
        let width = TextPage.width(layout.width)
        let entities = named.model.entities
        let head = "\(named.name): \(facts)"
        let sections = entities.ordered(on: \.name).map { entity in
            [title(entity, ink)]
                + lines(entity).flatMap { entry in
                    Phrase.wrapped(Phrase.printable(entry), width: width - 4).enumerated().map {
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
}

// MARK: - JSON

extension ModelListing {
    static let name = "model-show"
    static let title = "A version of a model"
    static let summary = "The output of `faultline model show --format json`."
    static let members: JSONMembers<ModelListing> = [
        .init("name", \.named.name),
        .init("checksum", "The checksum of all version hashes, in base64.", \.named.model.versionChecksum),
        .init("entities") { listing in
            let hashes = listing.named.model.entityVersionHashesByName
            return listing.named.model.entities.ordered(on: \.name).map {
                HashedEntity(entity: $0, hash: hashes[$0.name]?.base64EncodedString() ?? "")
            }
        },
    ]

    private struct HashedEntity: JSONObject {
        let entity: EntityDescription
        let hash: String

        static let members: JSONMembers<HashedEntity> = [
            .init("name", \.entity.name), .init("parent", \.entity.parent),
            .init("isAbstract", \.entity.isAbstract), .init("versionHash", "In base64.", \.hash),
            .init("attributes") { $0.entity.attributes.ordered(on: \.name) },
            .init("relationships") { $0.entity.relationships.ordered(on: \.name) },
            .init("uniquenessConstraints", \.entity.uniquenessConstraints),
        ]
    }
}

extension AttributeDescription: JSONObject {
    package static let members: JSONMembers<AttributeDescription> = [
        .init("name", \.name), .init("type", \.type.rawValue), .init("isOptional", \.isOptional),
        .init("isTransient", \.isTransient), .init("defaultValue") { $0.defaultValue?.description },
        .init("derivation", \.derivationExpression),
    ]
}

extension RelationshipDescription: JSONObject {
    package static let members: JSONMembers<RelationshipDescription> = [
        .init("name", \.name), .init("destination", \.destination), .init("inverse", \.inverse),
        .init("isToMany", \.isToMany), .init("isOrdered", \.isOrdered), .init("isOptional", \.isOptional),
        .init("isTransient", \.isTransient), .init("deleteRule", \.deleteRule),
    ]
}

extension DeleteRule: JSONWord {}
