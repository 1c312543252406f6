extension FileAttribute<EntityDescription> {
    /// The attributes of `entity`.
    static var all: [Self] {
        [
            .text("name", \.name), .text("representedClassName", \.managedObjectClassName),
            .reference("parentEntity", \.parent), .flag("isAbstract", \.isAbstract),
            .flag("syncable", \.isSyncable, default: true, isWritten: true),
            .text("codeGenerationType", \.codeGenerationType), .text("elementID", \.renamingIdentifier),
            .text("versionHashModifier", \.versionHashModifier),
            .text("coreSpotlightDisplayNameExpression", \.coreSpotlightDisplayNameExpression),
        ]
    }
}

extension FileAttribute<FetchedPropertyDescription> {
    /// The attributes of `fetchedProperty`.
    static var all: [Self] {
        [
            .text("name", \.name), .flag("optional", \.isOptional), .flag("syncable", \.isSyncable, default: true),
        ]
    }
}

extension FileAttribute<FetchRequestTemplate> {
    /// The attributes of `fetchRequest`.
    static var all: [Self] {
        [.text("name", \.name), .text("entity", \.entity), .text("predicateString", \.predicate)]
    }
}

extension FileAttribute<FetchIndexDescription> {
    /// The attributes of `fetchIndex`.
    static var all: [Self] { [.text("name", \.name)] }
}

extension FileAttribute<FetchIndexDescription.Element> {
    /// The attributes of `fetchIndexElement`.
    static var all: [Self] {
        [
            Self(
                name: "property",
                read: { element, text in
                    element.property = text ?? ""
                    return nil
                }, write: { $0.expression == nil ? $0.property : nil }),
            .text("expression", \.expression),
            Self(
                name: "expressionType",
                read: { element, text in
                    element.expressionType = text.flatMap(AttributeType.init)
                    return nil
                }, write: { $0.expressionType?.rawValue }),
            Self(
                name: "type",
                read: { element, text in
                    // The kind of an index does not affect results, so an unknown one is not an error.
                    element.kind = text.flatMap(FetchIndexDescription.Kind.init) ?? .binary
                    return nil
                }, write: { $0.kind.rawValue }),
            Self(
                name: "order",
                read: { element, text in
                    element.isAscending = text != "descending"
                    return nil
                }, write: { $0.isAscending ? "ascending" : "descending" }),
        ]
    }
}

extension FileAttribute<ConfigurationDescription> {
    /// The attributes of `configuration`.
    static var all: [Self] { [.text("name", \.name), .flag("usedWithCloudKit", \.isUsedWithCloudKit)] }
}

extension FileAttribute<CompositeAttributeDescription> {
    /// The attributes of `compositeAttribute`.
    static var all: [Self] { [.text("name", \.name)] }
}
