/// An index that the store keeps over properties of an entity, for fetches that select or sort by them.
///
/// Relationships need none: the store indexes every to-one relationship by itself.
public struct FetchIndexDescription: Sendable, Hashable {
    /// One column of the index.
    public struct Element: Sendable, Hashable {
        /// The name of an attribute or of a to-one relationship.
        public var property: String
        public var isAscending: Bool

        public init(_ property: String, isAscending: Bool = true) {
            self.property = property
            self.isAscending = isAscending
        }
    }

    public var name: String
    public var elements: [Element]

    /// An index over properties in that order.
    public init(_ name: String, elements: [Element]) {
        self.name = name
        self.elements = elements
    }

    /// An ascending index over the named properties in that order.
    public init(_ name: String, on properties: String...) {
        self.init(name, elements: properties.map { Element($0) })
    }
}
