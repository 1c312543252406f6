/// One key that a fetch request sorts by.
///
/// Text is compared by its code points, as an index over the attribute orders it.
public struct FetchSortDescriptor: Sendable, Hashable {
    /// An attribute, or the way to one through to-one relationships.
    public var keyPath: String
    public var isAscending: Bool

    public init(_ keyPath: String, ascending: Bool = true) {
        self.keyPath = keyPath
        isAscending = ascending
    }

    public static func ascending(_ keyPath: String) -> FetchSortDescriptor { FetchSortDescriptor(keyPath) }
    public static func descending(_ keyPath: String) -> FetchSortDescriptor {
        FetchSortDescriptor(keyPath, ascending: false)
    }

    /// The key with its direction: `"name ascending"`.
    var text: String { "\(keyPath) \(isAscending ? "ascending" : "descending")" }
}
