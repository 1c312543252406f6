/// A description that is an element of a model file.
protocol FileDescription: Equatable {
    /// What the element is called.
    static var elementName: String { get }
    /// The attributes that a description is made of.
    static var fileAttributes: [FileAttribute<Self>] { get }
    /// A description that says nothing yet.
    static var blank: Self { get }
    var origin: Origin { get set }
}

extension FileDescription {
    /// Reads the attributes of an element.
    ///
    /// Returns also what is wrong with the first of them that cannot be read.
    static func read(_ element: ModelElement) -> (Self, problem: String?) {
        var description = blank
        for attribute in fileAttributes {
            if let problem = attribute.read(&description, element.attributes[attribute.name]) {
                return (description, problem)
            }
        }
        return (description, nil)
    }

    /// The attributes to print: those of the file that the description came from, and what was changed since.
    ///
    /// So what the model has no word for is kept, and so is the way in which a value was written.
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
