public import FaultlineTrace

/// Builds a call tree.
public struct CallTreeBuilder: Sendable {
    private struct Edge: Hashable {
        var parent: Int
        var function: Int
    }

    private struct Entry {
        var function: Int
        var total: UInt64 = 0
        var own: UInt64 = 0
    }

    /// An allocation that is not freed yet.
    private struct Block: Hashable {
        var process: UInt32
        var event: EventID
    }

    /// The maximum number of functions on a path.
    ///
    /// Stacks are recorded with far fewer frames. Those of a damaged trace could be too deep to print.
    static let deepestPath = 1000

    private let weight: CallTreeWeight
    private let direction: CallTree.Direction
    private let hidesLibraries: Bool
    private var functions: [CodeFunction] = []
    private var numbers: [CodeFunction: Int] = [:]
    private var nodes: [Entry] = []
    private var children: [Edge: Int] = [:]
    private var total: UInt64 = 0
    private var events: UInt64 = 0
    private var unknown: UInt64 = 0
    /// The allocations that are not freed yet, if the tree shows those.
    private var blocks: [Block: (weight: UInt64, path: [CodeFunction], group: String?)] = [:]

    /// - Parameter hidesLibraries: Whether functions of system libraries are left out, so that their weight counts for the
    ///   functions that called them. The store's functions are left out where they call the program.
    public init(
        _ weight: CallTreeWeight, _ direction: CallTree.Direction = .topDown,
        hidingLibraries hidesLibraries: Bool = false
    ) {
        self.weight = weight
        self.direction = direction
        self.hidesLibraries = hidesLibraries
    }

    /// Adds an event, if it weighs anything.
    ///
    /// - Parameters:
    ///   - path: The functions of its call path, innermost first.
    ///   - group: The name of the group that it belongs to, which becomes the first node of its path; `nil` for none.
    /// - Complexity: O(functions).
    public mutating func add(
        _ event: TraceEvent, path: @autoclosure () -> [CodeFunction], group: @autoclosure () -> String? = nil
    ) {
        if weight == .live, case .allocation(let allocation) = event.detail, allocation.allocation != 0 {
            blocks[Block(process: event.process, event: allocation.allocation)] = nil
            return
        }
        let weight = weight.of(event)
        guard weight > 0 else { return }
        if self.weight == .live {
            blocks[Block(process: event.process, event: event.id)] = (weight, path(), group())
        } else {
            add(weight, path: path(), group: group())
        }
    }

    private mutating func add(_ weight: UInt64, path: [CodeFunction], group: String?) {
        events &+= 1
        total &+= weight
        let known = shown(path)
        if known.isEmpty { unknown &+= weight }
        if known.isEmpty, group == nil { return }
        var node = -1
        if let group {
            node = child(of: node, number(of: CodeFunction(name: group)))
            nodes[node].total &+= weight
        }
        for function in direction == .topDown ? Array(known.reversed()) : known {
            node = child(of: node, number(of: function))
            nodes[node].total &+= weight
        }
        nodes[node].own &+= weight
    }

    /// The part of a path that the tree shows.
    private func shown(_ path: [CodeFunction]) -> [CodeFunction] {
        var path = path[...]
        if !weight.isSampled {
            // The stack of an operation begins within it. The function that the program called stands for the operation.
            let inner = path.prefix { $0.part != .program }
            path = path.dropFirst(inner.lastIndex { $0.part == .store || $0.part == .sqlite } ?? 0)
        }
        // The functions that start programs and threads are on every path.
        while path.count > 1, path.last?.part == .system { path.removeLast() }
        let firstOfProgram = path.firstIndex { $0.part == .program } ?? path.endIndex
        var shown: [CodeFunction] = []
        for (index, function) in zip(path.indices, path) {
            // Where the store or the recorder called the program back, they are libraries like others.
            let isLibrary = function.part == .system || (function.part != .program && index > firstOfProgram)
            if hidesLibraries, isLibrary { continue }
            // Closures and specialized copies of a function have its name.
            if shown.last != function { shown.append(function) }
            if shown.count == Self.deepestPath { break }
        }
        return shown
    }

    private mutating func number(of function: CodeFunction) -> Int {
        if let known = numbers[function] { return known }
        functions.append(function)
        numbers[function] = functions.count - 1
        return functions.count - 1
    }

    private mutating func child(of parent: Int, _ function: Int) -> Int {
        let edge = Edge(parent: parent, function: function)
        if let known = children[edge] { return known }
        nodes.append(Entry(function: function))
        children[edge] = nodes.count - 1
        return nodes.count - 1
    }

    /// Returns the tree.
    ///
    /// - Complexity: O(n log n) in the number of nodes.
    public func finish() -> CallTree {
        guard blocks.isEmpty else {
            var whole = self
            whole.blocks = [:]
            for block in blocks.values { whole.add(block.weight, path: block.path, group: block.group) }
            return whole.finish()
        }
        var below: [Int: [Int]] = [:]
        for (edge, node) in children { below[edge.parent, default: []].append(node) }
        // A node comes after its parent, so that the children of each are complete when it is reached from the end.
        var complete: [Int: CallTree.Node] = [:]
        let sorted = { (nodes: [CallTree.Node]) in
            nodes.sorted {
                ($0.total, $1.function.name, $1.function.file, $1.function.module)
                    > ($1.total, $0.function.name, $0.function.file, $0.function.module)
            }
        }
        for index in nodes.indices.reversed() {
            let own = (below[index] ?? []).compactMap { complete.removeValue(forKey: $0) }
            let entry = nodes[index]
            complete[index] = CallTree.Node(
                function: functions[entry.function], total: entry.total, own: entry.own, children: sorted(own))
        }
        let roots = (below[-1] ?? []).compactMap { complete.removeValue(forKey: $0) }
        return CallTree(
            weight: weight, direction: direction, roots: sorted(roots), total: total, events: events, unknown: unknown)
    }
}
