package import FaultlineDocuments
import FaultlineFindings
package import FaultlineModel
import FaultlineReport
import FaultlineTrace
import Foundation

/// The entities of a version of a model with their properties, or the mappings of a mapping model.
struct ModelListing: DiagramPrinting {
    private let name: String
    /// `nil` for a mapping model.
    private let model: ManagedObjectModel?
    /// `nil` for a model.
    private let mapping: MappingOutline?

    /// - Throws: ``CommandFailure`` if the path names neither a model nor a mapping model.
    init(path: String) throws {
        let url = URL(fileURLWithPath: path)
        guard MappingOutline.isMapping(url) else {
            let named = try NamedModel(path: path)
            (name, model, mapping) = (named.name, named.model, nil)
            return
        }
        do {
            let folder = url.lastPathComponent == "xcmapping.xml" ? url.deletingLastPathComponent() : url
            (name, model) = (folder.deletingPathExtension().lastPathComponent, nil)
            mapping = try MappingOutline(contentsOf: url)
        } catch {
            throw CommandFailure.usage("\(error)")
        }
    }

    // MARK: - Text

    func text(_ layout: Layout) -> String {
        let ink = Ink(isColoured: layout.isColoured)
        let width = TextPage.width(layout.width)
        let head = "\(name): \(facts)"
        func section(_ title: String, _ lines: [String]) -> [String] {
            [title]
                + lines.flatMap { entry in
                    Phrase.wrapped(Phrase.printable(entry), width: width - 4).enumerated().map {
                        $0 == 0 ? "  \($1)" : "    \($1)"
                    }
                }
        }
        let entities = (model?.entities ?? []).ordered(on: \.name)
        let sections =
            entities.map { section(title($0, ink), lines($0)) }
            + (mapping?.entities ?? []).map { section(ink(.bold, Phrase.printable(Self.title($0))), Self.lines($0)) }
        let checksum = model.map { [["Version checksum: \($0.versionChecksum)"]] } ?? []
        let warned = warnings.flatMap { Phrase.wrapped(Phrase.printable("! " + $0), width: width - 2) }
        return TextPage.joined(
            [[ink(.bold, Phrase.printable(head))]] + (warned.isEmpty ? [] : [warned]) + sections + checksum, ink)
    }

    /// What a program that uses the model should know.
    private var warnings: [String] {
        (model?.reservedProperties ?? []).map { property in
            "\(property.entity).\(property.name) has a name that every object has already, which Core Data's model compiler refuses. Another name would be \(property.otherName)."
        }
    }

    private static func title(_ mapping: MappingOutline.Entity) -> String {
        let policy = mapping.policy.map { ", by the policy \($0)" } ?? ""
        switch (mapping.source, mapping.destination) {
        case (let source?, let destination?): return "\(mapping.name): \(source) → \(destination)\(policy)"
        case (nil, let destination?): return "\(mapping.name): \(destination) is new\(policy)"
        case (let source, nil): return "\(mapping.name): \(source ?? "") is removed\(policy)"
        }
    }

    private static func lines(_ mapping: MappingOutline.Entity) -> [String] {
        func line(_ property: MappingOutline.Property) -> String? {
            switch property.value {
            case .expression(let text): "\(property.name) ← \(text)"
            case .none: "\(property.name) \(property.isRelationship ? "stays empty" : "keeps its default")"
            case .sameName: nil
            }
        }
        let same = mapping.properties.filter { $0.value == .sameName }.map(\.name)
        let rest = same.isEmpty ? [] : ["from properties of the same name: \(same.joined(separator: ", "))"]
        return mapping.properties.compactMap(line) + rest
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
            attribute.typeWords, attribute.isOptional ? nil : "required", attribute.isTransient ? "transient" : nil,
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
        if let mapping {
            let versions = [mapping.source, mapping.destination].compactMap { $0 }
            return Phrase.count(UInt64(mapping.entities.count), "entity mapping")
                + (versions.count == 2 ? ", from \(versions[0]) to \(versions[1])" : "")
        }
        let entities = model?.entities ?? []
        let properties = entities.reduce(0) { $0 + $1.attributes.count + $1.relationships.count }
        return
            "\(Phrase.count(UInt64(entities.count), "entity", plural: "entities")), \(Phrase.count(UInt64(properties), "property", plural: "properties"))"
    }

    var diagram: ModelDiagram {
        if let model { return ModelDiagram(title: name, facts: facts, of: model) }
        var diagram = ModelDiagram(title: name, facts: facts)
        diagram.sections = (mapping?.entities ?? []).map { ModelDiagram.Section(Self.title($0), Self.lines($0)) }
        return diagram
    }
}

// MARK: - Swift

extension ModelListing: SwiftPrinting {
    var swiftSource: String { model.map { ClassSource($0, name: name).text } ?? "" }

    /// Whether there are classes to print.
    var hasClasses: Bool { model != nil }
}

// MARK: - JSON

extension ModelListing {
    static let name = "model-show"
    static let title = "A version of a model"
    static let summary = "The output of `faultline model show --format json`."
    static let members: JSONMembers<ModelListing> = [
        .init("name", \.name),
        .init("checksum", "The checksum of all version hashes, in base64; null for a mapping model.") {
            $0.model?.versionChecksum
        },
        .init("entities", "Empty for a mapping model.") { listing in
            let hashes = listing.model?.entityVersionHashesByName ?? [:]
            return (listing.model?.entities ?? []).ordered(on: \.name).map {
                HashedEntity(entity: $0, hash: hashes[$0.name]?.base64EncodedString() ?? "")
            }
        },
        .init("warnings", "Sentences about names that no property should have.", \.warnings),
        .init("mappings", "The entity mappings of a mapping model; empty for a model.") { $0.mapping?.entities ?? [] },
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

extension MappingOutline.Entity: JSONObject {
    package static let members: JSONMembers<MappingOutline.Entity> = [
        .init("name", \.name), .init("source", "The older entity; null if the newer one is new.", \.source),
        .init("destination", "The newer entity; null if the older one is removed.", \.destination),
        .init("policy", "The class of the policy that makes the objects.", \.policy),
        .init("properties", \.properties),
    ]
}

extension MappingOutline.Property: JSONObject {
    package static let members: JSONMembers<MappingOutline.Property> = [
        .init("name", \.name), .init("isRelationship", \.isRelationship),
        .init("isAutomatic", "Whether the value is that of the older property of the same name.") {
            $0.value == .sameName
        },
        .init("expression", "The expression for the value; null if it is automatic or there is none.") { property in
            if case .expression(let text) = property.value { text } else { nil as String? }
        },
    ]
}

extension AttributeDescription: JSONObject {
    package static let members: JSONMembers<AttributeDescription> = [
        .init("name", \.name), .init("type", \.type.rawValue), .init("isOptional", \.isOptional),
        .init("isTransient", \.isTransient), .init("defaultValue") { $0.defaultValue?.description },
        .init("derivation", \.derivationExpression),
        .init("elements", "The names of the attributes that a composite value consists of.") {
            $0.elements.map(\.name)
        },
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
