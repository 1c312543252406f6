internal import CTraceSchema

/// A fetch request with its values taken out: equal requests have equal shapes.
public struct ShapeEntry: Sendable, Hashable, Codable {
    public var entity: String
    /// The predicate with `?` for values, in Core Data's predicate format; empty: none.
    public var predicate: String
    /// Sort keys with their direction: `["name ascending"]`.
    public var sort: [String]
    /// Key paths that are prefetched.
    public var prefetch: [String]
    /// Whether there is a fetch limit.
    public var isLimited: Bool
    public var resultType: String
    /// What the store works out for dictionaries: `["sum:(price)"]`; `nil`: objects are fetched.
    public var expressions: [String]?
    /// What dictionaries are grouped by: `["category.name"]`; `nil`: nothing.
    public var groups: [String]?
    /// Which groups, as ``predicate``; `nil`: all.
    public var having: String?
    /// The predicate's comparisons from left to right, of a long predicate the first 32; `nil`: the trace does not tell
    /// them, since its recorder did not know them.
    ///
    /// A recorder that tells them also tells which rows were modified (``TraceEvent/Use/modifiedRows``).
    public var terms: [Term]?
    /// Whether values are compared that nobody tells, or even more than those: whoever recorded it tells less.
    public var hasUntoldValues: Bool?
    /// `false`: the fetch asks for keys alone, so that each object's values are loaded when they are read; `nil`: it loads
    /// values, or the trace does not record this.
    public var includesPropertyValues: Bool?

    public init(
        entity: String, predicate: String = "", sort: [String] = [], prefetch: [String] = [], isLimited: Bool = false,
        resultType: String = "objects", expressions: [String]? = nil, groups: [String]? = nil, having: String? = nil,
        terms: [Term]? = nil, hasUntoldValues: Bool? = nil, includesPropertyValues: Bool? = nil
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
        self.hasUntoldValues = hasUntoldValues
        self.includesPropertyValues = includesPropertyValues
    }
}

extension ShapeEntry {
    /// How many ``terms`` of a predicate are told.
    package static var maximumTerms: Int { Int(FL_FETCH_OPERANDS) }

    /// One comparison of a predicate, without its values.
    public struct Term: Sendable, Hashable, Codable {
        /// The property that is compared: `"artist.name"`; `"self"` is the object.
        ///
        /// Where it is no property alone, the expression with `?` for values.
        public var keyPath: String
        /// The operator in Core Data's words: `"=="`, `"IN"`, `"CONTAINS"`, `"ANY =="`.
        public var operation: String
        /// What it is compared with: `"value"`, `"object"` or `"nil"`; `"expression"` where one of the two sides is
        /// worked out for every object.
        public var operand: String
        /// What a comparison of texts disregards: `"c"` the case, `"d"` diacritics, `"cd"` both.
        public var options: String?
        /// Where the wildcards of a `LIKE` pattern stand: `"none"`, `"trailing"` (one `*` behind plain text), `"leading"` or
        /// `"inner"`.
        public var wildcards: String?
        /// Whether it is one of several terms of which one is enough (within an `OR`).
        public var isAlternative: Bool?
        /// Whether it must not hold (within a `NOT`).
        public var isNegated: Bool?
        /// Whether the store keeps the text without what ``options`` disregard, and compares that.
        public var isFolded: Bool?

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
