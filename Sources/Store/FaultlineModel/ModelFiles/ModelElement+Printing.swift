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
        for character in value.unicodeScalars where !["\t", "\n", "\r"].contains(character) {
            let isControl = character < " " || character == "\u{fffe}" || character == "\u{ffff}"
            guard isControl else { continue }
            throw ModelError(
                .cannotWrite,
                "The model cannot be written: '\(key)' of '\(attributes["name"] ?? name)' contains a control character (\(character.value)), which XML does not allow; remove it."
            )
        }
        return Self.escaped(value, isAttribute: true)
    }

    /// Returns a text as XML represents it in an attribute's value, or between the tags of an element.
    static func escaped(_ value: String, isAttribute: Bool) -> String {
        var text = ""
        for character in value.unicodeScalars {
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"" where isAttribute: text += "&quot;"
            // Unescaped, a carriage return would be read as a line feed, and all three as spaces in an attribute's value.
            case "\r": text += "&#13;"
            case "\t" where isAttribute, "\n" where isAttribute: text += "&#\(character.value);"
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
