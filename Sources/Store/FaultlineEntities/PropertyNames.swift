/// A property of an entity with the Swift key paths that lead to it.
///
/// Made by expansions of ``Entity(_:isAbstract:renamingIdentifier:versionHashModifier:userInfo:)``.
public struct PropertyKeyPath: @unchecked Sendable {
    // Holds key paths that the macro writes as literals, without subscripts, so they have captured nothing, and never
    // changes.

    /// The key path from an object: `\Shelf.room`.
    let direct: AnyKeyPath
    /// The key path from an optional object, which continues the key path to that object: `\Shelf?.?.room`.
    let chained: AnyKeyPath
    /// The property's name.
    let name: String

    /// Pairs the two key paths to one property.
    public init(_ direct: AnyKeyPath, _ chained: AnyKeyPath, _ name: String) {
        (self.direct, self.chained, self.name) = (direct, chained, name)
    }
}

/// The names of an entity's properties by Swift key path.
///
/// Contains a key path for each attribute and relationship, including inherited ones, with the entity's class as its
/// root. The translation of Swift predicates uses it, one step of a path at a time.
public struct PropertyNames: @unchecked Sendable {
    // Immutable. The macro writes the key paths as literals without subscripts, so they capture nothing.
    private let names: [AnyKeyPath: String]
    /// The properties, inherited ones included.
    let properties: [PropertyKeyPath]

    init(_ properties: [PropertyKeyPath]) {
        self.properties = properties
        // A subclass may declare a property again.
        names = Dictionary(properties.map { ($0.direct, $0.name) }) { first, _ in first }
    }

    /// The name of the property at a key path; `nil` if there is none.
    ///
    /// - Complexity: O(1).
    public subscript(keyPath: AnyKeyPath) -> String? { names[keyPath] }

    /// The number of properties.
    public var count: Int { names.count }
}
