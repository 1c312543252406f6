/// An element of a model file, with its attributes and children.
///
/// Text between elements is dropped; model files have none.
final class ModelElement: Sendable {
    let name: String
    let attributes: [String: String]
    let children: [ModelElement]
    /// The line on which its start tag ends; 0 if it was not read from a file.
    let line: Int

    init(_ name: String, _ attributes: [String: String] = [:], _ children: [ModelElement] = [], line: Int = 0) {
        self.name = name
        self.attributes = attributes
        self.children = children
        self.line = line
    }

    func children(_ name: String) -> [ModelElement] {
        children.filter { $0.name == name }
    }

    func child(_ name: String) -> ModelElement? {
        children.first { $0.name == name }
    }
}
