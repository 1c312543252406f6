import Foundation
import FoundationXML

/// The XML of a file as a tree that can be compared, parsed independently of the model.
struct XMLTree: Hashable, CustomStringConvertible {
    var name: String
    var attributes: [String: String]
    var children: [XMLTree]
    /// The text of an element without children, apart from spaces at its ends.
    var text: String

    init(_ data: Data) throws {
        self.init(try XMLDocument(data: data).rootElement()!)
    }

    private init(_ element: XMLElement) {
        name = element.name ?? ""
        attributes = Dictionary(
            uniqueKeysWithValues: (element.attributes ?? []).map { ($0.name ?? "", $0.stringValue ?? "") })
        children = (element.children ?? []).compactMap { ($0 as? XMLElement).map(XMLTree.init) }
        text =
            children.isEmpty ? (element.stringValue ?? "").trimmingCharacters(in: .whitespacesAndNewlines) : ""
    }

    func all(_ name: String) -> [XMLTree] {
        (self.name == name ? [self] : []) + children.flatMap { $0.all(name) }
    }

    /// The tree as lines, so a failing test shows the line that differs.
    var description: String {
        let own =
            "\(name) \(attributes.sorted { $0.key < $1.key }.map { "\($0)=\"\($1)\"" }.joined(separator: " ")) \(text)"
        let inner = children.flatMap { $0.description.split(separator: "\n").map { "  \($0)" } }
        return ([own] + inner).joined(separator: "\n")
    }
}
