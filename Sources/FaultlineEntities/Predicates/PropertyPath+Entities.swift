extension PropertyPath {
    /// The way to a property that a Swift key path names: `PropertyPath(\Item.price) < 3`.
    ///
    /// Traps if the key path leads to something else, or over more than one property: lead on with ``appending(_:)``.
    public init<Object: Entity>(_ keyPath: PartialKeyPath<Object>) {
        self.init(Object.nameOfProperty(keyPath))
    }

    /// The way on to a property of the objects at the end: `PropertyPath(\Item.category).appending(\Category.name)`.
    ///
    /// Traps as the initializer does.
    public func appending<Object: Entity>(_ keyPath: PartialKeyPath<Object>) -> PropertyPath {
        PropertyPath("\(self.keyPath).\(Object.nameOfProperty(keyPath))")
    }
}

extension FetchSortDescriptor {
    /// Sorts by a property that a Swift key path names: `.ascending(\Item.price)`.
    ///
    /// Traps if the key path leads to something else, or over more than one property.
    public static func ascending<Object: Entity>(_ keyPath: PartialKeyPath<Object>) -> FetchSortDescriptor {
        .ascending(Object.nameOfProperty(keyPath))
    }

    /// As ``ascending(_:)``, the other way round.
    public static func descending<Object: Entity>(_ keyPath: PartialKeyPath<Object>) -> FetchSortDescriptor {
        .descending(Object.nameOfProperty(keyPath))
    }
}

extension Entity {
    /// The name of a property, which a key path must lead to.
    static func nameOfProperty(_ keyPath: PartialKeyPath<Self>) -> String {
        guard let name = propertyName(keyPath) else {
            incorrectUse(
                "'\(keyPath)' is no property of the entity '\(entityName)'; name one property, or give the key path as text."
            )
        }
        return name
    }
}
