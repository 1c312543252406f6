import FaultlineModel

/// An expression with a value for every object: a property, a constant or a computation.
///
/// Expressions are the operands of a predicate's comparisons, and the items of ``FetchRequest/propertiesToFetch``:
///
///     FetchPredicate.comparison(.keyPath("price") * .keyPath("amount"), .greaterThan, .value(100))
///     FetchExpression.function(.sum, "milliseconds")
///
/// SQLite evaluates them, except in predicates for objects with unsaved changes.
public struct FetchExpression: Sendable, Hashable {
    /// An aggregate function over the values of an attribute, ignoring objects without a value.
    ///
    /// The raw value is the function's name in Core Data.
    public enum Function: String, Sendable, Hashable, CaseIterable {
        /// The sum of numbers, as a floating-point number; 0 if there are none. Sums of integers are exact up to 2⁵³.
        case sum = "sum:"
        /// The average of numbers, as a floating-point number; no value if there are none.
        case average = "average:"
        /// The smallest number, date or string, in the attribute's type; no value if there is none. Strings are
        /// compared by code points.
        case minimum = "min:"
        /// The greatest number, date or string; otherwise as ``minimum``.
        case maximum = "max:"
        /// The number of objects that have a value, of any type.
        case count = "count:"
    }

    indirect enum Node: Sendable, Hashable {
        case value(AttributeValue)
        case null
        case object(ManagedObjectID)
        case list([Node])
        case path(FetchPath)
        /// A function over several values: of the objects that a request selects, or of those at the end of a path.
        case aggregate(Function, Node)
        case function(ScalarFunction, [Node])
        case conditional(FetchPredicate.Node, Node, Node)
    }

    let node: Node

    init(_ node: Node) {
        self.node = node
    }

    /// The property at the end of a key path; `"self"` is the object itself.
    ///
    /// After a to-many relationship, a collection operator reduces several values to one: `"items.@count"`,
    /// `"items.@sum.price"`; also `@min`, `@max` and `@avg`.
    public static func keyPath(_ keyPath: String) -> FetchExpression {
        FetchExpression(.path(FetchPath(keyPath)))
    }

    /// A constant.
    public static func value(_ value: some AttributeScalar) -> FetchExpression {
        FetchExpression(.value(value.attributeValue))
    }

    /// A constant object.
    public static func object(_ id: ManagedObjectID) -> FetchExpression {
        FetchExpression(.object(id))
    }

    /// No value.
    public static let null = FetchExpression(.null)

    /// Several values: the right side of ``FetchPredicate/Operator/isIn``, or the two bounds of
    /// ``FetchPredicate/Operator/between``.
    public static func list(_ elements: some Sequence<FetchExpression>) -> FetchExpression {
        FetchExpression(.list(elements.map(\.node)))
    }

    /// A variable: in a `subquery(_:_:_:keyPath:)` its current object, otherwise a variable that
    /// ``FetchPredicate/withSubstitutionVariables(_:)`` replaces.
    ///
    /// - Parameters:
    ///   - name: The name of the variable, without `$`.
    ///   - keyPath: The key path from the variable's object; empty for the object itself.
    public static func variable(_ name: String, _ keyPath: String = "") -> FetchExpression {
        FetchExpression(.path(FetchPath(root: .variable(name), keyPath: keyPath)))
    }

    /// A function of an attribute over all objects that the request selects; for ``FetchRequest/propertiesToFetch``.
    ///
    /// The key path may go through to-one relationships.
    public static func function(_ function: Function, _ keyPath: String) -> FetchExpression {
        FetchExpression(.aggregate(function, .path(FetchPath(keyPath))))
    }

    /// A function of an expression over all objects that the request selects: `sum:(price * amount)`.
    public static func function(_ function: Function, _ expression: FetchExpression) -> FetchExpression {
        FetchExpression(.aggregate(function, expression.node))
    }

    /// A function of other expressions.
    ///
    /// Traps if the number of arguments is wrong.
    public static func function(_ function: ScalarFunction, _ arguments: FetchExpression...) -> FetchExpression {
        requireCorrectUse(
            arguments.count == function.arity,
            "\(function.rawValue) takes \(function.arity == 1 ? "1 argument" : "\(function.arity) arguments"), not \(arguments.count)."
        )
        return FetchExpression(.function(function, arguments.map(\.node)))
    }

    /// The objects of a to-many relationship for which a predicate holds, reduced by a key path.
    ///
    ///     .subquery("items", "item", .comparison(.variable("item", "price"), .greaterThan, .value(3)), keyPath: "@count")
    ///
    /// - Parameters:
    ///   - collection: The key path of the relationship.
    ///   - variable: The name of the current object in the predicate.
    ///   - predicate: Selects the objects of the relationship.
    ///   - keyPath: A collection operator such as `"@count"` or `"@sum.price"`, or a key path to compare with
    ///     ``FetchPredicate/Modifier/any`` or ``FetchPredicate/Modifier/all``.
    public static func subquery(
        _ collection: String, _ variable: String, _ predicate: FetchPredicate, keyPath: String
    ) -> FetchExpression {
        let root = FetchPath.Root.subquery(FetchPath(collection), variable: variable, predicate.node)
        return FetchExpression(.path(FetchPath(root: root, keyPath: keyPath)))
    }

    /// One of two values, depending on whether a predicate holds: `TERNARY(predicate, a, b)`.
    public static func conditional(
        _ predicate: FetchPredicate, _ first: FetchExpression, _ second: FetchExpression
    ) -> FetchExpression {
        FetchExpression(.conditional(predicate.node, first.node, second.node))
    }
}

// MARK: - Arithmetic

extension FetchExpression {
    /// Returns the sum of two expressions.
    public static func + (left: FetchExpression, right: FetchExpression) -> FetchExpression {
        .function(.add, left, right)
    }

    /// Returns the difference of two expressions.
    public static func - (left: FetchExpression, right: FetchExpression) -> FetchExpression {
        .function(.subtract, left, right)
    }

    /// Returns the product of two expressions.
    public static func * (left: FetchExpression, right: FetchExpression) -> FetchExpression {
        .function(.multiply, left, right)
    }

    /// The quotient; an integer for two integers, as in SQL, and no value if the divisor is 0.
    public static func / (left: FetchExpression, right: FetchExpression) -> FetchExpression {
        .function(.divide, left, right)
    }
}
