import FaultlineModel

/// The name of a fetched property with the class of the objects that it finds; see ``AttributeKey``.
public struct FetchedPropertyKey<Destination: ManagedObject>: Sendable {
    public let name: String

    public init(_ name: String) {
        self.name = name
    }
}

/// An object that a fetched property has found.
enum FetchedMember {
    /// Not held: it may have found the object that it belongs to.
    case saved(ManagedObjectID)
    /// Its identity will change.
    case new(ManagedObject)

    init(_ object: ManagedObject) {
        self = object.objectID.isTemporaryID ? .new(object) : .saved(object.objectID)
    }

    func object(in context: ManagedObjectContext) -> ManagedObject {
        switch self {
        case .saved(let id): context.object(with: id)
        case .new(let object): object
        }
    }
}

extension ManagedObject {
    /// The objects that a fetched property finds; see ``fetchedObjects(forKey:fileID:line:function:)``.
    public final subscript<Destination: ManagedObject>(
        key: FetchedPropertyKey<Destination>, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) -> [Destination] {
        fetchedObjects(forKey: key.name, fileID: fileID, line: line, function: function).map {
            Self.cast($0, key.name)
        }
    }

    /// The objects that a fetched property's request finds, with this object for its `$FETCH_SOURCE`.
    ///
    /// The request is run when the property is first read. From then on it is the same objects, whatever changes, until
    /// this object is refreshed, as in Core Data, or merged. What was found is not held: an object that nobody else holds
    /// is a fault again when the property is read anew.
    ///
    /// Where the request cannot be run there are none, and the next fetch or save of the context throws. Traps if the
    /// entity has no such fetched property.
    public final func fetchedObjects(
        forKey name: String, fileID: StaticString = #fileID, line: UInt = #line, function: StaticString = #function
    ) -> [ManagedObject] {
        let context = managedObjectContext
        if flags.contains(.isQueueChecked) { context.checkQueue(of: self) }
        guard let property = runtime.schema.fetchedProperties[name] else {
            incorrectUse("Entity '\(entityName)' has no fetched property '\(name)'.")
        }
        if let known = fetched[name]?.map({ $0.object(in: context) }) {
            fetched[name] = known.map { FetchedMember($0) }
            return known
        }
        guard !flags.contains(.isDetached), let template = property.fetchRequest else { return [] }
        do {
            let request = try FetchRequest<ManagedObject>(template, substitutionVariables: ["FETCH_SOURCE": self])
            let found = try context.fetch(request, fileID: fileID, line: line, function: function)
            let objects = found.map { $0 }
            fetched[name] = objects.map { FetchedMember($0) }
            return objects
        } catch let error as StoreError {
            context.observeReadError(error)
        } catch {
            // Fetching throws nothing else.
        }
        return []
    }
}
