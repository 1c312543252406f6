internal import CTraceSchema

/// A fetch request without its values: equal requests have equal shapes.
public struct ShapeEntry: Sendable, Hashable, Codable {
    /// The entity.
    public var entity: String
    /// The predicate with `?` for values, in Core Data's predicate format; empty if there is none.
    public var predicate: String
    /// Sort keys with their direction: `["name ascending"]`.
    public var sort: [String]
    /// The key paths that are prefetched.
    public var prefetch: [String]
    /// Whether there is a fetch limit.
    public var isLimited: Bool
    /// The type of the results, such as `"objects"`.
    public var resultType: String
    /// The expressions of dictionary results: `["sum:(price)"]`; `nil` if objects are fetched.
    public var expressions: [String]?
    /// The key paths that dictionary results are grouped by: `["category.name"]`; `nil` if there is no grouping.
    public var groups: [String]?
    /// The condition on groups, in the form of ``predicate``; `nil` for all groups.
    public var having: String?
    /// The predicate's comparisons from left to right, at most the first 32; `nil` if the recorder did not record
    /// them.
    ///
    /// A recorder that records them also records which rows were modified (``TraceEvent/Use/modifiedRows``).
    public var terms: [Term]?
    /// Whether the source leaves out the compared values, or records even less of the fetch.
    public var hasUnrecordedValues: Bool?
    /// `false` if the fetch loads only IDs and each object's values are loaded when they are read; `nil` if it loads
    /// values, or the trace does not record this.
    public var includesPropertyValues: Bool?

    /// Creates an entry.
    public init(
        entity: String, predicate: String = "", sort: [String] = [], prefetch: [String] = [], isLimited: Bool = false,
        resultType: String = "objects", expressions: [String]? = nil, groups: [String]? = nil, having: String? = nil,
        terms: [Term]? = nil, hasUnrecordedValues: Bool? = nil, includesPropertyValues: Bool? = nil
    ) {
        self.entity = entity
        self.predicate = predicate
        self.sort = sort
        self.prefetch = prefetch
        self.isLimited = isLimited
        self.resultType = resultType
        self.expressions = expressions
        self.groups = groups
        self.having = having
        self.terms = terms
        self.hasUnrecordedValues = hasUnrecordedValues
        self.includesPropertyValues = includesPropertyValues
    }
}

extension ShapeEntry {
    /// The maximum number of ``terms`` recorded for a predicate.
    package static var maximumTerms: Int { Int(FL_FETCH_OPERANDS) }

    /// One comparison of a predicate, without its values.
    public struct Term: Sendable, Hashable, Codable {
        /// The key path that is compared: `"artist.name"`; `"self"` is the object.
        ///
        /// If it is more than a key path, the expression with `?` for values.
        public var keyPath: String
        /// The operator in Core Data's words: `"=="`, `"IN"`, `"CONTAINS"`, `"ANY =="`.
        public var operation: String
        /// The kind of operand: `"value"`, `"object"` or `"nil"`; `"expression"` if either side is computed for every
        /// object.
        public var operand: String
        /// The differences that a text comparison ignores: `"c"` case, `"d"` diacritics, `"cd"` both.
        public var options: String?
        /// The position of wildcards in a `LIKE` pattern: `"none"`, `"trailing"` (one `*` after plain text),
        /// `"leading"` or `"inner"`.
        public var wildcards: String?
        /// Whether it is one of several alternatives (within an `OR`).
        public var isAlternative: Bool?
        /// Whether it is negated (within a `NOT`).
        public var isNegated: Bool?
        /// Whether the store compares a normalized copy of the text, which lacks the differences that ``options``
        /// ignores.
        public var isFolded: Bool?

        /// Creates a term.
        public init(
            keyPath: String, operation: String, operand: String = "value", options: String? = nil,
            wildcards: String? = nil, isAlternative: Bool? = nil, isNegated: Bool? = nil,
            isFolded: Bool? = nil
        ) {
            self.keyPath = keyPath
            self.operation = operation
            self.operand = operand
            self.options = options
            self.wildcards = wildcards
            self.isAlternative = isAlternative
            self.isNegated = isNegated
            self.isFolded = isFolded
        }
    }
}
