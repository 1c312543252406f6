extension PropertyPath {
    /// The path to a property that a Swift key path names: `PropertyPath(\Item.price) < 3`.
    ///
    /// The key path can lead over to-one relationships: `\Item.category?.name`. After a to-many relationship, continue with
    /// ``appending(_:)``. Traps if the key path leads to something else.
    public init<Object: Entity>(_ keyPath: PartialKeyPath<Object>) {
        self.init(Object.pathOfProperty(keyPath))
    }

    /// The path to a property of the objects at the end: `PropertyPath(\Item.tags).appending(\Tag.name)`.
    ///
    /// Traps as the initializer does.
    public func appending<Object: Entity>(_ keyPath: PartialKeyPath<Object>) -> PropertyPath {
        PropertyPath("\(self.keyPath).\(Object.pathOfProperty(keyPath))")
    }
}

extension FetchSortDescriptor {
    /// Sorts by a property that a Swift key path names: `.ascending(\Item.price)`.
    ///
    /// The key path can lead over to-one relationships. Traps if it leads to something else than a property.
    public static func ascending<Object: Entity>(_ keyPath: PartialKeyPath<Object>) -> FetchSortDescriptor {
        .ascending(Object.pathOfProperty(keyPath))
    }

    /// As ``ascending(_:)``, the other way round.
    public static func descending<Object: Entity>(_ keyPath: PartialKeyPath<Object>) -> FetchSortDescriptor {
        .descending(Object.pathOfProperty(keyPath))
    }
}

extension Entity {
    /// The names along a key path, which must lead to a property, alone or over to-one relationships.
    static func pathOfProperty(_ keyPath: PartialKeyPath<Self>) -> String {
        guard let path = propertyName(keyPath) ?? KeyPathSearch.path(of: keyPath, from: Self.self) else {
            incorrectUse(
                "'\(keyPath)' does not lead to a property of the entity '\(entityName)'; name a property, over to-one relationships with '?' if need be, or give the key path as text."
            )
        }
        return path
    }
}
