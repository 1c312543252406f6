import FaultlineModel

/// The name of a fetched property with the class of the objects it fetches; see ``AttributeKey``.
public struct FetchedPropertyKey<Destination: ManagedObject>: Sendable {
    /// The name of the fetched property in the model.
    public let name: String

    /// Creates a key for the fetched property with that name in the model.
    public init(_ name: String) {
        self.name = name
    }
}

/// An object in the result of a fetched property.
enum FetchedMember {
    /// Not retained: the result may contain the object that owns it.
    case saved(ManagedObjectID)
    /// Retained, because its identity will change.
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
    /// The objects of a fetched property; see ``fetchedObjects(forKey:fileID:line:function:)``.
    public final subscript<Destination: ManagedObject>(
        key: FetchedPropertyKey<Destination>, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) -> [Destination] {
        fetchedObjects(forKey: key.name, fileID: fileID, line: line, function: function).map {
            Self.cast($0, key.name)
        }
    }

    /// Returns the result of a fetched property's request, with this object as `$FETCH_SOURCE`.
    ///
    /// The first read runs the request. Later reads return the same objects, as in Core Data, until this object is
    /// refreshed or merged. The result is not retained: an object that nothing else retains is a fault again on the
    /// next read.
    ///
    /// If the request fails, the result is empty and the next fetch or save of the context throws. Traps if the entity
    /// has no such fetched property.
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
            // A fetch throws no other error.
        }
        return []
    }
}
