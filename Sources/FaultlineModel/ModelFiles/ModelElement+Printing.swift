extension ModelElement {
    /// Returns the element as the text of a file in Xcode's format: four spaces per level, one element per line.
    ///
    /// - Throws: ``ModelError`` if a text contains a character that XML cannot represent.
    func document() throws(ModelError) -> String {
        var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
        try print(to: &text, indent: "")
        return text
    }

    private func print(to text: inout String, indent: String) throws(ModelError) {
        text += "\(indent)<\(name)"
        for key in attributes.keys.sorted(by: { Self.comesFirst($0, $1, name) }) {
            text += " \(key)=\"\(try escaped(attributes[key]!, key))\""
        }
        guard !children.isEmpty else {
            text += "/>\n"
            return
        }
        text += ">\n"
        for child in children { try child.print(to: &text, indent: indent + "    ") }
        text += "\(indent)</\(name)>\n"
    }

    private func escaped(_ value: String, _ key: String) throws(ModelError) -> String {
        var text = ""
        for character in value.unicodeScalars {
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            // Unescaped, these would be read as spaces in an attribute's value.
            case "\t", "\n", "\r": text += "&#\(character.value);"
            case "\u{0}"..."\u{1f}", "\u{fffe}", "\u{ffff}":
                throw ModelError(
                    .cannotWrite,
                    "The model cannot be written: '\(key)' of '\(attributes["name"] ?? name)' contains a control character (\(character.value)), which XML does not allow; remove it."
                )
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }

    /// Xcode's order of attributes; others come last, by name.
    private static let order = [
        "key", "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion",
        "sourceLanguage", "userDefinedModelVersionIdentifier", "name", "representedClassName", "parentEntity",
        "isAbstract", "optional", "toMany", "minCount", "maxCount", "transient", "attributeType", "minValueString",
        "maxValueString", "minDateTimeInterval", "maxDateTimeInterval", "defaultValueString",
        "defaultDateTimeInterval", "usesScalarValueType", "valueTransformerName", "customClassName", "derived",
        "derivationExpression", "deletionRule", "ordered", "destinationEntity", "inverseName", "inverseEntity",
        "elementID", "versionHashModifier", "syncable", "codeGenerationType", "property", "expression",
        "expressionType", "entity", "predicateString", "value", "positionX", "positionY", "width", "height",
    ]
    private static let ranks = Dictionary(uniqueKeysWithValues: order.enumerated().map { ($1, $0) })

    private static func comesFirst(_ left: String, _ right: String, _ element: String) -> Bool {
        // An index element begins with its property, not with its type.
        func rank(_ key: String) -> Int {
            element == "fetchIndexElement" && key == "type" ? order.count : ranks[key] ?? order.count + 2
        }
        func late(_ key: String) -> Int {
            element == "fetchIndexElement" && key == "order" ? order.count + 1 : rank(key)
        }
        return (late(left), left) < (late(right), right)
    }
}
