import FaultlineModel

/// A value that `%@` in a predicate's format accepts: a value, an object, or an array or set of them.
public protocol FetchPredicateArgument {
    /// The argument as a constant expression.
    var _predicateArgument: FetchExpression { get }
}

extension AttributeScalar {
    /// The argument as an expression.
    public var _predicateArgument: FetchExpression { FetchExpression(.value(attributeValue)) }
}

extension ManagedObjectID: FetchPredicateArgument {
    /// The argument as an expression.
    public var _predicateArgument: FetchExpression { FetchExpression(.object(self)) }
}

extension ManagedObject: FetchPredicateArgument {
    /// The argument as an expression.
    public var _predicateArgument: FetchExpression { FetchExpression(.object(objectID)) }
}

extension FetchExpression: FetchPredicateArgument {
    /// The argument as an expression.
    public var _predicateArgument: FetchExpression { self }
}

extension Array: FetchPredicateArgument where Element: FetchPredicateArgument {
    /// The argument as an expression.
    public var _predicateArgument: FetchExpression { .list(map(\._predicateArgument)) }
}

extension Set: FetchPredicateArgument where Element: FetchPredicateArgument {
    /// The argument as an expression.
    public var _predicateArgument: FetchExpression { .list(map(\._predicateArgument)) }
}

extension ClosedRange: FetchPredicateArgument where Bound: FetchPredicateArgument {
    /// The bounds, for `BETWEEN`.
    public var _predicateArgument: FetchExpression {
        .list([lowerBound._predicateArgument, upperBound._predicateArgument])
    }
}

// MARK: - Variables

extension FetchPredicate {
    /// The names of the variables that have not been replaced.
    public var variables: Set<String> {
        var names: Set<String> = []
        _ = node.replacingVariables { name, _ in
            names.insert(name)
            return nil
        }
        return names
    }

    /// Returns the predicate with values in place of variables, for templates: `"name == $NAME"`.
    ///
    /// Variables without a value remain. If a key path follows a variable, its value must be an object; the current
    /// value at the end of the path is used.
    ///
    /// - Throws: ``StoreError`` if a variable followed by a key path is not an object, or if the key path is invalid.
    public func withSubstitutionVariables(
        _ values: [String: (any FetchPredicateArgument)?]
    ) throws(StoreError) -> FetchPredicate {
        var failure: StoreError?
        let replaced = node.replacingVariables { name, names in
            guard let value = values[name] else { return nil }
            guard !names.isEmpty else { return value?._predicateArgument.node ?? .null }
            do throws(StoreError) {
                guard let object = value as? ManagedObject else {
                    throw StoreError(
                        .invalidRequest,
                        "'$\(name).\(names.joined(separator: "."))' reads a property of '$\(name)', which is not an object; pass an object for it."
                    )
                }
                return try PredicateEvaluator().constant(names, of: object)
            } catch {
                failure = failure ?? error
                return nil
            }
        }
        if let failure { throw failure }
        return FetchPredicate(replaced)
    }
}

extension FetchPredicate.Node {
    /// Replaces variables in the predicate.
    ///
    /// - Parameter value: Returns the value of a variable with a key path; `nil` keeps the variable.
    func replacingVariables(_ value: (String, [String]) -> FetchExpression.Node?) -> FetchPredicate.Node {
        switch self {
        case .constant: self
        case .not(let node): .not(node.replacingVariables(value))
        // Flattens a chain of terms into one list, because it can be deeper than the stack.
        case .and: .and(allTerms.map { $0.replacingVariables(value) })
        case .or: .or(allTerms.map { $0.replacingVariables(value) })
        case .comparison(var comparison):
            {
                comparison.left = comparison.left.replacingVariables(value)
                comparison.right = comparison.right.replacingVariables(value)
                return .comparison(comparison)
            }()
        }
    }
}

extension FetchExpression.Node {
    fileprivate func replacingVariables(
        _ value: (String, [String]) -> FetchExpression.Node?
    ) -> FetchExpression.Node {
        switch self {
        case .value, .null, .object: return self
        case .list(let elements): return .list(elements.map { $0.replacingVariables(value) })
        case .aggregate(let function, let node): return .aggregate(function, node.replacingVariables(value))
        case .function(let function, let nodes): return .function(function, nodes.map { $0.replacingVariables(value) })
        case .conditional(let predicate, let first, let second):
            return .conditional(
                predicate.replacingVariables(value), first.replacingVariables(value), second.replacingVariables(value))
        case .path(let path):
            switch path.root {
            case .object: return self
            case .variable(let name): return value(name, path.names) ?? self
            case .subquery(let collection, let variable, let predicate):
                var path = path
                // Inside the subquery, its own variable shadows one of the same name.
                let inner = predicate.replacingVariables { $0 == variable ? nil : value($0, $1) }
                path.root = .subquery(collection, variable: variable, inner)
                return .path(path)
            }
        }
    }
}
