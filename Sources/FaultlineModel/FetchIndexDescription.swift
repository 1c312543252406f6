/// An index that the store keeps over properties of an entity, for fetches that select or sort by them.
///
/// Relationships need none: the store indexes every to-one relationship by itself.
public struct FetchIndexDescription: Sendable, Hashable {
    /// How an element of an index is arranged.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// In order, for comparisons.
        case binary = "Binary"
        /// As an R-tree, for ranges in several dimensions.
        case rTree = "RTree"
    }

    /// One column of the index.
    public struct Element: Sendable, Hashable {
        /// The name of an attribute or of a to-one relationship; empty if there is an ``expression``.
        public var property: String
        /// What is indexed instead of a property: `"lowercase:(title)"`.
        public var expression: String?
        /// The type of the expression's value.
        public var expressionType: AttributeType?
        public var isAscending: Bool
        public var kind: Kind

        public init(_ property: String, isAscending: Bool = true, kind: Kind = .binary) {
            self.property = property
            self.isAscending = isAscending
            self.kind = kind
        }

        /// An element over the value of an expression.
        public init(
            expression: String, type: AttributeType? = nil, isAscending: Bool = true, kind: Kind = .binary
        ) {
            self.init("", isAscending: isAscending, kind: kind)
            self.expression = expression
            expressionType = type
        }
    }

    public var name: String
    public var elements: [Element]
    var origin: Origin

    /// An index over properties in that order.
    public init(_ name: String, elements: [Element], fileID: StaticString = #fileID, line: UInt = #line) {
        self.name = name
        self.elements = elements
        origin = Origin(fileID, line)
    }

    /// An ascending index over the named properties in that order.
    public init(_ name: String, on properties: String..., fileID: StaticString = #fileID, line: UInt = #line) {
        self.init(name, elements: properties.map { Element($0) }, fileID: fileID, line: line)
    }

    /// Whether the store makes the index: it has no expressions and no R-tree, which are kept in the model only.
    package var isSupported: Bool {
        elements.allSatisfy { $0.expression == nil && $0.kind == .binary }
    }
}

extension FetchIndexDescription {
    /// What a store calls the index: `Z_Item_byName`.
    package func storeName(in entity: String) -> String { "Z_\(entity)_\(name)" }
}
