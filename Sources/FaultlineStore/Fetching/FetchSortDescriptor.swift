/// A sort key of a fetch request.
public struct FetchSortDescriptor: Sendable, Hashable {
    /// An attribute, or a key path to one through to-one relationships.
    public var keyPath: String
    /// Whether the smallest value comes first.
    public var isAscending: Bool
    /// How strings are compared; ignored for other values.
    ///
    /// Default: by code points.
    public var order: TextOrder

    /// Creates a descriptor for an attribute or a key path to one.
    public init(_ keyPath: String, ascending: Bool = true, order: TextOrder = .lexical) {
        self.keyPath = keyPath
        self.order = order
        isAscending = ascending
    }

    /// Returns a descriptor that puts the smallest value first.
    public static func ascending(_ keyPath: String, _ order: TextOrder = .lexical) -> FetchSortDescriptor {
        FetchSortDescriptor(keyPath, order: order)
    }

    /// Returns a descriptor that puts the largest value first.
    public static func descending(_ keyPath: String, _ order: TextOrder = .lexical) -> FetchSortDescriptor {
        FetchSortDescriptor(keyPath, ascending: false, order: order)
    }

    /// Parses a sort key in the form of a trace's shape.
    ///
    /// - Returns: `nil` if the text is not a sort key.
    package init?(shape text: String) {
        let words = text.split(separator: " ").map(String.init)
        guard let keyPath = words.first, let direction = words.last, ["ascending", "descending"].contains(direction),
            let order = TextOrder.allCases.first(where: {
                FetchSortDescriptor(keyPath, ascending: direction == "ascending", order: $0).text == text
            })
        else { return nil }
        self.init(keyPath, ascending: direction == "ascending", order: order)
    }

    /// The key path and direction: `"name ascending"`, `"name localized ascending"`.
    var text: String {
        "\(keyPath) \(order == .lexical ? "" : "\(order) ")\(isAscending ? "ascending" : "descending")"
    }
}
