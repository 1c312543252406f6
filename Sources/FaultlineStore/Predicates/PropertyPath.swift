/// A key path from an object, for predicates written with operators: `PropertyPath("category.name") == "Fruit"`.
public struct PropertyPath: Sendable, Hashable, ExpressibleByStringLiteral {
    /// Names of properties separated by dots; `"self"` is the object.
    public var keyPath: String

    public init(_ keyPath: String) {
        self.keyPath = keyPath
    }

    public init(stringLiteral keyPath: String) {
        self.keyPath = keyPath
    }

    public static func == (left: PropertyPath, right: some AttributeScalar) -> FetchPredicate {
        .comparison(left.keyPath, .equalTo, right)
    }

    public static func != (left: PropertyPath, right: some AttributeScalar) -> FetchPredicate {
        .comparison(left.keyPath, .notEqualTo, right)
    }

    public static func < (left: PropertyPath, right: some AttributeScalar) -> FetchPredicate {
        .comparison(left.keyPath, .lessThan, right)
    }

    public static func <= (left: PropertyPath, right: some AttributeScalar) -> FetchPredicate {
        .comparison(left.keyPath, .lessThanOrEqualTo, right)
    }

    public static func > (left: PropertyPath, right: some AttributeScalar) -> FetchPredicate {
        .comparison(left.keyPath, .greaterThan, right)
    }

    public static func >= (left: PropertyPath, right: some AttributeScalar) -> FetchPredicate {
        .comparison(left.keyPath, .greaterThanOrEqualTo, right)
    }

    public static func == (left: PropertyPath, right: _OptionalNilComparisonType) -> FetchPredicate {
        .isNil(left.keyPath)
    }

    public static func != (left: PropertyPath, right: _OptionalNilComparisonType) -> FetchPredicate {
        .isNotNil(left.keyPath)
    }

    public static func == (left: PropertyPath, right: ManagedObject) -> FetchPredicate {
        .comparison(left.keyPath, is: right.objectID)
    }

    public static func == (left: PropertyPath, right: ManagedObjectID) -> FetchPredicate {
        .comparison(left.keyPath, is: right)
    }

    /// Whether the string begins with another.
    ///
    /// Without options, strings are compared by code points, and SQLite can use an index on the attribute. To make a
    /// search that ignores case or diacritics use an index, keep a copy of the string folded with
    /// ``TextOptions/fold(_:)``, and search the copy for the folded prefix.
    public func beginsWith(_ text: String, options: TextOptions = []) -> FetchPredicate {
        .comparison(keyPath, .beginsWith, text, options: options)
    }

    public func endsWith(_ text: String, options: TextOptions = []) -> FetchPredicate {
        .comparison(keyPath, .endsWith, text, options: options)
    }

    public func contains(_ text: String, options: TextOptions = []) -> FetchPredicate {
        .comparison(keyPath, .contains, text, options: options)
    }

    /// Whether the string matches a pattern with `*` for any text and `?` for one character.
    public func like(_ pattern: String, options: TextOptions = []) -> FetchPredicate {
        .comparison(keyPath, .like, pattern, options: options)
    }

    /// Whether the whole string matches a regular expression.
    public func matches(_ expression: String, options: TextOptions = []) -> FetchPredicate {
        .comparison(keyPath, .matches, expression, options: options)
    }

    public func isIn(_ values: some Sequence<some AttributeScalar>) -> FetchPredicate {
        .isIn(keyPath, values)
    }

    public func between<Value: AttributeScalar>(_ lower: Value, and upper: Value) -> FetchPredicate {
        .between(keyPath, lower, upper)
    }
}
