internal import FaultlineAnalysis
internal import FaultlineTrace

/// A call tree as JSON.
enum CallTreeJSON {
    /// The version of the keys.
    ///
    /// It increases when a key is removed or changes its meaning.
    static let version = 1

    static func render(_ tree: CallTree) -> String {
        JSONValue.sorted([
            "version": .integer(Int64(version)), "weight": .string(tree.weight.rawValue),
            "direction": .string(tree.direction.rawValue),
            "total": .unsigned(tree.total), "events": .unsigned(tree.events), "unknown": .unsigned(tree.unknown),
            "roots": .array(tree.roots.map(node)),
        ]).indented + "\n"
    }

    private static func node(_ node: CallTree.Node) -> JSONValue {
        .sorted([
            "function": .string(node.function.name), "file": .string(node.function.file),
            "module": .string(node.function.module), "part": .string(node.function.part.rawValue),
            "total": .unsigned(node.total), "self": .unsigned(node.own),
            "children": .array(node.children.map(self.node)),
        ])
    }
}
