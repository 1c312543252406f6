extension FileAttribute<AttributeDescription> {
    /// The attributes of `attribute`; the type comes before those that depend on it.
    static var all: [Self] {
        [
            .text("name", \.name), type, .flag("optional", \.isOptional), .flag("transient", \.isTransient),
            .text("derivationExpression", \.derivationExpression), derived,
            .value("defaultValueString", "the default", \.defaultValue, isDate: false),
            .value("defaultDateTimeInterval", "the default", \.defaultValue, isDate: true),
            .value("minValueString", "the minimum", \.minimumValue, isDate: false),
            .value("minDateTimeInterval", "the minimum", \.minimumValue, isDate: true),
            .value("maxValueString", "the maximum", \.maximumValue, isDate: false),
            .value("maxDateTimeInterval", "the maximum", \.maximumValue, isDate: true),
            .text("regularExpressionString", \.regularExpression),
            .flag("allowsExternalBinaryDataStorage", \.allowsExternalBinaryDataStorage),
            .text("valueTransformerName", \.valueTransformerName), .text("customClassName", \.attributeValueClassName),
            .flag("usesScalarValueType", \.usesScalarValueType), .flag("indexed", \.isIndexed),
            .flag("spotlightIndexingEnabled", \.isIndexedBySpotlight),
            .flag("preserveAfterDeletion", \.preservesValueInHistoryOnDeletion),
            .flag("allowsCloudEncryption", \.allowsCloudEncryption), .flag("syncable", \.isSyncable, default: true),
            .text("elementID", \.renamingIdentifier), .text("versionHashModifier", \.versionHashModifier),
        ]
    }

    private static var type: Self {
        Self(
            name: "attributeType",
            read: { attribute, text in
                guard let type = text.map(AttributeType.init) ?? .undefined else {
                    let known = AttributeType.allCases.map(\.rawValue).joined(separator: ", ")
                    return "has the type '\(text ?? "")', which is not one of \(known); correct it"
                }
                attribute.type = type
                return nil
            }, write: { $0.type == .undefined ? nil : $0.type.rawValue })
    }

    private static var derived: Self {
        Self(
            name: "derived",
            read: { attribute, text in
                if text.flatMap(FileValue.flag) == true {
                    attribute.derivationExpression = attribute.derivationExpression ?? ""
                } else {
                    attribute.derivationExpression = nil
                }
                return nil
            }, write: { $0.isDerived ? "YES" : nil })
    }

    /// - Parameter isDate: Whether the XML attribute is the one for dates rather than the one for all other types.
    private static func value(
        _ name: String, _ role: String, _ path: WritableKeyPath<AttributeDescription, AttributeValue?>, isDate: Bool
    ) -> Self {
        Self(
            name: name,
            read: { attribute, text in
                guard isDate == (attribute.type == .date) else { return nil }
                attribute[keyPath: path] = nil
                // For text, the limits apply to the length.
                let type = attribute.type == .string && path != \.defaultValue ? .integer64 : attribute.type
                guard let text, !text.isEmpty || type == .string else { return nil }
                switch type {
                // Defaults of these types cannot be written as text.
                case .binary, .transformable, .undefined, .composite: return nil
                default: break
                }
                guard let value = FileValue.value(text, type) else {
                    return "has \(role) '\(text)', which is not a value of type \(type.rawValue); correct it"
                }
                attribute[keyPath: path] = value
                return nil
            },
            write: { attribute in
                guard isDate == (attribute.type == .date) else { return nil }
                return attribute[keyPath: path].flatMap(FileValue.text)
            })
    }
}

extension FileAttribute<RelationshipDescription> {
    /// The attributes of `relationship`.
    static var all: [Self] {
        [
            .text("name", \.name), .flag("optional", \.isOptional), .flag("transient", \.isTransient),
            .flag("toMany", \.isToMany), .count("minCount", \.minimumCount), maximum, deletionRule,
            .flag("ordered", \.isOrdered), .text("destinationEntity", \.destination),
            .reference("inverseName", \.inverse),
            // Redundant: the destination states the same.
            Self(
                name: "inverseEntity", read: { _, _ in nil }, write: { $0.inverse == nil ? nil : $0.destination }),
            .flag("spotlightIndexingEnabled", \.isIndexedBySpotlight), .flag("syncable", \.isSyncable, default: true),
            .text("elementID", \.renamingIdentifier), .text("versionHashModifier", \.versionHashModifier),
        ]
    }

    /// A maximum of one object makes a relationship to-one, whatever the other attributes say.
    private static var maximum: Self {
        let count = Self.count("maxCount", \.maximumCount)
        return Self(
            name: "maxCount",
            read: { relationship, text in
                if let problem = count.read(&relationship, text) { return problem }
                if relationship.maximumCount == 1 { relationship.isToMany = false }
                if !relationship.isToMany { relationship.maximumCount = 0 }
                return nil
            }, write: { $0.isToMany ? count.write($0) : "1" })
    }

    private static var deletionRule: Self {
        Self(
            name: "deletionRule",
            read: { relationship, text in
                guard let rule = text.map(DeleteRule.init) ?? .nullify else {
                    let known = DeleteRule.allCases.map(\.rawValue).joined(separator: ", ")
                    return "has the deletion rule '\(text ?? "")', which is not one of \(known); correct it"
                }
                relationship.deleteRule = rule
                return nil
            }, write: { $0.deleteRule.rawValue })
    }
}
