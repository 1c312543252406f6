package import Foundation

/// What the file of a mapping model says by itself, without the two models that it was made for.
package struct MappingOutline: Sendable {
    /// An entity mapping.
    package struct Entity: Sendable {
        /// The name, made of the two entities' as in Xcode.
        package let name: String
        /// The older entity; `nil` if the newer one is new.
        package let source: String?
        /// The newer entity; `nil` if the older one is removed.
        package let destination: String?
        /// The class of the policy that makes the objects.
        package let policy: String?
        /// The mappings of the newer entity's properties: attributes, then relationships, each by name.
        package let properties: [Property]
    }

    /// A mapping of a property of the newer entity.
    package struct Property: Sendable {
        /// The newer property.
        package let name: String
        /// Whether it is a relationship rather than an attribute.
        package let isRelationship: Bool
        /// The source of its value.
        package let value: Value
    }

    /// The source of a property's value.
    package enum Value: Sendable, Equatable {
        /// The older property of the same name, if there is one.
        case sameName
        /// An expression, in Core Data's format.
        case expression(String)
        /// Nothing: an attribute keeps its default, and a relationship stays empty.
        case none
    }

    /// The older version that the file was made for, such as `Moody 2.xcdatamodel`.
    package let source: String?
    /// The newer version.
    package let destination: String?
    /// The mappings in the order in which they are processed.
    package let entities: [Entity]

    /// Whether a URL names a mapping model.
    package static func isMapping(_ url: URL) -> Bool {
        [MappingFile.suffix, "cdm"].contains(url.pathExtension) || url.lastPathComponent == MappingFile.name
    }

    /// Reads a file.
    ///
    /// - Parameter url: A `.xcmappingmodel`, or its file `xcmapping.xml`.
    /// - Throws: ``ModelError`` if there is no such file, or if it is not a mapping model.
    package init(contentsOf url: URL) throws(ModelError) {
        let file = try MappingFile(url)
        let objects = try file.objects()
        source = MappingFile.modelName("sourcemodelpath", in: file.root)
        destination = MappingFile.modelName("destinationmodelpath", in: file.root)
        var entities: [Entity] = []
        for object in try file.entityMappings(objects) {
            guard let (name, from, to) = object.entities(besides: entities.map(\.name)) else { continue }
            var properties: [Property] = []
            for kind in [MappingFile.Kind.attribute, .relationship] {
                let list = kind == .attribute ? "attributemappings" : "relationshipmappings"
                for mapping in try file.references(object, list, kind, objects) {
                    guard let name = mapping.text("name") else { continue }
                    properties.append(
                        Property(
                            name: name, isRelationship: kind == .relationship,
                            value: try file.value(mapping, kind, hasSource: from != nil)))
                }
            }
            entities.append(
                Entity(
                    name: name, source: from, destination: to, policy: object.text("migrationpolicyclassname"),
                    properties: properties.sorted {
                        ($0.isRelationship ? 1 : 0, $0.name) < ($1.isRelationship ? 1 : 0, $1.name)
                    }))
        }
        self.entities = entities
    }
}

extension MappingFile {
    /// Returns the source of the value that a property mapping gives.
    fileprivate func value(
        _ mapping: Object, _ kind: Kind, hasSource: Bool
    ) throws(ModelError) -> MappingOutline.Value {
        do throws(ArchiveFailure) {
            if let expression = try mapping.storedExpression { return .expression(expression.description) }
        } catch {
            throw self.error(
                .invalidExpression, mapping,
                "the archive of the expression of '\(mapping.text("name") ?? "")' \(error.text); enter the expression again in Xcode"
            )
        }
        if kind == .relationship, let name = mapping.text("sourcemappingname") {
            let path = mapping.text("sourcekeypath") ?? mapping.text("name") ?? ""
            return .expression("\(path.hasPrefix("$") ? path : "$source.\(path)"), as objects of \(name)")
        }
        // An attribute continues the older one unless the file says otherwise, and a relationship only if it says so.
        return hasSource && mapping.isAutomatic ?? (kind == .attribute) ? .sameName : .none
    }
}
