import FaultlineModel

/// A predicate of which everything is known but its values, as a trace tells it (`ShapeEntry.predicate`).
package struct ShapePredicate {
    /// Where a value stood, or a list of values.
    package struct Place: Hashable {
        /// The names of the property that it is compared with; empty: the object itself.
        package var names: [String]
        package var operation: FetchPredicate.Operator
        /// Whether a list stands there: of any length for `IN`, of two for `BETWEEN`.
        package var isList: Bool
        /// Whether the comparison must not hold.
        package var isNegated: Bool
    }

    /// From left to right.
    package let places: [Place]
    private let node: FetchPredicate.Node

    private init(places: [Place], node: FetchPredicate.Node) {
        self.places = places
        self.node = node
    }

    /// Reads a predicate with `?` for its values.
    ///
    /// - Returns: `nil` if a value stands where its property is not clear, such as within an expression.
    /// - Throws: ``StoreError`` with the code ``StoreError/Code/predicateFormat`` if the text cannot be read.
    package init?(_ shape: String) throws(StoreError) {
        let format = Self.format(shape)
        node = try FetchPredicate(format: format).node
        var places: [Place] = []
        node.forEachComparison { comparison, isNegated in
            guard comparison.modifier == .direct || comparison.modifier == .any,
                case .path(let path) = comparison.left, path.root == .object
            else { return }
            let place = { (isList: Bool) in
                Place(
                    names: path.names, operation: comparison.operation, isList: isList, isNegated: isNegated)
            }
            switch comparison.right {
            case .path(let right) where Self.isVariable(right): places.append(place(comparison.operation == .isIn))
            case .list(let elements) where elements.allSatisfy({ $0.isVariable }):
                places += elements.map { _ in place(false) }
            default: break
            }
        }
        guard places.count == FetchPredicate(node).variables.count else { return nil }
        self.places = places
    }

    /// The predicate with a value, an object or a list in each place.
    package func predicate(_ values: [any FetchPredicateArgument]) throws(StoreError) -> FetchPredicate {
        var named: [String: (any FetchPredicateArgument)?] = [:]
        for (place, value) in values.enumerated() { named[Self.name(place)] = value }
        return try FetchPredicate(node).withSubstitutionVariables(named)
    }

    /// The predicate with its terms in another order.
    ///
    /// - Parameter order: The places of the terms now, in the order that they are to have.
    /// - Returns: `nil` if it is no conjunction of as many single terms.
    package func reordered(_ order: [Int]) -> ShapePredicate? {
        guard case .and(let nodes) = node, nodes.count == order.count, Set(order) == Set(nodes.indices),
            nodes.allSatisfy({ $0.isSingleTerm })
        else { return nil }
        // Values keep their numbers, whatever the order of their terms.
        return ShapePredicate(places: places, node: .and(order.map { nodes[$0] }))
    }

    /// The predicate with a list for its only value, so that any of the list's fulfils it: `==` becomes `IN`.
    ///
    /// - Returns: `nil` if there are several values, or none, or the value is compared in another way.
    package func joined() -> ShapePredicate? {
        guard places.count == 1, var place = places.first, let node = node.joined else { return nil }
        (place.operation, place.isList) = (.isIn, true)
        return ShapePredicate(places: [place], node: node)
    }

    // MARK: The text

    private static func name(_ place: Int) -> String { "value\(place)" }

    private static func isVariable(_ path: FetchPath) -> Bool {
        if case .variable = path.root { path.names.isEmpty } else { false }
    }

    /// The text with a variable for every value: `{?}` is a list of any length.
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
    /// The comparison with the place of a value on its right, if it has one and says the same that way.
    fileprivate var placeLast: FetchPredicate.Comparison {
        guard left.isVariable, !right.isVariable, modifier == .direct, let operation = operation.mirrored else {
            return self
        }
        return FetchPredicate.Comparison(left: right, operation: operation, right: left, options: options)
    }
}

extension FetchPredicate.Node {
    /// Whether it is one comparison, or one that must not hold.
    fileprivate var isSingleTerm: Bool {
        switch self {
        case .comparison: true
        case .not(let node): node.isSingleTerm
        case .and, .or, .constant: false
        }
    }

    /// With a list for the one value that all that is found must be equal to; `nil`: there is none such.
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

    /// Goes over the comparisons from left to right, those within expressions left out.
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
