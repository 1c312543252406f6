/// Converts descriptions to a model file's elements.
///
/// A model that came from a file is written back as it was, with its changes. Unknown attributes and elements are
/// preserved, and so is the order of the kinds of elements; comments are lost.
enum ModelWriter {
    static func element(_ model: ManagedObjectModel) throws(ModelError) -> ModelElement {
        let original = model.origin
        var attributes =
            original?.attributes ?? [
                "type": ModelFile.type, "documentVersion": "1.0", "minimumToolsVersion": "Automatic",
                "sourceLanguage": "Swift",
            ]
        guard model.versionIdentifiers.count <= 1 else {
            throw ModelError(
                .cannotWrite,
                "The model cannot be written: it has \(model.versionIdentifiers.count) version identifiers, but a model file can hold only one; remove the others."
            )
        }
        attributes["userDefinedModelVersionIdentifier"] = model.versionIdentifiers.first
        return ModelElement(
            "model", attributes,
            arrange(
                [
                    ("entity", model.entities.map(element)),
                    ("fetchRequest", model.fetchRequestTemplates.map { element($0, []) }),
                    ("compositeAttribute", model.compositeAttributes.map(element)),
                    ("configuration", model.configurations.map(element)),
                ], like: original))
    }

    private static func element(_ entity: EntityDescription) -> ModelElement {
        let original = entity.origin.element
        return element(
            entity,
            [
                ("attribute", entity.attributes.map(element)),
                ("relationship", entity.relationships.map { element($0, [userInfo($0.userInfo, $0.origin.element)]) }),
                ("fetchedProperty", entity.fetchedProperties.map(element)),
                ("fetchIndex", entity.indexes.map(element)),
                lists(
                    ("compoundIndexes", "compoundIndex", "index"), entity.compoundIndexes, original,
                    read: ModelReader.compoundIndexes),
                lists(
                    ("uniquenessConstraints", "uniquenessConstraint", "constraint"), entity.uniquenessConstraints,
                    original, read: ModelReader.uniquenessConstraints),
                userInfo(entity.userInfo, original),
            ])
    }

    private static func element(_ attribute: AttributeDescription) -> ModelElement {
        element(attribute, [userInfo(attribute.userInfo, attribute.origin.element)])
    }

    private static func element(_ property: FetchedPropertyDescription) -> ModelElement {
        element(
            property,
            [
                ("fetchRequest", property.fetchRequest.map { [element($0, [])] } ?? []),
                userInfo(property.userInfo, property.origin.element),
            ])
    }

    private static func element(_ index: FetchIndexDescription) -> ModelElement {
        element(
            index,
            [
                unlessChanged("fetchIndexElement", index.elements, index.origin.element, ModelReader.indexElements) {
                    index.elements.map { part in
                        ModelElement(
                            "fetchIndexElement",
                            Dictionary(
                                uniqueKeysWithValues: FileAttribute<FetchIndexDescription.Element>.all.compactMap {
                                    attribute in attribute.write(part).map { (attribute.name, $0) }
                                }))
                    }
                }
            ])
    }

    private static func element(_ configuration: ConfigurationDescription) -> ModelElement {
        element(
            configuration,
            [
                unlessChanged(
                    "memberEntity", configuration.entities, configuration.origin.element, ModelReader.members
                ) {
                    configuration.entities.map { ModelElement("memberEntity", ["name": $0]) }
                }
            ])
    }

    private static func element(_ composite: CompositeAttributeDescription) -> ModelElement {
        element(composite, [("attribute", composite.elements.map(element))])
    }

    // MARK: - Parts

    private typealias Group = (name: String, elements: [ModelElement])

    private static func element<Description: FileDescription>(
        _ description: Description, _ groups: [Group]
    ) -> ModelElement {
        ModelElement(
            Description.elementName, description.printed, arrange(groups, like: description.origin.element))
    }

    /// Returns the children in the original order of their kinds, including those of unknown kinds.
    private static func arrange(_ groups: [Group], like original: ModelElement?) -> [ModelElement] {
        var arranged: [ModelElement] = []
        var done: Set<String> = []
        for child in original?.children ?? [] where done.insert(child.name).inserted {
            arranged += groups.first { $0.name == child.name }?.elements ?? original?.children(child.name) ?? []
        }
        for group in groups where !done.contains(group.name) { arranged += group.elements }
        return arranged
    }

    /// Returns the original elements if their value is unchanged, or else new ones.
    private static func unlessChanged<Value: Equatable>(
        _ name: String, _ value: Value, _ original: ModelElement?, _ read: (ModelElement) -> Value,
        _ make: () -> [ModelElement]
    ) -> Group {
        if let original, read(original) == value { return (name, original.children(name)) }
        return (name, make())
    }

    private static func userInfo(_ entries: [String: String], _ original: ModelElement?) -> Group {
        unlessChanged("userInfo", entries, original, ModelReader.userInfo) {
            guard !entries.isEmpty else { return [] }
            let sorted = entries.sorted { $0.key < $1.key }
            return [
                ModelElement("userInfo", [:], sorted.map { ModelElement("entry", ["key": $0.key, "value": $0.value]) })
            ]
        }
    }

    private static func lists(
        _ names: (list: String, item: String, part: String), _ values: [[String]], _ original: ModelElement?,
        read: (ModelElement) -> [[String]]
    ) -> Group {
        unlessChanged(names.list, values, original, read) {
            guard !values.isEmpty else { return [] }
            return [
                ModelElement(
                    names.list, [:],
                    values.map { item in
                        ModelElement(names.item, [:], item.map { ModelElement(names.part, ["value": $0]) })
                    })
            ]
        }
    }
}
