/// A description that corresponds to an element of a model file.
protocol FileDescription: Equatable {
    /// The name of the element.
    static var elementName: String { get }
    /// The XML attributes for the description's values.
    static var fileAttributes: [FileAttribute<Self>] { get }
    /// An empty description.
    static var blank: Self { get }
    var origin: Origin { get set }
}

extension FileDescription {
    /// Reads the attributes of an element.
    ///
    /// Also returns the problem with the first attribute that cannot be read.
    static func read(_ element: ModelElement) -> (Self, problem: String?) {
        var description = blank
        for attribute in fileAttributes {
            if let problem = attribute.read(&description, element.attributes[attribute.name]) {
                return (description, problem)
            }
        }
        return (description, nil)
    }

    /// The attributes to write: those of the file that the description came from, with the changes since.
    ///
    /// This preserves attributes that the model does not know, and the original spelling of values.
    var printed: [String: String] {
        guard let original = origin.element else {
            return Dictionary(
                uniqueKeysWithValues: Self.fileAttributes.compactMap { attribute in
                    attribute.write(self).map { (attribute.name, $0) }
                })
        }
        var attributes = original.attributes
        let read = Self.read(original).0
        for attribute in Self.fileAttributes {
            let text = attribute.write(self)
            if text != attribute.write(read) { attributes[attribute.name] = text }
        }
        return attributes
    }
}

extension AttributeDescription: FileDescription {
    static var elementName: String { "attribute" }
    static var fileAttributes: [FileAttribute<Self>] { FileAttribute<Self>.all }
    static var blank: Self { Self("", .undefined) }
}

extension RelationshipDescription: FileDescription {
    static var elementName: String { "relationship" }
    static var fileAttributes: [FileAttribute<Self>] { FileAttribute<Self>.all }
    static var blank: Self { Self("", to: "", inverse: nil) }
}

extension FetchedPropertyDescription: FileDescription {
    static var elementName: String { "fetchedProperty" }
    static var fileAttributes: [FileAttribute<Self>] { FileAttribute<Self>.all }
    static var blank: Self { Self("", fetchRequest: nil) }
}

extension FetchRequestTemplate: FileDescription {
    static var elementName: String { "fetchRequest" }
    static var fileAttributes: [FileAttribute<Self>] { FileAttribute<Self>.all }
    static var blank: Self { Self("", entity: "") }
}

extension FetchIndexDescription: FileDescription {
    static var elementName: String { "fetchIndex" }
    static var fileAttributes: [FileAttribute<Self>] { FileAttribute<Self>.all }
    static var blank: Self { Self("", elements: []) }
}

extension EntityDescription: FileDescription {
    static var elementName: String { "entity" }
    static var fileAttributes: [FileAttribute<Self>] { FileAttribute<Self>.all }
    static var blank: Self { Self("") }
}

extension ConfigurationDescription: FileDescription {
    static var elementName: String { "configuration" }
    static var fileAttributes: [FileAttribute<Self>] { FileAttribute<Self>.all }
    static var blank: Self { Self("", entities: []) }
}

extension CompositeAttributeDescription: FileDescription {
    static var elementName: String { "compositeAttribute" }
    static var fileAttributes: [FileAttribute<Self>] { FileAttribute<Self>.all }
    static var blank: Self { Self("", elements: []) }
}
