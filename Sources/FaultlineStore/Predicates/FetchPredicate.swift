import FaultlineModel

/// What a fetch request selects by.
///
/// A predicate is a value made from comparisons, which are combined with `&&`, `||` and `!`:
///
///     PropertyPath("price") < 3 && PropertyPath("category.name").beginsWith("Fr")
///
/// Key paths may lead through to-one relationships. The terms of a conjunction reach SQLite in the order in which they
/// are written.
public struct FetchPredicate: Sendable, Hashable {
    /// How two values are compared.
    public enum Operator: String, Sendable, Hashable {
        case equalTo = "=="
        case notEqualTo = "!="
        case lessThan = "<"
        case lessThanOrEqualTo = "<="
        case greaterThan = ">"
        case greaterThanOrEqualTo = ">="
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        case contains = "CONTAINS"
        /// With wildcards: `*` for any text, `?` for one character.
        case like = "LIKE"
        /// With a regular expression for the whole text.
        case matches = "MATCHES"

        var isText: Bool {
            switch self {
            case .beginsWith, .endsWith, .contains, .like, .matches: true
            default: false
            }
        }
    }

    /// What a property is compared with.
    enum Operand: Sendable, Hashable {
        case null
        case value(AttributeValue)
        case object(ManagedObjectID)
    }

    indirect enum Node: Sendable, Hashable {
        case comparison(String, Operator, Operand, TextOptions)
        case between(String, AttributeValue, AttributeValue)
        case isIn(String, [Operand])
        case and([Node])
        case or([Node])
        case not(Node)
        case constant(Bool)
    }

    let node: Node

    init(_ node: Node) {
        self.node = node
    }

    /// Compares the property at a key path with a value.
    ///
    /// - Parameter options: for text only; see ``TextOptions``.
    public static func comparison(
        _ keyPath: String, _ operation: Operator, _ value: some AttributeScalar, options: TextOptions = []
    ) -> FetchPredicate {
        FetchPredicate(.comparison(keyPath, operation, .value(value.attributeValue), options))
    }

    /// Whether a relationship leads to an object, or, with the key path `"self"`, whether it is the object itself.
    public static func comparison(_ keyPath: String, is object: ManagedObjectID) -> FetchPredicate {
        FetchPredicate(.comparison(keyPath, .equalTo, .object(object), []))
    }

    /// Whether there is no value, or nothing at the other end of a relationship.
    public static func isNil(_ keyPath: String) -> FetchPredicate {
        FetchPredicate(.comparison(keyPath, .equalTo, .null, []))
    }

    /// Whether there is a value, or an object at the other end of a relationship.
    public static func isNotNil(_ keyPath: String) -> FetchPredicate {
        FetchPredicate(.comparison(keyPath, .notEqualTo, .null, []))
    }

    /// Whether a value lies between two others, those included.
    public static func between<Value: AttributeScalar>(
        _ keyPath: String, _ lower: Value, _ upper: Value
    ) -> FetchPredicate {
        FetchPredicate(.between(keyPath, lower.attributeValue, upper.attributeValue))
    }

    /// Whether a value is one of some.
    public static func isIn(_ keyPath: String, _ values: some Sequence<some AttributeScalar>) -> FetchPredicate {
        FetchPredicate(.isIn(keyPath, values.map { .value($0.attributeValue) }))
    }

    /// Whether a relationship leads to one of some objects, or, with the key path `"self"`, whether the object is one
    /// of them.
    public static func isIn(_ keyPath: String, objects: some Sequence<ManagedObjectID>) -> FetchPredicate {
        FetchPredicate(.isIn(keyPath, objects.map { .object($0) }))
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
