/// A key path from an object, for predicates written with operators: `PropertyPath("category.name") == "Fruit"`.
public struct PropertyPath: Sendable, Hashable, ExpressibleByStringLiteral {
    /// Names of properties separated by dots; `"self"` is the object.
    public var keyPath: String

    /// Creates a path from the names of properties, separated by full stops.
    public init(_ keyPath: String) {
        self.keyPath = keyPath
    }

    /// Creates one from a key path in quotation marks.
    public init(stringLiteral keyPath: String) {
        self.keyPath = keyPath
    }

    /// Selects objects whose value is equal.
    public static func == (left: PropertyPath, right: some AttributeScalar) -> FetchPredicate {
        .comparison(left.keyPath, .equalTo, right)
    }

    /// Selects objects whose value differs.
    public static func != (left: PropertyPath, right: some AttributeScalar) -> FetchPredicate {
        .comparison(left.keyPath, .notEqualTo, right)
    }

    /// Selects objects whose value is less.
    public static func < (left: PropertyPath, right: some AttributeScalar) -> FetchPredicate {
        .comparison(left.keyPath, .lessThan, right)
    }

    /// Selects objects whose value is at most the given one.
    public static func <= (left: PropertyPath, right: some AttributeScalar) -> FetchPredicate {
        .comparison(left.keyPath, .lessThanOrEqualTo, right)
    }

    /// Selects objects whose value is greater.
    public static func > (left: PropertyPath, right: some AttributeScalar) -> FetchPredicate {
        .comparison(left.keyPath, .greaterThan, right)
    }

    /// Selects objects whose value is at least the given one.
    public static func >= (left: PropertyPath, right: some AttributeScalar) -> FetchPredicate {
        .comparison(left.keyPath, .greaterThanOrEqualTo, right)
    }

    /// Selects objects that have no value.
    public static func == (left: PropertyPath, right: _OptionalNilComparisonType) -> FetchPredicate {
        .isNil(left.keyPath)
    }

    /// Selects objects that have a value.
    public static func != (left: PropertyPath, right: _OptionalNilComparisonType) -> FetchPredicate {
        .isNotNil(left.keyPath)
    }

    /// Selects objects that are related to this object.
    public static func == (left: PropertyPath, right: ManagedObject) -> FetchPredicate {
        .comparison(left.keyPath, is: right.objectID)
    }

    /// Selects objects that are related to the object with this ID.
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

    /// Selects objects whose text ends with the given one.
    public func endsWith(_ text: String, options: TextOptions = []) -> FetchPredicate {
        .comparison(keyPath, .endsWith, text, options: options)
    }

    /// Selects objects whose text contains the given one.
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

    /// Selects objects whose value is one of these.
    public func isIn(_ values: some Sequence<some AttributeScalar>) -> FetchPredicate {
        .isIn(keyPath, values)
    }

    /// Selects objects whose value lies between two values, or is equal to one of them.
    public func between<Value: AttributeScalar>(_ lower: Value, and upper: Value) -> FetchPredicate {
        .between(keyPath, lower, upper)
    }
}
