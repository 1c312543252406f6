/// The names of an entity's properties by the Swift key paths that lead to them.
///
/// It has a key path for each attribute and each relationship, inherited ones included, with the entity's class as its
/// root: a predicate that was written in Swift is translated by it, one step of a way at a time.
public struct PropertyNames: @unchecked Sendable {
    // Holds key paths that the macro writes as literals, without subscripts, so they have captured nothing, and never
    // changes.
    private let names: [AnyKeyPath: String]

    init(_ names: [AnyKeyPath: String]) {
        self.names = names
    }

    /// The name of the property that a key path leads to, or `nil`.
    ///
    /// - Complexity: O(1).
    public subscript(keyPath: AnyKeyPath) -> String? { names[keyPath] }

    /// How many properties there are.
    public var count: Int { names.count }
}
