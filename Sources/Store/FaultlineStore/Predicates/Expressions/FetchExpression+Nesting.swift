extension FetchExpression {
    /// Creates a ``subquery(_:_:_:keyPath:)`` over a relationship of an object in an enclosing subquery.
    ///
    /// Traps unless ``keyPath(_:)`` or ``variable(_:_:)`` created the collection.
    public static func subquery(
        _ collection: FetchExpression, _ variable: String, _ predicate: FetchPredicate, keyPath: String
    ) -> FetchExpression {
        guard case .path(let path) = collection.node else {
            incorrectUse("A subquery needs a relationship, not '\(collection)'.")
        }
        let root = FetchPath.Root.subquery(path, variable: variable, predicate.node)
        return FetchExpression(.path(FetchPath(root: root, keyPath: keyPath)))
    }
}
