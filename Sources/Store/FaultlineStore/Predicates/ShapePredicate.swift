import FaultlineModel

/// A predicate without its values, in the form of a trace's shape (`ShapeEntry.predicate`).
package struct ShapePredicate {
    /// A placeholder for a value or a list of values.
    package struct Position: Hashable {
        /// The key path of the property that the value is compared with; empty for the object itself.
        package var names: [String]
        package var operation: FetchPredicate.Operator
        /// Whether the placeholder stands for a list, as with `IN`; the two bounds of `BETWEEN` are two places.
        package var isList: Bool
        /// Whether the comparison is negated.
        package var isNegated: Bool
    }

    /// From left to right.
    package let positions: [Position]
    private let node: FetchPredicate.Node

    private init(positions: [Position], node: FetchPredicate.Node) {
        self.positions = positions
        self.node = node
    }

    /// Parses a predicate with `?` for its values.
    ///
    /// - Returns: `nil` if a value cannot be attributed to a property, for example within an expression.
    /// - Throws: ``StoreError`` with the code ``StoreError/Code/predicateFormat`` if the text cannot be parsed.
    package init?(_ shape: String) throws(StoreError) {
        let format = Self.format(shape)
        node = try FetchPredicate(format: format).node
        var positions: [Position] = []
        node.forEachComparison { comparison, isNegated in
            guard comparison.modifier == .direct || comparison.modifier == .any,
                case .path(let path) = comparison.left, path.root == .object
            else { return }
            let position = { (isList: Bool) in
                Position(
                    names: path.names, operation: comparison.operation, isList: isList, isNegated: isNegated)
            }
            switch comparison.right {
            case .path(let right) where Self.isVariable(right):
                positions.append(position(comparison.operation == .isIn))
            case .list(let elements) where elements.allSatisfy({ $0.isVariable }):
                positions += elements.map { _ in position(false) }
            default: break
            }
        }
        guard positions.count == FetchPredicate(node).variables.count else { return nil }
        self.positions = positions
    }

    /// Returns the predicate with a value, an object or a list in each place.
    package func predicate(_ values: [any FetchPredicateArgument]) throws(StoreError) -> FetchPredicate {
        var named: [String: (any FetchPredicateArgument)?] = [:]
        for (position, value) in values.enumerated() { named[Self.name(position)] = value }
        return try FetchPredicate(node).withSubstitutionVariables(named)
    }

    /// Returns the predicate with its terms in another order.
    ///
    /// - Parameter order: The current indexes of the terms, in the new order.
    /// - Returns: `nil` if the predicate is not a conjunction of that many single terms.
    package func reordered(_ order: [Int]) -> ShapePredicate? {
        guard case .and(let nodes) = node, nodes.count == order.count, Set(order) == Set(nodes.indices),
            nodes.allSatisfy({ $0.isSingleTerm })
        else { return nil }
        // Values keep their numbers when their terms move.
        return ShapePredicate(positions: positions, node: .and(order.map { nodes[$0] }))
    }

    /// Returns the predicate with a list in place of its only value, so that `==` becomes `IN`.
    ///
    /// - Returns: `nil` if there is not exactly one value, or if it is compared with another operator.
    package func joined() -> ShapePredicate? {
        guard positions.count == 1, var position = positions.first, let node = node.joined else { return nil }
        (position.operation, position.isList) = (.isIn, true)
        return ShapePredicate(positions: [position], node: node)
    }

    // MARK: - The text

    private static func name(_ position: Int) -> String { "value\(position)" }

    private static func isVariable(_ path: FetchPath) -> Bool {
        if case .variable = path.root { path.names.isEmpty } else { false }
    }

    /// Replaces every value by a variable; `{?}` is a list of any length.
    private static func format(_ shape: String) -> String {
        var text = ""
        var count = 0
        var isQuoted = false
        var rest = shape[...]
        while let first = rest.first {
            if !isQuoted, first == "?" || rest.hasPrefix("{?}") {
                text += "$\(name(count))"
                count += 1
                rest = rest.dropFirst(first == "?" ? 1 : 3)
                continue
            }
            if first == "\"" { isQuoted.toggle() }
            text.append(first)
            rest.removeFirst()
        }
        return text
    }
}

extension FetchExpression.Node {
    fileprivate var isVariable: Bool {
        guard case .path(let path) = self, case .variable = path.root else { return false }
        return path.names.isEmpty
    }
}

extension FetchPredicate.Comparison {
    /// The equivalent comparison with the value's placeholder on its right, if there is one.
    fileprivate var placeLast: FetchPredicate.Comparison {
        guard left.isVariable, !right.isVariable, modifier == .direct, let operation = operation.mirrored else {
            return self
        }
        return FetchPredicate.Comparison(left: right, operation: operation, right: left, options: options)
    }
}

extension FetchPredicate.Node {
    /// Whether the node is a comparison or a negated comparison.
    fileprivate var isSingleTerm: Bool {
        switch self {
        case .comparison: true
        case .not(let node): node.isSingleTerm
        case .and, .or, .constant: false
        }
    }

    /// The predicate with a list instead of its required value; `nil` if it requires none.
    fileprivate var joined: FetchPredicate.Node? {
        switch self {
        case .comparison(let comparison):
            var comparison = comparison.propertyFirst.placeLast
            guard comparison.right.isVariable, comparison.modifier == .direct, comparison.options.isEmpty,
                comparison.operation == .equalTo || comparison.operation == .isIn
            else { return nil }
            comparison.operation = .isIn
            return .comparison(comparison)
        case .and(let nodes):
            let joined = nodes.map(\.joined)
            guard joined.contains(where: { $0 != nil }) else { return nil }
            return .and(zip(nodes, joined).map { $1 ?? $0 })
        case .or, .not, .constant: return nil
        }
    }

    /// Visits the comparisons from left to right, except those inside expressions.
    func forEachComparison(_ body: (FetchPredicate.Comparison, _ isNegated: Bool) -> Void) {
        var waiting = [(node: self, isNegated: false)]
        while let (node, isNegated) = waiting.popLast() {
            switch node {
            case .comparison(let comparison): body(comparison.propertyFirst.placeLast, isNegated)
            case .constant: break
            case .not(let inner): waiting.append((inner, !isNegated))
            case .and(let nodes), .or(let nodes): waiting += nodes.reversed().map { ($0, isNegated) }
            }
        }
    }
}
