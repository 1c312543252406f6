public import FaultlineModel

/// One of ``FetchRequest/propertiesToFetch``: an expression, and the key of its value in a dictionary result.
///
/// A string literal is a property: `"name"` is its value under its own name.
public struct ExpressionDescription: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The key; not empty, and another one for each of a request's expressions.
    public var name: String
    public var expression: FetchExpression
    /// The type that the value is read as; `nil`: its own.
    ///
    /// Sums are floating-point numbers of their own.
    public var resultType: AttributeType?

    public init(_ name: String, _ expression: FetchExpression, resultType: AttributeType? = nil) {
        self.name = name
        self.expression = expression
        self.resultType = resultType
    }

    public init(stringLiteral keyPath: String) {
        self.init(keyPath, .keyPath(keyPath))
    }
}
