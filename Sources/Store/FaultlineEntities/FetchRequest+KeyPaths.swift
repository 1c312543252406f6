public import Foundation
internal import Synchronization

extension FetchRequest where Object: Entity {
    /// Creates a request for the objects of the class's entity, with Swift key paths.
    ///
    ///     let request = FetchRequest<Book>(sortDescriptors: [.ascending(\.title)], fetchBatchSize: 30, prefetching: \.shelf)
    ///
    /// Key paths can lead over to-one relationships: `\.shelf?.room`. Traps if one does not lead to a property.
    ///
    /// - Parameters:
    ///   - sortDescriptors: The sort order; if empty, the order in which the store finds the rows.
    ///   - fetchLimit: The maximum number of objects; 0 for no limit.
    ///   - fetchBatchSize: The number of rows to load at a time; 0 loads all at once.
    ///   - prefetching: The relationships to prefetch, in one trip each; `\.shelf?.room` prefetches shelves and rooms. Swift
    ///     has no key paths over to-many relationships; use ``FetchRequest/relationshipKeyPathsForPrefetching`` for these:
    ///     `"chapters.notes"`.
    ///   - propertiesToFetch: The properties to read; if empty, all.
    @_disfavoredOverload
    public init(
        sortDescriptors: [EntitySortDescriptor<Object>] = [], fetchLimit: Int = 0, fetchBatchSize: Int = 0,
        prefetching: PartialKeyPath<Object>..., propertiesToFetch: PartialKeyPath<Object>...
    ) {
        self.init(nil, sortDescriptors, fetchLimit, fetchBatchSize, prefetching, propertiesToFetch)
    }

    /// Creates a request for the objects that match a Swift predicate, with Swift key paths.
    ///
    ///     let request = try FetchRequest<Book>(
    ///         #Predicate { $0.pages > 300 }, sortDescriptors: [.ascending(\.title)], prefetching: \.shelf)
    ///
    /// - Parameters:
    ///   - predicate: Selects the objects.
    ///   - sortDescriptors: The sort order; if empty, the order in which the store finds the rows.
    ///   - fetchLimit: The maximum number of objects; 0 for no limit.
    ///   - fetchBatchSize: The number of rows to load at a time; 0 loads all at once.
    ///   - prefetching: The relationships to prefetch, as in a request without a predicate.
    ///   - propertiesToFetch: The properties to read; if empty, all.
    /// - Throws: The errors of ``FetchPredicate/init(_:)``.
    @_disfavoredOverload
    public init(
        _ predicate: Predicate<Object>, sortDescriptors: [EntitySortDescriptor<Object>] = [], fetchLimit: Int = 0,
        fetchBatchSize: Int = 0, prefetching: PartialKeyPath<Object>..., propertiesToFetch: PartialKeyPath<Object>...
    ) throws(StoreError) {
        self.init(
            try FetchPredicate(predicate), sortDescriptors, fetchLimit, fetchBatchSize, prefetching, propertiesToFetch)
    }

    private init(
        _ predicate: FetchPredicate?, _ sortDescriptors: [EntitySortDescriptor<Object>], _ limit: Int, _ batchSize: Int,
        _ prefetching: [PartialKeyPath<Object>], _ properties: [PartialKeyPath<Object>]
    ) {
        self.init(
            predicate: predicate, sortDescriptors: sortDescriptors.map(\.descriptor), fetchLimit: limit,
            fetchBatchSize: batchSize, relationshipKeyPathsForPrefetching: prefetching.map(Object.pathOfProperty))
        propertiesToFetch = properties.map { ExpressionDescription(stringLiteral: Object.pathOfProperty($0)) }
    }
}

/// A sort key of a request for the objects of an entity's class.
///
/// The request determines the class, so a key path needs no root: `.ascending(\.title)`.
public struct EntitySortDescriptor<Object: Entity>: Sendable, Hashable {
    /// The sort key for a request without a class.
    public let descriptor: FetchSortDescriptor

    /// Sorts by an attribute in ascending order, also of an object over to-one relationships: `.ascending(\.shelf?.label)`.
    ///
    /// Traps if the key path does not lead to a property.
    ///
    /// - Parameters:
    ///   - keyPath: The key path of the attribute.
    ///   - order: The order of strings; by code points by default.
    public static func ascending<Value>(
        _ keyPath: KeyPath<Object, Value>, _ order: TextOrder = .lexical
    ) -> EntitySortDescriptor {
        EntitySortDescriptor(descriptor: .ascending(Object.pathOfProperty(keyPath), order))
    }

    /// Sorts by an attribute in descending order; see ``ascending(_:_:)-(KeyPath<Object,Value>,_)``.
    public static func descending<Value>(
        _ keyPath: KeyPath<Object, Value>, _ order: TextOrder = .lexical
    ) -> EntitySortDescriptor {
        EntitySortDescriptor(descriptor: .descending(Object.pathOfProperty(keyPath), order))
    }
}

/// Finds the names along a Swift key path over to-one relationships, such as `"shelf.room"` for `\Book.shelf?.room`.
///
/// Swift key paths cannot be taken apart. So the search composes key paths from those that the macro has written, until
/// one is the same.
enum KeyPathSearch {
    /// The maximum number of properties along a key path.
    static let maximumSteps = 5

    /// Names that were found before, by key path.
    private static let known = Mutex(KnownPaths())

    /// The names along a key path, separated by dots; `nil` if it does not lead over to-one relationships to a property.
    ///
    /// - Complexity: O(1), except for a key path that is looked up for the first time: O(*r*ⁿ) for a key path of *n* + 1
    ///   properties and entities with *r* to-one relationships.
    static func path(of keyPath: AnyKeyPath, from entity: any Entity.Type) -> String? {
        if let known = known.withLock({ $0.names[keyPath] }) { return known }
        guard let found = search(for: keyPath, from: entity) else { return nil }
        known.withLock { $0.names[keyPath] = found }
        return found
    }

    private static func search(for keyPath: AnyKeyPath, from entity: any Entity.Type) -> String? {
        var reached = entity.entityDeclaration.propertyNames.properties.compactMap { Step($0.direct, $0.name) }
        for _ in 1..<maximumSteps {
            var next: [Step] = []
            for step in reached {
                for property in step.entity.entityDeclaration.propertyNames.properties {
                    guard let path = step.keyPath.appending(path: property.chained) else { continue }
                    let name = "\(step.name).\(property.name)"
                    if path.isSame(as: keyPath) { return name }
                    if let step = Step(path, name) { next.append(step) }
                }
            }
            reached = next
        }
        return nil
    }

    /// A key path to an object of another entity.
    private struct Step {
        let keyPath: AnyKeyPath
        let name: String
        let entity: any Entity.Type

        /// - Returns: `nil` if the key path does not lead to an object.
        init?(_ keyPath: AnyKeyPath, _ name: String) {
            guard let destination = type(of: keyPath).valueType as? any OptionalEntity.Type else { return nil }
            (self.keyPath, self.name, entity) = (keyPath, name, destination.entity)
        }
    }
}

/// The names along key paths.
private struct KnownPaths: @unchecked Sendable {
    // Guarded by the mutex that holds it. Its key paths equal ones that the macro has written, which capture nothing.
    var names: [AnyKeyPath: String] = [:]
}

/// An optional object of an entity, which is the type of a to-one relationship.
private protocol OptionalEntity {
    static var entity: any Entity.Type { get }
}

extension Optional: OptionalEntity where Wrapped: Entity {
    static var entity: any Entity.Type { Wrapped.self }
}

extension AnyKeyPath {
    /// Whether a composed key path has the same components as one that is written in full.
    ///
    /// `==` also compares where the mutable part of a key path ends, which differs: the first part of a composed one can
    /// be written to. Hashes cover the components alone.
    fileprivate func isSame(as other: AnyKeyPath) -> Bool {
        type(of: self) == type(of: other) && hashValue == other.hashValue
    }
}
