/// What to fetch, and how.
///
///     var request = FetchRequest<Item>(
///         predicate: PropertyPath("isBought") == false, sortDescriptors: [.ascending("name")], fetchBatchSize: 20)
///     request.relationshipKeyPathsForPrefetching = ["category"]
///     let items = try context.fetch(request)
///
/// A request is a value: it holds no object of any context, and can be made in one place and run in another.
public struct FetchRequest<Object: ManagedObject>: Sendable {
    /// The entity whose objects are fetched.
    public var entityName: String
    /// Which objects; `nil`: all.
    public var predicate: FetchPredicate?
    /// In which order; empty: in whatever order the store finds them.
    public var sortDescriptors: [FetchSortDescriptor]
    /// How many objects at most; 0: all.
    public var fetchLimit: Int
    /// How many objects to leave out at the start.
    public var fetchOffset: Int
    /// How many rows to load at a time, when a row of them is first asked for; 0: all rows at once.
    ///
    /// With a batch size the fetch reads keys only, and the results let go of old batches.
    public var fetchBatchSize: Int
    /// Relationships whose objects are loaded along, in one trip each, so that reading them later costs none.
    public var relationshipKeyPathsForPrefetching: [String]
    /// Whether objects of entities that inherit from the entity are fetched too.
    ///
    /// Default: yes.
    public var includesSubentities: Bool
    /// Whether rows are read into the row cache.
    ///
    /// Default: yes. Without, only keys are read, and every object costs a trip when it is first used.
    public var includesPropertyValues: Bool
    /// Whether objects come as faults, though their rows are in the row cache.
    ///
    /// Default: yes.
    public var returnsObjectsAsFaults: Bool
    /// Whether unsaved changes of the context take part: objects that are new are found, objects that were changed are
    /// found by what they are now, and objects that were deleted are left out.
    ///
    /// Default: yes.
    ///
    /// What is reached from an object over a relationship counts as it is in the store, unless the object itself has
    /// unsaved changes. Dictionaries are always made from what the store has.
    public var includesPendingChanges = true
    /// The stores that are asked.
    ///
    /// Default: `nil`, all that have the entity. What they have is one result, in the order of the sort descriptors;
    /// without any, store by store in the order in which they were added.
    public var affectedStores: [PersistentStore]?
    /// Whether the request is for objects or for dictionaries.
    ///
    /// Default: objects.
    public var resultType = FetchRequestResultType.managedObject
    /// What the dictionaries hold or, of a request for objects, what is read of them; empty: everything.
    ///
    /// Objects come as partial faults: what is named here, stored attributes and to-one relationships, is read from what
    /// the fetch has brought, and whatever else is asked for, or changed, fires the fault as always. Nothing of it goes into
    /// the row cache. SQLite reads the columns of a row up to the last that is asked for, and of a large value only the
    /// pages that it needs (https://www.sqlite.org/fileformat2.html#ovflpgs), so that this pays where a large value would
    /// be read and is not looked at.
    ///
    /// In a dictionary properties have a value for each object, functions such as ``FetchExpression/Function/sum`` one for each group of
    /// ``propertiesToGroupBy``, or for all objects where there are no groups. The object itself (`"self"`) and to-one
    /// relationships are the URL of the object's identity. Prefetching and a batch size have nothing to act on.
    public var propertiesToFetch: [ExpressionDescription] = []
    /// Key paths, or names among ``propertiesToFetch``: objects with the same values there make one dictionary.
    public var propertiesToGroupBy: [String] = []
    /// Which groups; functions over a group stand in it as `sum:(price) > 3`.
    public var havingPredicate: FetchPredicate?
    /// Whether dictionaries that are equal come once.
    ///
    /// Default: no. Objects never come more than once.
    public var returnsDistinctResults = false

    /// A request for objects of `Object`'s entity, or of another one that is named.
    public init(
        entityName: String? = nil, predicate: FetchPredicate? = nil, sortDescriptors: [FetchSortDescriptor] = [],
        fetchLimit: Int = 0, fetchOffset: Int = 0, fetchBatchSize: Int = 0,
        relationshipKeyPathsForPrefetching: [String] = [], includesSubentities: Bool = true,
        includesPropertyValues: Bool = true, returnsObjectsAsFaults: Bool = true
    ) {
        self.entityName = entityName ?? Object.entityName
        self.predicate = predicate
        self.sortDescriptors = sortDescriptors
        self.fetchLimit = fetchLimit
        self.fetchOffset = fetchOffset
        self.fetchBatchSize = fetchBatchSize
        self.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
        self.includesSubentities = includesSubentities
        self.includesPropertyValues = includesPropertyValues
        self.returnsObjectsAsFaults = returnsObjectsAsFaults
    }

    var terms: FetchTerms {
        FetchTerms(
            entityName: entityName, predicate: predicate, sortDescriptors: sortDescriptors, limit: max(fetchLimit, 0),
            offset: max(fetchOffset, 0), batchSize: max(fetchBatchSize, 0),
            prefetch: relationshipKeyPathsForPrefetching,
            includesSubentities: includesSubentities, includesPropertyValues: includesPropertyValues,
            returnsObjectsAsFaults: returnsObjectsAsFaults, includesPendingChanges: includesPendingChanges,
            resultType: resultType, expressions: propertiesToFetch, groups: propertiesToGroupBy,
            having: havingPredicate,
            isDistinct: returnsDistinctResults, affectedStores: affectedStores)
    }
}

/// A fetch request without its type.
struct FetchTerms {
    var entityName: String
    var predicate: FetchPredicate?
    var sortDescriptors: [FetchSortDescriptor]
    var limit: Int
    var offset: Int
    var batchSize: Int
    var prefetch: [String]
    var includesSubentities: Bool
    var includesPropertyValues: Bool
    var returnsObjectsAsFaults: Bool
    var includesPendingChanges: Bool
    var resultType: FetchRequestResultType
    var expressions: [ExpressionDescription]
    var groups: [String]
    var having: FetchPredicate?
    var isDistinct: Bool
    var affectedStores: [PersistentStore]?
}
