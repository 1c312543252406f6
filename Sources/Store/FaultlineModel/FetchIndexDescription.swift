/// An index that the store maintains on properties of an entity, for fetches that select or sort by them.
///
/// Relationships need none, because the store indexes every to-one relationship.
public struct FetchIndexDescription: Sendable, Hashable {
    /// The structure of an index element.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An ordered index, for comparisons.
        case binary = "Binary"
        /// An R-tree, for ranges in several dimensions.
        case rTree = "RTree"
    }

    /// One column of the index.
    public struct Element: Sendable, Hashable {
        /// The name of an attribute or of a to-one relationship; empty if there is an ``expression``.
        public var property: String
        /// The expression that is indexed instead of a property: `"lowercase:(title)"`.
        public var expression: String?
        /// The type of the expression's value.
        public var expressionType: AttributeType?
        /// Whether the index orders the values from the smallest to the largest.
        public var isAscending: Bool
        /// The kind of index.
        public var kind: Kind

        /// Creates an element for a property.
        public init(_ property: String, isAscending: Bool = true, kind: Kind = .binary) {
            self.property = property
            self.isAscending = isAscending
            self.kind = kind
        }

        /// Creates an element for the value of an expression.
        public init(
            expression: String, type: AttributeType? = nil, isAscending: Bool = true, kind: Kind = .binary
        ) {
            self.init("", isAscending: isAscending, kind: kind)
            self.expression = expression
            expressionType = type
        }
    }

    /// The name, unique in the entity.
    public var name: String
    /// The elements; their order decides which fetches can use the index.
    public var elements: [Element]
    var origin: Origin

    /// Creates an index on the elements, in that order.
    public init(_ name: String, elements: [Element], fileID: StaticString = #fileID, line: UInt = #line) {
        self.name = name
        self.elements = elements
        origin = Origin(fileID, line)
    }

    /// Creates an ascending index on the named properties, in that order.
    public init(_ name: String, on properties: String..., fileID: StaticString = #fileID, line: UInt = #line) {
        self.init(name, elements: properties.map { Element($0) }, fileID: fileID, line: line)
    }

    /// Whether the store creates the index; the model merely keeps those with expressions or R-trees.
    package var isSupported: Bool {
        elements.allSatisfy { $0.expression == nil && $0.kind == .binary }
    }
}

extension FetchIndexDescription {
    /// The index's name in a store: `Z_Item_byName`.
    package func storeName(in entity: String) -> String { "Z_\(entity)_\(name)" }
}
