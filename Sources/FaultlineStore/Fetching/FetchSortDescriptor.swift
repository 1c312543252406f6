/// One key that a fetch request sorts by.
public struct FetchSortDescriptor: Sendable, Hashable {
    /// An attribute, or the way to one through to-one relationships.
    public var keyPath: String
    public var isAscending: Bool
    /// How texts are compared; of no concern to other values.
    ///
    /// Default: by code points.
    public var order: TextOrder

    public init(_ keyPath: String, ascending: Bool = true, order: TextOrder = .lexical) {
        self.keyPath = keyPath
        self.order = order
        isAscending = ascending
    }

    public static func ascending(_ keyPath: String, _ order: TextOrder = .lexical) -> FetchSortDescriptor {
        FetchSortDescriptor(keyPath, order: order)
    }

    public static func descending(_ keyPath: String, _ order: TextOrder = .lexical) -> FetchSortDescriptor {
        FetchSortDescriptor(keyPath, ascending: false, order: order)
    }

    /// The key with its direction: `"name ascending"`, `"name localized ascending"`.
    var text: String {
        "\(keyPath) \(order == .lexical ? "" : "\(order) ")\(isAscending ? "ascending" : "descending")"
    }
}
