extension PropertyPath {
    /// Creates the path to the property at a Swift key path: `PropertyPath(\Item.price) < 3`.
    ///
    /// The key path can lead over to-one relationships: `\Item.category?.name`. After a to-many relationship, extend the
    /// path with ``appending(_:)``. Traps if the key path does not lead to a property.
    public init<Object: Entity>(_ keyPath: PartialKeyPath<Object>) {
        self.init(Object.pathOfProperty(keyPath))
    }

    /// Extends the path to a property of its objects: `PropertyPath(\Item.tags).appending(\Tag.name)`.
    ///
    /// Traps if the key path does not lead to a property.
    public func appending<Object: Entity>(_ keyPath: PartialKeyPath<Object>) -> PropertyPath {
        PropertyPath("\(self.keyPath).\(Object.pathOfProperty(keyPath))")
    }
}

extension FetchSortDescriptor {
    /// Sorts by the property at a Swift key path in ascending order: `.ascending(\Item.price)`.
    ///
    /// The key path can lead over to-one relationships. Traps if it does not lead to a property.
    public static func ascending<Object: Entity>(_ keyPath: PartialKeyPath<Object>) -> FetchSortDescriptor {
        .ascending(Object.pathOfProperty(keyPath))
    }

    /// Sorts by a property in descending order; see ``ascending(_:)``.
    public static func descending<Object: Entity>(_ keyPath: PartialKeyPath<Object>) -> FetchSortDescriptor {
        .descending(Object.pathOfProperty(keyPath))
    }
}

extension Entity {
    /// The names along a key path, which must lead to a property, alone or over to-one relationships.
    static func pathOfProperty(_ keyPath: PartialKeyPath<Self>) -> String {
        guard let path = propertyName(keyPath) ?? KeyPathSearch.path(of: keyPath, from: Self.self) else {
            incorrectUse(
                "'\(keyPath)' does not refer to a property of the entity '\(entityName)'; name a property, through to-one relationships with '?' if necessary, or pass the key path as a string."
            )
        }
        return path
    }
}
