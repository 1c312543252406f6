public import FaultlineModel

/// What a batch request returns.
public enum BatchResultType: Sendable, Hashable, CaseIterable {
    /// The number of objects. A request that fails throws its error.
    case statusOnly
    /// The IDs of the objects, and their number.
    case objectIDs
    /// The number of objects.
    case count
}

/// The result of a batch request that succeeded; one that fails throws its error.
public struct BatchResult: Sendable, Hashable {
    /// The number of objects inserted, updated or deleted, without those that a delete rule deleted.
    public let count: Int
    /// The IDs of these objects, including those that a delete rule deleted; empty unless the request's result type is
    /// ``BatchResultType/objectIDs``.
    public let objectIDs: [ManagedObjectID]
}

/// Deletes objects in the store without loading them.
///
/// Delete rules apply: nullify and cascade run in SQL, and deny throws an error. Objects in memory are not updated;
/// merge ``BatchResult/objectIDs`` into their contexts. Validation and unsaved changes are ignored.
public struct BatchDeleteRequest: Sendable {
    let terms: FetchTerms?
    let objectIDs: [ManagedObjectID]
    let entityName: String
    /// What the request returns.
    ///
    /// Default: the objects' IDs.
    public var resultType = BatchResultType.objectIDs

    /// Deletes the objects that a fetch request selects.
    public init<Object: ManagedObject>(fetchRequest: FetchRequest<Object>) {
        terms = fetchRequest.terms
        entityName = fetchRequest.entityName
        objectIDs = []
    }

    /// Deletes objects of one entity and its subentities.
    ///
    /// Traps if the objects' entities are in different inheritance trees.
    public init(objectIDs: [ManagedObjectID]) {
        terms = nil
        self.objectIDs = objectIDs
        entityName = objectIDs.first?.entityName ?? ""
        requireCorrectUse(
            objectIDs.allSatisfy { $0.entity.root == objectIDs[0].entity.root },
            "A batch deletion deletes objects of one entity; create a request for each entity.")
    }
}

/// Changes attributes of objects in the store without loading them.
///
/// The objects' versions increase, so a context with unsaved changes of one of them detects a conflict. Objects in
/// memory are not updated, and validation is ignored.
public struct BatchUpdateRequest: Sendable {
    let terms: FetchTerms
    /// New values by attribute name; an expression may use the object's own attributes.
    public var propertiesToUpdate: [String: FetchExpression]
    /// What the request returns.
    ///
    /// Default: the objects' IDs.
    public var resultType = BatchResultType.objectIDs

    /// Creates a request that sets attributes of the selected objects.
    ///
    /// - Parameters:
    ///   - fetchRequest: Selects the objects.
    ///   - propertiesToUpdate: For example `["price": .keyPath("price") * .value(1.1), "isOld": .value(true)]`;
    ///     ``FetchExpression/null`` removes a value.
    public init<Object: ManagedObject>(
        fetchRequest: FetchRequest<Object>, propertiesToUpdate: [String: FetchExpression]
    ) {
        terms = fetchRequest.terms
        self.propertiesToUpdate = propertiesToUpdate
    }
}

/// Inserts objects into the store without creating them in memory.
///
/// Attributes without a value get their defaults. To-one relationships are set by the IDs of saved objects:
/// `["title": "Emma", "author": .object(author.objectID)]`. Validation is ignored, except that a value must have its
/// attribute's type and a relationship's object must exist.
///
/// If an object in the store already has a dictionary's unique values, the context's
/// ``ManagedObjectContext/mergePolicy`` decides: ``MergePolicy/mergeByPropertyObjectTrump`` sets the given properties of
/// that object, ``MergePolicy/overwrite`` sets all of them, and ``MergePolicy/mergeByPropertyStoreTrump`` and
/// ``MergePolicy/rollback`` ignore the dictionary. With ``MergePolicy/error``, the default, the request fails. Its result
/// counts the objects that were inserted or updated.
public struct BatchInsertRequest {
    let entityName: String
    let next: () -> [String: AttributeValue]?
    /// The candidate stores: the first that is writable and whose configuration has the entity gets the objects.
    ///
    /// Default: `nil`, all stores.
    public var affectedStores: [PersistentStore]?
    /// What the request returns.
    ///
    /// Default: the objects' IDs.
    public var resultType = BatchResultType.objectIDs

    /// Inserts an object for each dictionary.
    public init(entityName: String, objects: some Sequence<[String: AttributeValue]>) {
        self.entityName = entityName
        var iterator = objects.makeIterator()
        next = { iterator.next() }
    }

    /// Inserts an object for each dictionary that a closure fills, until the closure returns `true`.
    ///
    /// Only one dictionary is in memory at a time.
    public init(entityName: String, dictionaryHandler: @escaping (inout [String: AttributeValue]) -> Bool) {
        self.entityName = entityName
        next = {
            var dictionary: [String: AttributeValue] = [:]
            return dictionaryHandler(&dictionary) ? nil : dictionary
        }
    }
}

extension AttributeValue {
    /// The value of a to-one relationship in a ``BatchInsertRequest``: the URI of a saved object's ID.
    public static func object(_ id: ManagedObjectID) -> AttributeValue { .uri(id.uriRepresentation()) }
}
