extension MappingOrigin {
    private static let header = """
        <?xml version="1.0" standalone="yes"?>
        <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">


        """

    /// Returns the text of the file as Xcode writes it: four spaces per level, with the text of an element on its line.
    ///
    /// The texts came from XML, so they have no characters that XML cannot represent.
    func document() -> String {
        var text = Self.header
        Self.print(root, to: &text, indent: "")
        // Xcode does not end the last line.
        text.removeLast()
        return text
    }

    private static func print(_ element: ModelElement, to text: inout String, indent: String) {
        let attributes = element.attributes.filter { $0.key != "" }.sorted { rank($0.key) < rank($1.key) }
        let tag = ([element.name] + attributes.map { "\($0)=\"\(ModelElement.escaped($1, isAttribute: true))\"" })
        text += "\(indent)<\(tag.joined(separator: " "))>"
        if element.children.isEmpty {
            text += ModelElement.escaped(element.attributes[""] ?? "", isAttribute: false)
        } else {
            text += "\n"
            for child in element.children { print(child, to: &text, indent: indent + "    ") }
            text += indent
        }
        text += "</\(element.name)>\n"
    }

    /// The order of attributes; others come last, by name.
    private static func rank(_ name: String) -> (Int, String) {
        let order = ["name", "type", "id", "destination", "idrefs"]
        return (order.firstIndex(of: name) ?? order.count, name)
    }
}
