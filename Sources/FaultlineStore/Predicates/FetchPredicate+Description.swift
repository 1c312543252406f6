import FaultlineModel

extension FetchPredicate: CustomStringConvertible {
    /// The predicate in Core Data's predicate format, with its values.
    public var description: String { node.text(values: true, isOutermost: true) }

    /// The predicate with `?` for its values: equal for predicates that differ in nothing else.
    package var shape: String { node.text(values: false, isOutermost: true) }
}

extension FetchPredicate.Node {
    fileprivate func text(values: Bool, isOutermost: Bool) -> String {
        switch self {
        case .comparison(let path, let operation, let operand, let options):
            "\(path) \(operation.rawValue)\(options.suffix) \(operand.text(values: values))"
        case .between(let path, let lower, let upper):
            values ? "\(path) BETWEEN {\(lower), \(upper)}" : "\(path) BETWEEN {?, ?}"
        case .isIn(let path, let operands):
            // The length of the list is a value too.
            values ? "\(path) IN {\(operands.map { $0.text(values: true) }.joined(separator: ", "))}" : "\(path) IN {?}"
        case .and(let nodes): Self.join(nodes, " AND ", values, isOutermost)
        case .or(let nodes): Self.join(nodes, " OR ", values, isOutermost)
        case .not(let node): "NOT \(node.text(values: values, isOutermost: false))"
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        }
    }

    private static func join(
        _ nodes: [FetchPredicate.Node], _ word: String, _ values: Bool, _ isOutermost: Bool
    ) -> String {
        let text = nodes.map { $0.text(values: values, isOutermost: false) }.joined(separator: word)
        return isOutermost ? text : "(\(text))"
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
