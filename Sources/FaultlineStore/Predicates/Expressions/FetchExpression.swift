import FaultlineModel

/// Something that has a value for every object: a property, a constant, or what is worked out from others.
///
/// Expressions stand on both sides of a predicate's comparisons, and in
/// ``FetchRequest/propertiesToFetch``:
///
///     FetchPredicate.comparison(.keyPath("price") * .keyPath("amount"), .greaterThan, .value(100))
///     FetchExpression.function(.sum, "milliseconds")
///
/// All of them are worked out by SQLite.
public struct FetchExpression: Sendable, Hashable {
    /// A function over the values of an attribute; objects without a value count for nothing.
    ///
    /// The raw value is the function's name in Core Data.
    public enum Function: String, Sendable, Hashable, CaseIterable {
        /// Of numbers, as a floating-point number; 0 of none. Sums of integers are exact up to 2⁵³.
        case sum = "sum:"
        /// Of numbers, as a floating-point number; no value of none.
        case average = "average:"
        /// Of numbers, dates or text, in the attribute's type; no value of none. Text is compared by its code points.
        case minimum = "min:"
        /// As ``minimum``, from the other end.
        case maximum = "max:"
        /// How many objects have a value, whatever its type.
        case count = "count:"
    }

    indirect enum Node: Sendable, Hashable {
        case value(AttributeValue)
        case null
        case object(ManagedObjectID)
        case list([Node])
        case path(FetchPath)
        /// A function over many values: of the objects that a request selects, or of those at the end of a path.
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
    /// Behind a to-many relationship a collection operator makes one value of many: `"items.@count"`,
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

    /// Several values: what ``FetchPredicate/Operator/isIn`` looks into, or the two ends of
    /// ``FetchPredicate/Operator/between``.
    public static func list(_ elements: some Sequence<FetchExpression>) -> FetchExpression {
        FetchExpression(.list(elements.map(\.node)))
    }

    /// A variable: inside a ``subquery(_:_:_:keyPath:)`` the object that it looks at, anywhere else one that
    /// ``FetchPredicate/withSubstitutionVariables(_:)`` gives a value.
    ///
    /// - Parameter keyPath: leads on from the object that the variable stands for; empty: the object itself.
    public static func variable(_ name: String, _ keyPath: String = "") -> FetchExpression {
        FetchExpression(.path(FetchPath(root: .variable(name), keyPath: keyPath)))
    }

    /// A function over an attribute, or over one at the end of to-one relationships, of all objects that the request
    /// selects; for ``FetchRequest/propertiesToFetch``.
    public static func function(_ function: Function, _ keyPath: String) -> FetchExpression {
        FetchExpression(.aggregate(function, .path(FetchPath(keyPath))))
    }

    /// A function over what an expression is for all objects that the request selects: `sum:(price * amount)`.
    public static func function(_ function: Function, _ expression: FetchExpression) -> FetchExpression {
        FetchExpression(.aggregate(function, expression.node))
    }

    /// A function of other expressions.
    ///
    /// Traps if there are more or fewer arguments than the function takes.
    public static func function(_ function: ScalarFunction, _ arguments: FetchExpression...) -> FetchExpression {
        requireCorrectUse(
            arguments.count == function.arity,
            "\(function.rawValue) takes \(function.arity) arguments, not \(arguments.count).")
        return FetchExpression(.function(function, arguments.map(\.node)))
    }

    /// The objects of a to-many relationship for which a predicate holds, as one value.
    ///
    ///     .subquery("items", "item", .comparison(.variable("item", "price"), .greaterThan, .value(3)), keyPath: "@count")
    ///
    /// - Parameters:
    ///   - collection: the key path of the relationship.
    ///   - variable: the name that the predicate knows an object of it by.
    ///   - keyPath: what is made of the objects: a collection operator such as `"@count"` or `"@sum.price"`, or a key
    ///     path to be compared with ``FetchPredicate/Modifier/any`` or ``FetchPredicate/Modifier/all``.
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

// MARK: Arithmetic

extension FetchExpression {
    public static func + (left: FetchExpression, right: FetchExpression) -> FetchExpression {
        .function(.add, left, right)
    }

    public static func - (left: FetchExpression, right: FetchExpression) -> FetchExpression {
        .function(.subtract, left, right)
    }

    public static func * (left: FetchExpression, right: FetchExpression) -> FetchExpression {
        .function(.multiply, left, right)
    }

    /// A quotient; of two integers an integer, as in SQL, and no value where the divisor is 0.
    public static func / (left: FetchExpression, right: FetchExpression) -> FetchExpression {
        .function(.divide, left, right)
    }
}
