/// One of ``FetchRequest/propertiesToFetch``: an expression, and the key of its value in a dictionary result.
public struct ExpressionDescription: Sendable, Hashable {
    /// The key; not empty, and another one for each of a request's expressions.
    public var name: String
    public var expression: FetchExpression

    public init(_ name: String, _ expression: FetchExpression) {
        self.name = name
        self.expression = expression
    }
}
