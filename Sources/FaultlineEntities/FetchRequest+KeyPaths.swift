public import Foundation

extension FetchRequest where Object: Entity {
    /// A request for the objects of the class's entity, with Swift's key paths for the names of properties.
    ///
    ///     let request = FetchRequest<Book>(sortDescriptors: [.ascending(\.title)], fetchBatchSize: 30, prefetching: \.shelf)
    ///
    /// Key paths can lead over to-one relationships: `\.shelf?.room`. Traps if one leads to something else than a property.
    ///
    /// - Parameters:
    ///   - sortDescriptors: In which order; empty: in whatever order the store finds them.
    ///   - fetchLimit: How many objects at most; 0: all.
    ///   - fetchBatchSize: How many rows to load at a time; 0: all at once.
    ///   - prefetching: Relationships to prefetch, in one round trip each; `\.shelf?.room` prefetches both shelves and
    ///     rooms. Key paths over to-many relationships are texts in ``FetchRequest/relationshipKeyPathsForPrefetching``:
    ///     `"chapters.notes"`.
    ///   - propertiesToFetch: The properties to read; none: all of them.
    @_disfavoredOverload
    public init(
        sortDescriptors: [EntitySortDescriptor<Object>] = [], fetchLimit: Int = 0, fetchBatchSize: Int = 0,
        prefetching: PartialKeyPath<Object>..., propertiesToFetch: PartialKeyPath<Object>...
    ) {
        self.init(nil, sortDescriptors, fetchLimit, fetchBatchSize, prefetching, propertiesToFetch)
    }

    /// A request for the objects for which a predicate holds that is written in Swift, with key paths for names.
    ///
    ///     let request = try FetchRequest<Book>(
    ///         #Predicate { $0.pages > 300 }, sortDescriptors: [.ascending(\.title)], prefetching: \.shelf)
    ///
    /// - Parameters: See ``init(sortDescriptors:fetchLimit:fetchBatchSize:prefetching:propertiesToFetch:)``.
    /// - Throws: as ``FetchPredicate/init(_:)``.
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
