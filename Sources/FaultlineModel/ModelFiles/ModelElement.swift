/// An element of a model file: its attributes and the elements in it.
///
/// Text between elements is not kept: model files have none.
final class ModelElement: Sendable {
    let name: String
    let attributes: [String: String]
    let children: [ModelElement]
    /// The line on which its start tag ends; 0: it was made, not read.
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
