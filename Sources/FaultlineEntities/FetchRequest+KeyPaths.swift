public import Foundation

extension FetchRequest where Object: Entity {
    /// Creates a request for the objects of the class's entity, with Swift key paths.
    ///
    ///     let request = FetchRequest<Book>(sortDescriptors: [.ascending(\.title)], fetchBatchSize: 30, prefetching: \.shelf)
    ///
    /// Key paths can lead over to-one relationships: `\.shelf?.room`. Traps if one does not lead to a property.
    ///
    /// - Parameters:
    ///   - sortDescriptors: the sort order; if empty, the order in which the store finds the rows.
    ///   - fetchLimit: the maximum number of objects; 0 for no limit.
    ///   - fetchBatchSize: the number of rows to load at a time; 0 loads all at once.
    ///   - prefetching: the relationships to prefetch, in one trip each; `\.shelf?.room` prefetches shelves and rooms. Swift
    ///     has no key paths over to-many relationships; use ``FetchRequest/relationshipKeyPathsForPrefetching`` for these:
    ///     `"chapters.notes"`.
    ///   - propertiesToFetch: the properties to read; if empty, all.
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
    ///   - predicate: selects the objects.
    ///   - sortDescriptors: the sort order; if empty, the order in which the store finds the rows.
    ///   - fetchLimit: the maximum number of objects; 0 for no limit.
    ///   - fetchBatchSize: the number of rows to load at a time; 0 loads all at once.
    ///   - prefetching: the relationships to prefetch, as in a request without a predicate.
    ///   - propertiesToFetch: the properties to read; if empty, all.
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
