/// Converts a model file's elements to descriptions.
struct ModelReader {
    /// The file's path, for errors.
    let path: String
    /// The file's name in ``AttributeDescription/declaredAt``.
    let position: String

    func entity(_ element: ModelElement) throws(ModelError) -> EntityDescription {
        var entity: EntityDescription = try read(element, "entity '\(element.attributes["name"] ?? "")'")
        for child in element.children {
            let name = "'\(entity.name).\(child.attributes["name"] ?? "")'"
            switch child.name {
            case "attribute": entity.attributes.append(try attribute(child, of: entity.name))
            case "relationship":
                var relationship: RelationshipDescription = try read(child, "relationship \(name)")
                relationship.userInfo = Self.userInfo(child)
                guard !relationship.destination.isEmpty else {
                    throw problem(
                        .unknownEntity, child,
                        "relationship \(name) has no destination; name its destination entity")
                }
                entity.relationships.append(relationship)
            case "fetchedProperty":
                var property: FetchedPropertyDescription = try read(child, "fetched property \(name)")
                property.userInfo = Self.userInfo(child)
                property.fetchRequest = try child.child("fetchRequest").map { element throws(ModelError) in
                    try read(element, "the fetch request of \(name)")
                }
                entity.fetchedProperties.append(property)
            case "fetchIndex":
                var index: FetchIndexDescription = try read(child, "fetch index \(name)")
                index.elements = Self.indexElements(child)
                entity.indexes.append(index)
            default: break
            }
        }
        entity.compoundIndexes = Self.compoundIndexes(element)
        entity.uniquenessConstraints = Self.uniquenessConstraints(element)
        entity.userInfo = Self.userInfo(element)
        return entity
    }

    func attribute(_ element: ModelElement, of owner: String) throws(ModelError) -> AttributeDescription {
        var attribute: AttributeDescription = try read(
            element, "attribute '\(owner).\(element.attributes["name"] ?? "")'")
        attribute.userInfo = Self.userInfo(element)
        return attribute
    }

    func configuration(_ element: ModelElement) throws(ModelError) -> ConfigurationDescription {
        var configuration: ConfigurationDescription = try read(
            element, "configuration '\(element.attributes["name"] ?? "")'")
        configuration.entities = Self.members(element)
        return configuration
    }

    func composite(_ element: ModelElement) throws(ModelError) -> CompositeAttributeDescription {
        var composite: CompositeAttributeDescription = try read(
            element, "composite attribute '\(element.attributes["name"] ?? "")'")
        for child in element.children("attribute") {
            composite.elements.append(try attribute(child, of: composite.name))
        }
        return composite
    }

    func fetchRequest(_ element: ModelElement) throws(ModelError) -> FetchRequestTemplate {
        try read(element, "fetch request '\(element.attributes["name"] ?? "")'")
    }

    private func read<Description: FileDescription>(
        _ element: ModelElement, _ subject: String
    ) throws(ModelError) -> Description {
        var (description, problem) = Description.read(element)
        if let problem { throw self.problem(.invalidProperty, element, "\(subject) \(problem)") }
        description.origin = Origin(element, in: position)
        return description
    }

    func problem(_ code: ModelError.Code, _ element: ModelElement, _ text: String) -> ModelError {
        ModelError(code, "Loading '\(path)', line \(element.line): \(text).", at: "\(position):\(element.line)")
    }
}

/// Lists in child elements.
extension ModelReader {
    static func userInfo(_ element: ModelElement) -> [String: String] {
        let entries = element.children("userInfo").flatMap { $0.children("entry") }
        return Dictionary(entries.map { ($0.attributes["key"] ?? "", $0.attributes["value"] ?? "") }) { $1 }
    }

    static func uniquenessConstraints(_ element: ModelElement) -> [[String]] {
        element.children("uniquenessConstraints").flatMap { $0.children("uniquenessConstraint") }.map {
            $0.children("constraint").map { $0.attributes["value"] ?? "" }
        }
    }

    static func compoundIndexes(_ element: ModelElement) -> [[String]] {
        element.children("compoundIndexes").flatMap { $0.children("compoundIndex") }.map {
            $0.children("index").map { $0.attributes["value"] ?? "" }
        }
    }

    static func members(_ element: ModelElement) -> [String] {
        element.children("memberEntity").map { $0.attributes["name"] ?? "" }
    }

    static func indexElements(_ element: ModelElement) -> [FetchIndexDescription.Element] {
        element.children("fetchIndexElement").map { child in
            var element = FetchIndexDescription.Element("")
            for attribute in FileAttribute<FetchIndexDescription.Element>.all {
                _ = attribute.read(&element, child.attributes[attribute.name])
            }
            return element
        }
    }
}
