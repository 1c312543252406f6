import FaultlineModel

extension FetchPredicate: CustomStringConvertible {
    /// The predicate in Core Data's predicate format, with its values.
    public var description: String { node.text(values: true, isOutermost: true) }

    /// The predicate with `?` for its values: equal for predicates that differ in nothing else.
    package var shape: String { node.text(values: false, isOutermost: true) }
}

extension FetchPredicate.Node {
    /// A part of the text that is still to be written.
    private enum Piece {
        case node(FetchPredicate.Node, isOutermost: Bool)
        case text(String)
    }

    /// Written without recursion: a chain of terms may be longer than the stack is deep.
    fileprivate func text(values: Bool, isOutermost: Bool) -> String {
        var text = ""
        var waiting: [Piece] = [.node(self, isOutermost: isOutermost)]
        while let piece = waiting.popLast() {
            switch piece {
            case .text(let part): text += part
            case .node(.and(let nodes), let isOutermost): Self.push(nodes, " AND ", isOutermost, on: &waiting)
            case .node(.or(let nodes), let isOutermost): Self.push(nodes, " OR ", isOutermost, on: &waiting)
            case .node(.not(let node), _):
                text += "NOT "
                waiting.append(.node(node, isOutermost: false))
            case .node(let comparison, _): text += comparison.comparisonText(values: values)
            }
        }
        return text
    }

    /// Puts what a compound is written as on a stack, the last part first.
    private static func push(
        _ nodes: [FetchPredicate.Node], _ word: String, _ isOutermost: Bool, on waiting: inout [Piece]
    ) {
        if !isOutermost { waiting.append(.text(")")) }
        for (place, node) in nodes.enumerated().reversed() {
            waiting.append(.node(node, isOutermost: false))
            if place > 0 { waiting.append(.text(word)) }
        }
        if !isOutermost { waiting.append(.text("(")) }
    }

    private func comparisonText(values: Bool) -> String {
        switch self {
        case .comparison(let path, let operation, let operand, let options):
            "\(path) \(operation.rawValue)\(options.suffix) \(operand.text(values: values))"
        case .between(let path, let lower, let upper):
            values ? "\(path) BETWEEN {\(lower), \(upper)}" : "\(path) BETWEEN {?, ?}"
        case .isIn(let path, let operands):
            // The length of the list is a value too.
            values ? "\(path) IN {\(operands.map { $0.text(values: true) }.joined(separator: ", "))}" : "\(path) IN {?}"
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .and, .or, .not: ""
        }
    }
}

extension FetchPredicate.Operand {
    fileprivate func text(values: Bool) -> String {
        switch self {
        // That there is no value belongs to the shape: the statement is another one.
        case .null: "nil"
        case .value(let value): values ? value.description : "?"
        case .object(let id): values ? id.description : "?"
        }
    }
}
