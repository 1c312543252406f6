import FaultlineModel

/// What a fetch request selects by.
///
/// A predicate is a value. It is read from Core Data's predicate format, or made from comparisons, which are combined with
/// `&&`, `||` and `!`:
///
///     try FetchPredicate(format: "price < %@ AND category.name BEGINSWITH %@", 3, "Fr")
///     PropertyPath("price") < 3 && PropertyPath("category.name").beginsWith("Fr")
///
/// Key paths may lead through to-one relationships; through to-many ones with ``Modifier/any`` or ``Modifier/all``, with
/// a collection operator, or in a subquery. The terms of a conjunction reach SQLite in the order in which they are
/// written. Values are bound, never written into SQL.
///
/// A predicate holds or it does not: a comparison with what has no value does not hold, unless it is one with `nil` or by
/// `!=`, and what does not hold for want of a value holds when it is negated.
public struct FetchPredicate: Sendable, Hashable {
    /// How two values are compared.
    public enum Operator: String, Sendable, Hashable, CaseIterable {
        case equalTo = "=="
        case notEqualTo = "!="
        case lessThan = "<"
        case lessThanOrEqualTo = "<="
        case greaterThan = ">"
        case greaterThanOrEqualTo = ">="
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        /// Whether a text contains another, or a to-many relationship an object.
        case contains = "CONTAINS"
        /// With wildcards: `*` for any text, `?` for one character.
        case like = "LIKE"
        /// With a regular expression for the whole text.
        case matches = "MATCHES"
        /// Whether a value is in a list, an object in a to-many relationship, or a text in another.
        case isIn = "IN"
        /// Whether a value lies between two others, those included.
        case between = "BETWEEN"

        var isText: Bool {
            switch self {
            case .beginsWith, .endsWith, .contains, .like, .matches: true
            default: false
            }
        }

        /// The operator that says the same with the sides exchanged; `nil`: none does.
        var mirrored: Operator? {
            switch self {
            case .equalTo, .notEqualTo: self
            case .lessThan: .greaterThan
            case .lessThanOrEqualTo: .greaterThanOrEqualTo
            case .greaterThan: .lessThan
            case .greaterThanOrEqualTo: .lessThanOrEqualTo
            default: nil
            }
        }
    }

    /// Which of the objects behind a to-many relationship a comparison is about.
    public enum Modifier: String, Sendable, Hashable, CaseIterable {
        /// None: the key path leads through to-one relationships only.
        case direct = ""
        /// At least one of them.
        case any = "ANY"
        /// Every one; it holds where there are none.
        ///
        /// Core Data's SQLite store refuses it.
        case all = "ALL"
        /// Not one.
        case none = "NONE"
    }

    /// Two expressions that are compared.
    struct Comparison: Sendable, Hashable {
        var left: FetchExpression.Node
        var operation: Operator
        var right: FetchExpression.Node
        var options: TextOptions = []
        var modifier = Modifier.direct
    }

    indirect enum Node: Sendable, Hashable {
        case comparison(Comparison)
        case and([Node])
        case or([Node])
        case not(Node)
        case constant(Bool)
    }

    let node: Node

    init(_ node: Node) {
        self.node = node
    }

    /// Compares two expressions.
    ///
    /// - Parameters:
    ///   - options: for text only; see ``TextOptions``.
    ///   - modifier: which of the objects behind a to-many relationship on the left the comparison is about.
    public static func comparison(
        _ left: FetchExpression, _ operation: Operator, _ right: FetchExpression, options: TextOptions = [],
        modifier: Modifier = .direct
    ) -> FetchPredicate {
        FetchPredicate(
            .comparison(
                Comparison(
                    left: left.node, operation: operation, right: right.node, options: options, modifier: modifier)))
    }

    private static func comparison(
        _ keyPath: String, _ operation: Operator, _ right: FetchExpression.Node, _ options: TextOptions = []
    ) -> FetchPredicate {
        FetchPredicate(
            .comparison(
                Comparison(
                    left: .path(FetchPath(keyPath)), operation: operation, right: right, options: options)))
    }

    /// Compares the property at a key path with a value.
    ///
    /// - Parameter options: for text only; see ``TextOptions``.
    public static func comparison(
        _ keyPath: String, _ operation: Operator, _ value: some AttributeScalar, options: TextOptions = []
    ) -> FetchPredicate {
        comparison(keyPath, operation, .value(value.attributeValue), options)
    }

    /// Whether a relationship leads to an object, or, with the key path `"self"`, whether it is the object itself.
    public static func comparison(_ keyPath: String, is object: ManagedObjectID) -> FetchPredicate {
        comparison(keyPath, .equalTo, .object(object))
    }

    /// Whether there is no value, or nothing at the other end of a relationship.
    public static func isNil(_ keyPath: String) -> FetchPredicate {
        comparison(keyPath, .equalTo, .null)
    }

    /// Whether there is a value, or an object at the other end of a relationship.
    public static func isNotNil(_ keyPath: String) -> FetchPredicate {
        comparison(keyPath, .notEqualTo, .null)
    }

    /// Whether a value lies between two others, those included.
    public static func between<Value: AttributeScalar>(
        _ keyPath: String, _ lower: Value, _ upper: Value
    ) -> FetchPredicate {
        comparison(keyPath, .between, .list([.value(lower.attributeValue), .value(upper.attributeValue)]))
    }

    /// Whether a value is one of some.
    public static func isIn(_ keyPath: String, _ values: some Sequence<some AttributeScalar>) -> FetchPredicate {
        comparison(keyPath, .isIn, .list(values.map { .value($0.attributeValue) }))
    }

    /// Whether a relationship leads to one of some objects, or, with the key path `"self"`, whether the object is one
    /// of them.
    public static func isIn(_ keyPath: String, objects: some Sequence<ManagedObjectID>) -> FetchPredicate {
        comparison(keyPath, .isIn, .list(objects.map { .object($0) }))
    }

    /// Selects objects for which every one of the predicates holds; tested in this order.
    public static func and(_ predicates: [FetchPredicate]) -> FetchPredicate {
        predicates.count == 1 ? predicates[0] : FetchPredicate(.and(predicates.map(\.node)))
    }

    /// Selects objects for which at least one of the predicates holds.
    public static func or(_ predicates: [FetchPredicate]) -> FetchPredicate {
        predicates.count == 1 ? predicates[0] : FetchPredicate(.or(predicates.map(\.node)))
    }

    /// Selects objects for which a predicate does not hold.
    public static func not(_ predicate: FetchPredicate) -> FetchPredicate {
        FetchPredicate(.not(predicate.node))
    }

    /// Selects every object, or none.
    public static func value(_ value: Bool) -> FetchPredicate {
        FetchPredicate(.constant(value))
    }

    public static func && (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
        FetchPredicate(.and([left.node, right.node]))
    }

    public static func || (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
        FetchPredicate(.or([left.node, right.node]))
    }

    public static prefix func ! (predicate: FetchPredicate) -> FetchPredicate {
        .not(predicate)
    }
}
