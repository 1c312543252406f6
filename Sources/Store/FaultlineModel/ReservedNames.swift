/// Names that no property can have, because every object has something of that name already.
///
/// Core Data's model compiler refuses the names of the methods without parameters of `NSObject` and `NSManagedObject`.
/// Key-value coding also finds the object's own state under the names of its accessors, such as `deleted` and
/// `getDeleted`.
enum ReservedNames {
    private static let names: Set<String> = {
        let methods = [
            "autorelease", "awakeFromFetch", "awakeFromInsert", "changedValues", "changedValuesForCurrentEvent",
            "class", "classForArchiver", "classForCoder", "classForKeyedArchiver", "classForPortCoder", "className",
            "copy", "dealloc", "debugDescription", "description", "didSave", "didTurnIntoFault", "entity",
            "faultingState", "finalize", "hasChanges", "hasPersistentChangedValues", "hash", "init", "isProxy",
            "managedObjectContext", "mutableCopy", "objectID", "observationInfo", "prepareForDeletion", "release",
            "retain", "retainCount", "self", "superclass", "willSave", "willTurnIntoFault", "zone",
        ]
        let states = ["Deleted", "Fault", "Inserted", "Updated"].flatMap { state in
            ["is", "get", "set"].map { $0 + state } + [state.lowercased()]
        }
        return Set(methods + states)
    }()

    static func contains(_ name: String) -> Bool { names.contains(name) }
}

/// A property with a name that every object has already.
package struct ReservedProperty: Sendable, Hashable {
    package let entity: String
    package let name: String
    let declaredAt: String

    /// A name that it could have, such as `itemDescription` for `description` of `Item`.
    package var otherName: String {
        let start = entity.prefix { $0.isUppercase }.count
        let head = entity.prefix(start > 1 && start < entity.count ? start - 1 : start).lowercased()
        let tail = entity.dropFirst(head.count)
        return head + tail + name.prefix(1).uppercased() + name.dropFirst()
    }
}

extension ManagedObjectModel {
    /// The properties with names that Core Data refuses.
    ///
    /// Only a model that was loaded has any: stores with these names exist, and must be opened and examined.
    package var reservedProperties: [ReservedProperty] { Self.reservedProperties(of: entities) }

    static func reservedProperties(of entities: [EntityDescription]) -> [ReservedProperty] {
        entities.flatMap { entity in
            (entity.attributes.map { ($0.name, $0.declaredAt) } + entity.relationships.map { ($0.name, $0.declaredAt) })
                .filter { ReservedNames.contains($0.0) }
                .map { ReservedProperty(entity: entity.name, name: $0.0, declaredAt: $0.1) }
        }
    }
}
