import FaultlineModel

/// The condition by which a fetch request selects objects.
///
/// A predicate is a value. It is parsed from Core Data's predicate format, or built from comparisons, which `&&`, `||`
/// and `!` combine:
///
///     try FetchPredicate(format: "price < %@ AND category.name BEGINSWITH %@", 3, "Fr")
///     PropertyPath("price") < 3 && PropertyPath("category.name").beginsWith("Fr")
///
/// Key paths may go through to-one relationships. To go through to-many relationships, they need ``Modifier/any`` or
/// ``Modifier/all``, a collection operator, or a subquery. The terms of a conjunction reach SQLite in the order in
/// which they are written. Values are bound, never written into SQL.
///
/// Predicates have two truth values. A comparison with a missing value is false, unless it compares with `nil` or uses
/// `!=`; its negation is true.
public struct FetchPredicate: Sendable, Hashable {
    /// The operator of a comparison.
    public enum Operator: String, Sendable, Hashable, CaseIterable {
        /// The values are equal.
        case equalTo = "=="
        /// The values differ.
        case notEqualTo = "!="
        /// The left value is less than the right one.
        case lessThan = "<"
        /// The left value is at most the right one.
        case lessThanOrEqualTo = "<="
        /// The left value is greater than the right one.
        case greaterThan = ">"
        /// The left value is at least the right one.
        case greaterThanOrEqualTo = ">="
        /// The left text begins with the right one.
        case beginsWith = "BEGINSWITH"
        /// The left text ends with the right one.
        case endsWith = "ENDSWITH"
        /// Whether a string contains another, or a to-many relationship contains an object.
        case contains = "CONTAINS"
        /// Whether a string matches a pattern with wildcards: `*` for any text, `?` for one character.
        case like = "LIKE"
        /// Whether the whole string matches a regular expression.
        case matches = "MATCHES"
        /// Whether a value is in a list, an object is in a to-many relationship, or a string is part of another.
        case isIn = "IN"
        /// Whether a value lies between two others, inclusive.
        case between = "BETWEEN"

        var isText: Bool {
            switch self {
            case .beginsWith, .endsWith, .contains, .like, .matches: true
            default: false
            }
        }

        /// The equivalent operator for exchanged operands; `nil` if there is none.
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

    /// The objects of a to-many relationship for which a comparison must hold.
    public enum Modifier: String, Sendable, Hashable, CaseIterable {
        /// No to-many relationship: the key path goes through to-one relationships only.
        case direct = ""
        /// At least one object.
        case any = "ANY"
        /// All objects; true if there are none.
        ///
        /// Core Data's SQLite store does not support it.
        case all = "ALL"
        /// No object.
        case none = "NONE"
    }

    /// A comparison of two expressions.
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
    ///   - left: The expression before the operator.
    ///   - operation: The operator.
    ///   - right: The expression after the operator.
    ///   - options: For strings only; see ``TextOptions``.
    ///   - modifier: The objects of a to-many relationship on the left for which the comparison must hold.
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
    /// - Parameters:
    ///   - keyPath: The key path from the fetched object.
    ///   - operation: The operator.
    ///   - value: The value to compare with.
    ///   - options: For strings only; see ``TextOptions``.
    public static func comparison(
        _ keyPath: String, _ operation: Operator, _ value: some AttributeScalar, options: TextOptions = []
    ) -> FetchPredicate {
        comparison(keyPath, operation, .value(value.attributeValue), options)
    }

    /// Whether a to-one relationship refers to an object or, with the key path `"self"`, whether it is the object
    /// itself.
    public static func comparison(_ keyPath: String, is object: ManagedObjectID) -> FetchPredicate {
        comparison(keyPath, .equalTo, .object(object))
    }

    /// Whether a property has no value, or a relationship no object.
    public static func isNil(_ keyPath: String) -> FetchPredicate {
        comparison(keyPath, .equalTo, .null)
    }

    /// Whether a property has a value, or a relationship an object.
    public static func isNotNil(_ keyPath: String) -> FetchPredicate {
        comparison(keyPath, .notEqualTo, .null)
    }

    /// Whether a value lies between two others, inclusive.
    public static func between<Value: AttributeScalar>(
        _ keyPath: String, _ lower: Value, _ upper: Value
    ) -> FetchPredicate {
        comparison(keyPath, .between, .list([.value(lower.attributeValue), .value(upper.attributeValue)]))
    }

    /// Whether a value is one of several values.
    public static func isIn(_ keyPath: String, _ values: some Sequence<some AttributeScalar>) -> FetchPredicate {
        comparison(keyPath, .isIn, .list(values.map { .value($0.attributeValue) }))
    }

    /// Whether a relationship refers to one of several objects or, with the key path `"self"`, whether the object is
    /// one of them.
    public static func isIn(_ keyPath: String, objects: some Sequence<ManagedObjectID>) -> FetchPredicate {
        comparison(keyPath, .isIn, .list(objects.map { .object($0) }))
    }

    /// Selects objects for which all predicates hold; they are tested in this order.
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

    /// Returns a predicate that selects what both predicates select.
    public static func && (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
        FetchPredicate(.and([left.node, right.node]))
    }

    /// Returns a predicate that selects what at least one of the predicates selects.
    public static func || (left: FetchPredicate, right: FetchPredicate) -> FetchPredicate {
        FetchPredicate(.or([left.node, right.node]))
    }

    /// Returns a predicate that selects what the predicate leaves out.
    public static prefix func ! (predicate: FetchPredicate) -> FetchPredicate {
        .not(predicate)
    }
}
