public import FaultlineModel
package import FaultlineTrace

/// A request for objects of an entity.
///
///     var request = FetchRequest<Item>(
///         predicate: PropertyPath("isBought") == false, sortDescriptors: [.ascending("name")], fetchBatchSize: 20)
///     request.relationshipKeyPathsForPrefetching = ["category"]
///     let items = try context.fetch(request)
///
/// A request is a value: it holds no object of a context, and can be created in one place and run in another.
public struct FetchRequest<Object: ManagedObject>: Sendable {
    /// The entity whose objects are fetched.
    public var entityName: String
    /// The condition that objects must meet; `nil` fetches all.
    public var predicate: FetchPredicate?
    /// The sort order; if empty, the order in which the store finds the rows.
    public var sortDescriptors: [FetchSortDescriptor]
    /// The maximum number of objects; 0 for no limit.
    public var fetchLimit: Int
    /// The number of objects to skip at the start.
    public var fetchOffset: Int
    /// The number of rows to load at a time, on first access; 0 loads all rows at once.
    ///
    /// With a batch size, the fetch only reads keys, and the result releases old batches.
    public var fetchBatchSize: Int
    /// The relationships to prefetch, in one trip each, which saves the trips of reading them later.
    public var relationshipKeyPathsForPrefetching: [String]
    /// Whether the result includes objects of subentities.
    ///
    /// Default: yes.
    public var includesSubentities: Bool
    /// Whether the fetch reads rows into the row cache.
    ///
    /// Default: yes. Otherwise it only reads keys, and every object costs a trip on its first use.
    public var includesPropertyValues: Bool
    /// Whether objects are returned as faults, although their rows are in the row cache.
    ///
    /// Default: yes.
    public var returnsObjectsAsFaults: Bool
    /// Whether the fetch takes unsaved changes of the context into account.
    ///
    /// Default: yes. New objects are then included, changed objects are selected by their current values, and deleted
    /// objects are left out. In a child context, the unsaved changes of its ancestors count as well.
    ///
    /// The objects of a relationship are compared by their stored values, unless the fetched object itself has unsaved
    /// changes. Dictionaries always contain stored values.
    public var includesPendingChanges = true
    /// The stores to fetch from.
    ///
    /// Default: `nil`, all stores that have the entity. Their results are merged in the order of the sort descriptors;
    /// without any, they follow each other in the order in which the stores were added.
    public var affectedStores: [PersistentStore]?
    /// Whether the request returns objects or dictionaries.
    ///
    /// Default: objects.
    public var resultType = FetchRequestResultType.managedObject
    /// The values in result dictionaries or, in a request for objects, the properties to read; if empty, all.
    ///
    /// Objects are returned as partial faults: the fetch reads the stored attributes and to-one relationships named
    /// here, and reading any other property, or changing one, fires the fault as usual. The values do not enter the row
    /// cache. SQLite reads a row's columns up to the last requested one, and only the needed pages of a large value
    /// (https://www.sqlite.org/fileformat2.html#ovflpgs). This pays off when it avoids reading a large value that is
    /// not used.
    ///
    /// In a dictionary, properties have a value for each object. Functions such as ``FetchExpression/Function/sum``
    /// have one for each group of ``propertiesToGroupBy`` or, without groups, one for all objects. A function over a
    /// to-many relationship, such as `.function(.maximum, "books.price")`, has a value for each object if there are no
    /// groups and another expression has one. A key path through a to-many relationship (`"books.title"`) gives a
    /// dictionary for each pair of an object and a related object, and one for an object that has none. The object
    /// itself (`"self"`) and related objects are returned as the URL of the object's ID. Prefetching and the batch size
    /// have no effect.
    public var propertiesToFetch: [ExpressionDescription] = []
    /// Key paths or names in ``propertiesToFetch``: objects with equal values there form one dictionary.
    public var propertiesToGroupBy: [String] = []
    /// The condition that groups must meet; functions over a group are written as in `sum:(price) > 3`.
    public var havingPredicate: FetchPredicate?
    /// Whether equal dictionaries are returned only once.
    ///
    /// Default: no. Objects are never returned more than once.
    public var returnsDistinctResults = false

    /// Creates a request for objects of an entity; by default, `Object`'s.
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

    /// The keys of the objects to fetch; `nil` for all.
    package var keys: ClosedRange<Int64>?

    var terms: FetchTerms {
        FetchTerms(
            entityName: entityName, predicate: predicate, sortDescriptors: sortDescriptors, limit: max(fetchLimit, 0),
            offset: max(fetchOffset, 0), batchSize: max(fetchBatchSize, 0),
            prefetch: relationshipKeyPathsForPrefetching,
            includesSubentities: includesSubentities, includesPropertyValues: includesPropertyValues,
            returnsObjectsAsFaults: returnsObjectsAsFaults, includesPendingChanges: includesPendingChanges,
            resultType: resultType, expressions: propertiesToFetch, groups: propertiesToGroupBy,
            having: havingPredicate,
            isDistinct: returnsDistinctResults, affectedStores: affectedStores, keys: keys)
    }
}

/// A fetch request without its generic type.
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
    var keys: ClosedRange<Int64>?
}

extension FetchRequest {
    /// Returns the request with a change applied.
    package func changed(by change: FetchChange) -> FetchRequest {
        var request = self
        if let size = change.batchSize { request.fetchBatchSize = Int(size) }
        if let limit = change.limit { request.fetchLimit = Int(limit) }
        request.relationshipKeyPathsForPrefetching = change.prefetched(relationshipKeyPathsForPrefetching)
        if let properties = change.properties {
            request.propertiesToFetch = properties.map { ExpressionDescription($0, .keyPath($0)) }
        }
        if change.readsIdentitiesOnly {
            request.includesPropertyValues = false
            // With a batch size, the first access to an object would read its rows.
            if change.batchSize == nil { request.fetchBatchSize = 0 }
        }
        return request
    }
}

extension FetchRequest {
    /// Creates a request from a template in a model.
    ///
    ///     let request = try FetchRequest<Item>(
    ///         templateNamed: "itemsByName", in: container.managedObjectModel, substitutionVariables: ["NAME": "milk"])
    ///
    /// - Throws: ``StoreError`` if the model has no such template, if its predicate cannot be parsed, or if the
    ///   predicate reads a property of a variable that is not an object. Unset variables only throw when the request is
    ///   executed.
    public init(
        templateNamed name: String, in model: ManagedObjectModel,
        substitutionVariables: [String: (any FetchPredicateArgument)?] = [:]
    ) throws(StoreError) {
        guard let template = model.fetchRequestTemplate(named: name) else {
            throw StoreError(
                .invalidRequest, "The model has no fetch request '\(name)'; correct the name, or add it to the model.")
        }
        try self.init(template, substitutionVariables: substitutionVariables)
    }

    init(
        _ template: FetchRequestTemplate, substitutionVariables: [String: (any FetchPredicateArgument)?]
    ) throws(StoreError) {
        let predicate: FetchPredicate?
        if let format = template.predicate, !format.isEmpty {
            predicate = try FetchPredicate(format: format).withSubstitutionVariables(substitutionVariables)
        } else {
            predicate = nil
        }
        self.init(entityName: template.entity, predicate: predicate)
    }
}

/// The kind of result of a fetch request.
public enum FetchRequestResultType: String, Sendable, Hashable {
    /// Objects, returned by ``ManagedObjectContext/fetch(_:fileID:line:function:)``.
    case managedObject
    /// Dictionaries with the values of ``FetchRequest/propertiesToFetch``, returned by
    /// ``ManagedObjectContext/fetchDictionaries(_:fileID:line:function:)``.
    case dictionary
}

/// A sort key of a fetch request.
public struct FetchSortDescriptor: Sendable, Hashable {
    /// An attribute, or a key path to one through to-one relationships.
    public var keyPath: String
    /// Whether the smallest value comes first.
    public var isAscending: Bool
    /// How strings are compared; ignored for other values.
    ///
    /// Default: by code points.
    public var order: TextOrder

    /// Creates a descriptor for an attribute or a key path to one.
    public init(_ keyPath: String, ascending: Bool = true, order: TextOrder = .lexical) {
        self.keyPath = keyPath
        self.order = order
        isAscending = ascending
    }

    /// Returns a descriptor that puts the smallest value first.
    public static func ascending(_ keyPath: String, _ order: TextOrder = .lexical) -> FetchSortDescriptor {
        FetchSortDescriptor(keyPath, order: order)
    }

    /// Returns a descriptor that puts the largest value first.
    public static func descending(_ keyPath: String, _ order: TextOrder = .lexical) -> FetchSortDescriptor {
        FetchSortDescriptor(keyPath, ascending: false, order: order)
    }

    /// Parses a sort key in the form of a trace's shape.
    ///
    /// - Returns: `nil` if the text is not a sort key.
    package init?(shape text: String) {
        let words = text.split(separator: " ").map(String.init)
        guard let keyPath = words.first, let direction = words.last, ["ascending", "descending"].contains(direction),
            let order = TextOrder.allCases.first(where: {
                FetchSortDescriptor(keyPath, ascending: direction == "ascending", order: $0).text == text
            })
        else { return nil }
        self.init(keyPath, ascending: direction == "ascending", order: order)
    }

    /// The key path and direction: `"name ascending"`, `"name localized ascending"`.
    var text: String {
        "\(keyPath) \(order == .lexical ? "" : "\(order) ")\(isAscending ? "ascending" : "descending")"
    }
}

/// An item of ``FetchRequest/propertiesToFetch``: an expression, and its key in a result dictionary.
///
/// A string literal names a property, which is also its key.
public struct ExpressionDescription: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The key; not empty, and unique within a request.
    public var name: String
    /// The expression whose value is under the key.
    public var expression: FetchExpression
    /// The type to read the value as; `nil` for the expression's own type.
    ///
    /// The own type of a sum is a floating-point number.
    public var resultType: AttributeType?

    /// Creates a description of a value in dictionaries.
    public init(_ name: String, _ expression: FetchExpression, resultType: AttributeType? = nil) {
        self.name = name
        self.expression = expression
        self.resultType = resultType
    }

    /// Creates one from a key path in quotation marks.
    public init(stringLiteral keyPath: String) {
        self.init(keyPath, .keyPath(keyPath))
    }
}
