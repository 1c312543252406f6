/// A part of a Swift predicate, as a fetch predicate says it.
indirect enum PredicateTerm {
    /// A property, or the object itself.
    case path(PropertyWay)
    /// The objects of a to-many relationship, or those of them for which a predicate holds.
    case objects(PropertyWay, filter: (variable: String, predicate: FetchPredicate)?)
    /// A comparison of a property with what is the same for all objects.
    case comparison(PropertyWay, FetchPredicate.Operator, FetchExpression, TextOptions)
    /// The same of at least one of the objects behind a to-many relationship.
    case anyComparison(PropertyWay, FetchPredicate.Operator, FetchExpression, TextOptions)
    /// - Parameter isStrict: whether it does not hold where a value that it is about is missing.
    case predicate(FetchPredicate, isStrict: Bool)
    /// Predicates of which every one holds, in their order.
    case all([FetchPredicate])
    /// Predicates of which one holds.
    case one([FetchPredicate])
    /// Anything else that has a value.
    case expression(FetchExpression)
    /// What has a value where there is something at the end of each of some ways, and none elsewhere.
    case optional(FetchExpression, along: [PropertyWay])
    /// What the program has put in.
    case constant(Any)
    case null
    /// The values between two others; `nil`: there is no end.
    case range(lower: FetchExpression?, upper: FetchExpression?, includesUpper: Bool)
}

/// The way to a property: where it begins, and the names on it.
struct PropertyWay {
    /// The variable of a subquery; `nil`: the object that the predicate is asked about.
    var variable: String?
    /// With points between the names; empty: where it begins.
    var keyPath = ""

    func appending(_ name: String) -> PropertyWay {
        PropertyWay(variable: variable, keyPath: keyPath.isEmpty ? name : name.isEmpty ? keyPath : "\(keyPath).\(name)")
    }

    var expression: FetchExpression {
        if let variable { return .variable(variable, keyPath) }
        return .keyPath(keyPath.isEmpty ? "self" : keyPath)
    }
}

extension [PropertyWay] {
    /// That there is something at the end of each.
    var exist: [FetchPredicate] { map { .comparison($0.expression, .notEqualTo, .null) } }

    /// That there is nothing at the end, for each.
    var areMissing: [FetchPredicate] { map { .comparison($0.expression, .equalTo, .null) } }
}
