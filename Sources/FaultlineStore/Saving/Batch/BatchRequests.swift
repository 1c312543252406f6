public import FaultlineModel

/// What is told of a batch request that was carried out.
public struct BatchResult: Sendable, Hashable {
    /// How many objects were inserted, updated or deleted; of a deletion, without those that a delete rule added.
    public let count: Int
    /// Which; those that a delete rule has deleted as well are among them, behind the others.
    public let objectIDs: [ManagedObjectID]
}

/// Deletes objects in the store without loading them.
///
/// Delete rules are kept: nullify and cascade are carried out in SQL, and deny is an error. Objects that are in memory do
/// not notice; ``BatchResult/objectIDs`` can be merged into contexts. Validation and unsaved changes play no part.
public struct BatchDeleteRequest: Sendable {
    let terms: FetchTerms?
    let objectIDs: [ManagedObjectID]
    let entityName: String

    /// Deletes what a request for objects selects.
    public init<Object: ManagedObject>(fetchRequest: FetchRequest<Object>) {
        terms = fetchRequest.terms
        entityName = fetchRequest.entityName
        objectIDs = []
    }

    /// Deletes objects of one entity, or of those that inherit from it.
    ///
    /// Traps if there are objects of several trees of entities.
    public init(objectIDs: [ManagedObjectID]) {
        terms = nil
        self.objectIDs = objectIDs
        entityName = objectIDs.first?.entityName ?? ""
        requireCorrectUse(
            objectIDs.allSatisfy { $0.entity.root == objectIDs[0].entity.root },
            "A batch deletion is for objects of one entity; make one for each entity.")
    }
}

/// Changes attributes of objects in the store without loading them.
///
/// The versions of the objects rise, so that whoever has one of them with unsaved changes notices. Objects that are in
/// memory do not notice by themselves, and validation plays no part.
public struct BatchUpdateRequest: Sendable {
    let terms: FetchTerms
    /// New values by the names of attributes; they may be worked out from the object's own attributes.
    public var propertiesToUpdate: [String: FetchExpression]

    /// - Parameters:
    ///   - fetchRequest: selects the objects.
    ///   - propertiesToUpdate: for example `["price": .keyPath("price") * .value(1.1), "isOld": .value(true)]`;
    ///     ``FetchExpression/null`` takes a value away.
    public init<Object: ManagedObject>(
        fetchRequest: FetchRequest<Object>, propertiesToUpdate: [String: FetchExpression]
    ) {
        terms = fetchRequest.terms
        self.propertiesToUpdate = propertiesToUpdate
    }
}

/// Inserts objects into the store without making any.
///
/// Attributes that are not named have their defaults. Relationships stay empty, and validation plays no part, except that
/// a value must be of its attribute's type.
public struct BatchInsertRequest {
    let entityName: String
    let next: () -> [String: AttributeValue]?
    /// The stores that the objects may go to: the first of them that can be written and whose configuration has the entity.
    ///
    /// Default: `nil`, all.
    public var affectedStores: [PersistentStore]?

    /// Inserts an object for each dictionary.
    public init(entityName: String, objects: some Sequence<[String: AttributeValue]>) {
        self.entityName = entityName
        var iterator = objects.makeIterator()
        next = { iterator.next() }
    }

    /// Inserts an object for each dictionary that a closure fills, until it returns `true`.
    ///
    /// No more than one of them is in memory.
    public init(entityName: String, dictionaryHandler: @escaping (inout [String: AttributeValue]) -> Bool) {
        self.entityName = entityName
        next = {
            var dictionary: [String: AttributeValue] = [:]
            return dictionaryHandler(&dictionary) ? nil : dictionary
        }
    }
}
