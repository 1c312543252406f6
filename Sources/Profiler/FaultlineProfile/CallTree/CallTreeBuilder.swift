package import FaultlineTrace

/// Builds a call tree.
package struct CallTreeBuilder: Sendable {
    private struct Edge: Hashable {
        var parent: Int
        var frame: Int
    }

    private struct Entry {
        var frame: Int
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
    private var frames: [CallPaths.Frame] = []
    private var numbers: [CallPaths.Frame: Int] = [:]
    private var nodes: [Entry] = []
    private var children: [Edge: Int] = [:]
    private var total: UInt64 = 0
    private var events: UInt64 = 0
    private var unknown: UInt64 = 0
    /// The allocations that are not freed yet, if the tree shows those.
    private var blocks: [Block: (weight: UInt64, path: [CallPaths.Frame], group: String?)] = [:]

    /// - Parameter hidesLibraries: Whether functions of system libraries are left out, so that their weight counts for the
    ///   functions that called them. The store's functions are left out where they call the program.
    package init(
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
    package mutating func add(
        _ event: TraceEvent, path: @autoclosure () -> [CodeFunction], group: @autoclosure () -> String? = nil
    ) {
        add(event, frames: path().map { CallPaths.Frame(function: $0, line: 0) }, group: group())
    }

    /// Adds an event to a tree that distinguishes lines, if the event weighs anything.
    ///
    /// A function that is called from different lines of another one then has a node for each.
    ///
    /// - Parameters:
    ///   - frames: The functions of its call path and their lines, innermost first.
    ///   - group: The name of the group that it belongs to, which becomes the first node of its path; `nil` for none.
    /// - Complexity: O(functions).
    package mutating func add(
        _ event: TraceEvent, frames: @autoclosure () -> [CallPaths.Frame], group: @autoclosure () -> String? = nil
    ) {
        if weight == .live, case .allocation(let allocation) = event.detail, allocation.allocation != 0 {
            blocks[Block(process: event.process, event: allocation.allocation)] = nil
            return
        }
        let weight = weight.of(event)
        guard weight > 0 else { return }
        if self.weight == .live {
            blocks[Block(process: event.process, event: event.id)] = (weight, frames(), group())
        } else {
            add(weight, path: frames(), group: group())
        }
    }

    private mutating func add(_ weight: UInt64, path: [CallPaths.Frame], group: String?) {
        events &+= 1
        total &+= weight
        let known = shown(path)
        if known.isEmpty { unknown &+= weight }
        if known.isEmpty, group == nil { return }
        var node = -1
        if let group {
            node = child(of: node, number(of: CallPaths.Frame(function: CodeFunction(name: group), line: 0)))
            nodes[node].total &+= weight
        }
        var own: Int?
        for frame in direction == .topDown ? Array(known.reversed()) : known {
            node = child(of: node, number(of: frame))
            nodes[node].total &+= weight
            // Top-down paths end with the function that ran; bottom-up paths begin with it.
            own = direction == .topDown ? node : own ?? node
        }
        nodes[own ?? node].own &+= weight
    }

    /// The part of a path that the tree shows.
    private func shown(_ path: [CallPaths.Frame]) -> [CallPaths.Frame] {
        var path = path[...]
        if !weight.isSampled {
            // The stack of an operation begins within it. The function that the program called stands for the operation.
            let inner = path.prefix { $0.function.part != .program }
            let operation = inner.lastIndex { $0.function.part == .store || $0.function.part == .sqlite }
            path = path.dropFirst(operation ?? 0)
        }
        // The functions that start programs and threads are on every path.
        while path.count > 1, path.last?.function.part == .system { path.removeLast() }
        let firstOfProgram = path.firstIndex { $0.function.part == .program } ?? path.endIndex
        var shown: [CallPaths.Frame] = []
        for (index, frame) in zip(path.indices, path) {
            // Where the store or the recorder called the program back, they are libraries like others.
            let part = frame.function.part
            let isLibrary = part == .system || (part != .program && index > firstOfProgram)
            if hidesLibraries, isLibrary { continue }
            // Closures and specialized copies of a function have its name.
            if shown.last?.function != frame.function { shown.append(frame) }
            if shown.count == Self.deepestPath { break }
        }
        return shown
    }

    private mutating func number(of frame: CallPaths.Frame) -> Int {
        if let known = numbers[frame] { return known }
        frames.append(frame)
        numbers[frame] = frames.count - 1
        return frames.count - 1
    }

    private mutating func child(of parent: Int, _ frame: Int) -> Int {
        let edge = Edge(parent: parent, frame: frame)
        if let known = children[edge] { return known }
        nodes.append(Entry(frame: frame))
        children[edge] = nodes.count - 1
        return nodes.count - 1
    }

    /// Returns the tree.
    ///
    /// - Complexity: O(n log n) in the number of nodes.
    package func finish() -> CallTree {
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
            nodes.ordered {
                ($0.total, $1.function.name, $1.function.file, $1.function.module, $1.line)
                    > ($1.total, $0.function.name, $0.function.file, $0.function.module, $0.line)
            }
        }
        for index in nodes.indices.reversed() {
            let own = (below[index] ?? []).compactMap { complete.removeValue(forKey: $0) }
            let entry = nodes[index]
            let frame = frames[entry.frame]
            complete[index] = CallTree.Node(
                function: frame.function, line: frame.line, total: entry.total, own: entry.own, children: sorted(own))
        }
        let roots = (below[-1] ?? []).compactMap { complete.removeValue(forKey: $0) }
        return CallTree(
            weight: weight, direction: direction, roots: sorted(roots), total: total, events: events, unknown: unknown)
    }
}
