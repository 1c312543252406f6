public import FaultlineModel

/// An item of ``FetchRequest/propertiesToFetch``: an expression, and its key in a result dictionary.
///
/// A string literal names a property, which is also its key.
public struct ExpressionDescription: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The key; not empty, and unique within a request.
    public var name: String
    /// The expression whose value is under the key.
    public var expression: FetchExpression
    /// The type to read the value as; `nil` for the expression's own type.
    ///
    /// The own type of a sum is a floating-point number.
    public var resultType: AttributeType?

    /// Creates a description of a value in dictionaries.
    public init(_ name: String, _ expression: FetchExpression, resultType: AttributeType? = nil) {
        self.name = name
        self.expression = expression
        self.resultType = resultType
    }

    public init(stringLiteral keyPath: String) {
        self.init(keyPath, .keyPath(keyPath))
    }
}
