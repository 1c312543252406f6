internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// A call tree as text: each function below its caller, with its weight.
struct CallTreeText {
    let tree: CallTree
    /// The smallest share of the whole that a node must have to be shown, from 0 to 1.
    let smallestShare: Double

    func render(width: Int, colour: Bool) -> String {
        let ink = Ink(isColoured: colour)
        guard tree.total > 0 else { return tree.weight.absence + "\n" }
        var table = TextTable([
            .init(title: "total", alignment: .right), .init(title: "share", alignment: .right),
            .init(title: "self", alignment: .right), .init(title: "function", alignment: .left, losing: .middle),
            .init(title: "file", alignment: .left, losing: .beginning),
        ])
        var left: UInt64 = 0
        for root in tree.roots { add(root, depth: 0, to: &table, left: &left) }
        var lines = [title(ink)] + table.section(ink, width: width)
        if left > 0 {
            let share = Phrase.percent(smallestShare)
            lines.append("  " + ink(.dim, "(\(Phrase.count(left, "path")) below \(share) left out)"))
        }
        if tree.unknown > 0 {
            let words = "\(tree.weight.text(tree.unknown)) without a call path"
            lines += Phrase.wrapped(words, width: width - 2).map { "  " + ink(.dim, $0) }
        }
        return TextPage.joined([lines], ink)
    }

    private func title(_ ink: Ink) -> String {
        let direction = tree.direction == .topDown ? "top-down" : "bottom-up"
        let events = Phrase.count(tree.events, tree.weight.isSampled ? "sample" : "event")
        return ink(.bold, "\(tree.weight.title), \(direction)") + "  (\(tree.weight.text(tree.total)) in \(events))"
    }

    private func add(_ node: CallTree.Node, depth: Int, to table: inout TextTable, left: inout UInt64) {
        let share = Double(node.total) / Double(tree.total)
        guard share >= smallestShare else {
            left += 1
            return
        }
        let function = node.function
        let file = function.file.isEmpty ? function.module : Phrase.fileName(function.file)
        table.add([
            tree.weight.text(node.total), Phrase.percent(share), node.own > 0 ? tree.weight.text(node.own) : "",
            String(repeating: " ", count: min(depth, Self.deepest)) + node.function.name, file,
        ])
        for child in node.children { add(child, depth: depth + 1, to: &table, left: &left) }
    }

    /// The deepest indentation.
    private static let deepest = 24
}

extension CallTreeWeight {
    /// The heading of a tree.
    var title: String {
        switch self {
        case .cpu: "CPU time"
        case .allocations: "Allocated memory"
        case .live: "Memory that was not freed"
        case .time: "Time in the store"
        case .trips: "Round trips"
        case .rows: "Rows"
        case .bytes: "Bytes read"
        }
    }

    /// The sentence for a trace in which nothing weighs anything.
    var absence: String {
        switch self {
        case .cpu: "The trace has no samples of CPU time. To sample it, record with --cpu."
        case .allocations: "The trace has no samples of allocations. To sample them, record with --allocations."
        case .live:
            "No sampled allocation is left that was not freed. If none was sampled, record with --allocations."
        default: "No event of the trace has a weight by \(rawValue)."
        }
    }

    func text(_ weight: UInt64) -> String {
        switch self {
        case .cpu, .time: Phrase.duration(weight)
        case .trips, .rows: Phrase.count(weight)
        case .allocations, .live, .bytes: Phrase.size(Double(weight))
        }
    }
}

extension CallTree: Document {
    package func text(_ layout: Layout) -> String {
        CallTreeText(tree: self, smallestShare: layout.smallestShare)
            .render(width: layout.width, colour: layout.isColoured)
    }
}
