/// A part of a Swift predicate, in terms of a fetch predicate.
indirect enum PredicateTerm {
    /// A property, or the object itself.
    case path(RootedPath)
    /// The objects of a to-many relationship, optionally filtered by a predicate.
    case objects(RootedPath, filter: (variable: String, predicate: FetchPredicate)?)
    /// A comparison of a property with a value that is the same for all objects.
    case comparison(RootedPath, FetchPredicate.Operator, FetchExpression, TextOptions)
    /// The same comparison, for at least one object of a to-many relationship.
    case anyComparison(RootedPath, FetchPredicate.Operator, FetchExpression, TextOptions)
    /// - Parameter isStrict: Whether the predicate is false if one of its values is missing.
    case predicate(FetchPredicate, isStrict: Bool)
    /// Predicates that must all hold, in order.
    case all([FetchPredicate])
    /// Predicates of which at least one must hold.
    case one([FetchPredicate])
    /// Any other expression with a value.
    case expression(FetchExpression)
    /// An expression that has a value only if all the paths have one.
    case optional(FetchExpression, along: [RootedPath])
    /// A value that the program passed in.
    case constant(Any)
    case null
    /// The values between two bounds; `nil` for no bound.
    case range(lower: FetchExpression?, upper: FetchExpression?, includesUpper: Bool)
}

/// The path to a property: its root, and the names that follow.
struct RootedPath {
    /// The variable of a subquery; `nil` for the object that the predicate is evaluated for.
    var variable: String?
    /// The names, separated by dots; empty for the root itself.
    var keyPath = ""

    func appending(_ name: String) -> RootedPath {
        RootedPath(variable: variable, keyPath: keyPath.isEmpty ? name : name.isEmpty ? keyPath : "\(keyPath).\(name)")
    }

    var expression: FetchExpression {
        if let variable { return .variable(variable, keyPath) }
        return .keyPath(keyPath.isEmpty ? "self" : keyPath)
    }
}

extension [RootedPath] {
    /// Conditions that each path has a value.
    var exist: [FetchPredicate] { map { .comparison($0.expression, .notEqualTo, .null) } }

    /// Conditions that each path has no value.
    var areMissing: [FetchPredicate] { map { .comparison($0.expression, .equalTo, .null) } }
}
