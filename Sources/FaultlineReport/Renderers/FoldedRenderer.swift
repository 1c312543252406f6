internal import FaultlineAnalysis
internal import FaultlineTrace

/// Folded stacks, the input of flame graph tools: one line for each call path, with its weight.
///
///     main;outer;inner 30303030
///
/// The names are separated by semicolons (https://github.com/brendangregg/FlameGraph).
struct FoldedRenderer: Renderer {
    let name = "folded"
    let purpose = "for flame graph tools"

    var tree: Printer<CallTree>? {
        { tree, _ in
            var lines: [String] = []
            for root in tree.roots { Self.add(root, below: [], to: &lines) }
            let rest = tree.total - min(tree.total, tree.roots.reduce(0) { $0 &+ $1.total })
            if rest > 0 { lines.append("[unknown] \(rest)\n") }
            return lines.joined()
        }
    }

    private static func add(_ node: CallTree.Node, below path: [String], to lines: inout [String]) {
        // A name with a separator in it would become two.
        let name = Phrase.printable(node.function.name).map { $0 == ";" ? ":" : $0 }
        let path = path + [String(name)]
        if node.own > 0 { lines.append(path.joined(separator: ";") + " \(node.own)\n") }
        for child in node.children { add(child, below: path, to: &lines) }
    }
}
