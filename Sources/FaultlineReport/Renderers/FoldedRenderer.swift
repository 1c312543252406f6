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
            tree.forEachPath { path, weight in
                // A name with a separator in it would become two.
                let names = path.map { Phrase.printable($0.function.name).replacing(";", with: ":") }
                lines.append(names.joined(separator: ";") + " \(weight)\n")
            }
            return lines.joined()
        }
    }
}
