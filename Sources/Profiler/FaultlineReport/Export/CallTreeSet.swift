internal import FaultlineProfile
internal import FaultlineTrace

/// The call trees of a trace, one for each weight, for formats of call paths.
struct CallTreeSet {
    private var builders: [CallTreeBuilder]
    private var processes: [UInt32: TraceDictionary] = [:]
    private var paths: [UInt32: CallPaths] = [:]

    /// Whether calls from different lines of a function have paths of their own.
    private let distinguishesLines: Bool

    init(_ weights: [CallTreeWeight], distinguishingLines distinguishesLines: Bool = false) {
        builders = weights.map { CallTreeBuilder($0) }
        self.distinguishesLines = distinguishesLines
    }

    mutating func add(_ message: TraceMessage) {
        switch message {
        case .entry(let process, let id, let entry):
            processes[process, default: TraceDictionary()].insert(entry, id: id)
            paths[process] = nil
        case .event(let event):
            var paths =
                self.paths.removeValue(forKey: event.process)
                ?? CallPaths(dictionary: processes[event.process] ?? TraceDictionary())
            for index in builders.indices {
                if distinguishesLines {
                    builders[index].add(event, frames: paths.frames(of: event))
                } else {
                    builders[index].add(event, path: paths.functions(of: event))
                }
            }
            self.paths[event.process] = paths
        case .began, .lost, .ended: break
        }
    }

    /// The trees of the weights that the trace has.
    ///
    /// If it has none of them, the last one without paths.
    func finish() -> [CallTree] {
        let trees = builders.map { $0.finish() }
        let filled = trees.filter { $0.total > 0 }
        return filled.isEmpty ? Array(trees.suffix(1)) : filled
    }
}

extension CallTree {
    /// A function for the weight of events without a call path.
    static let unknownFunction = CodeFunction(name: "[unknown]", part: .system)

    /// Passes each call path and the weight that ends there, in the tree's direction.
    func forEachPath(_ body: ([CallPaths.Frame], UInt64) -> Void) {
        func visit(_ node: Node, below path: [CallPaths.Frame]) {
            let path = path + [CallPaths.Frame(function: node.function, line: node.line)]
            // The weight that no child continues ends here, in either direction.
            let ending = node.total - min(node.total, node.children.reduce(0) { $0 &+ $1.total })
            if ending > 0 { body(path, ending) }
            for child in node.children { visit(child, below: path) }
        }
        for root in roots { visit(root, below: []) }
        let rest = total - min(total, roots.reduce(0) { $0 &+ $1.total })
        if rest > 0 { body([CallPaths.Frame(function: Self.unknownFunction, line: 0)], rest) }
    }
}

extension CallTreeWeight {
    /// The unit of the weight's numbers.
    var unit: String {
        switch self {
        case .cpu, .time: "nanoseconds"
        case .allocations, .live, .bytes: "bytes"
        case .trips, .rows: "count"
        }
    }
}
