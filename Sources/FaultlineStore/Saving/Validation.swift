import FaultlineModel

/// Whether objects can be saved as they are.
struct Validation {
    let context: ManagedObjectContext

    func check(_ changes: ChangeSet) throws(StoreError) {
        for object in changes.inserted { try checkValues(of: object, all: true) }
        for object in changes.updated { try checkValues(of: object, all: false) }
        for object in context.updated where object.isUpdated && !object.isInserted && !object.isDeleted {
            try checkMembers(of: object)
        }
        for object in changes.inserted { try checkMembers(of: object) }
        for object in changes.deleted { try checkDenial(of: object) }
    }

    /// - Parameter all: whether every property is looked at, or only those that were set.
    private func checkValues(of object: ManagedObject, all: Bool) throws(StoreError) {
        guard let pending = object.pending else { return }
        for property in object.runtime.schema.properties where property.isDerived && context.store.isForeign {
            switch pending.values[property.index] {
            case .unchanged, .object: continue
            case .null where all: continue
            case .value(let value) where all && value == property.defaultValue: continue
            case .null, .value: break
            }
            throw StoreError(
                .validation,
                "Saving \(object.entityName) \(object.objectID): '\(property.name)' is worked out by the store and cannot be set; take the change back.",
                objectID: object.objectID)
        }
        for property in object.runtime.schema.properties where !property.isOptional && !property.isToMany {
            if property.isDerived, context.store.isForeign { continue }
            let isMissing: Bool
            switch pending.values[property.index] {
            case .null: isMissing = true
            case .unchanged: isMissing = all && !property.isTransient
            case .value(let value):
                guard SQLValue(value) != .null else { throw notANumber(object, property) }
                isMissing = false
            case .object(let other): isMissing = other.isDeleted
            }
            guard isMissing else { continue }
            throw StoreError(
                .validation,
                "Saving \(object.entityName) \(object.objectID): '\(property.name)' has no value and is not optional; set it, or make it optional in the model.",
                objectID: object.objectID)
        }
    }

    private func notANumber(_ object: ManagedObject, _ property: PropertySchema) -> StoreError {
        StoreError(
            .validation,
            "Saving \(object.entityName) \(object.objectID): '\(property.name)' is not a number (NaN), which SQLite keeps as no value, and is not optional; set a number, or make it optional in the model.",
            objectID: object.objectID)
    }

    private func checkMembers(of object: ManagedObject) throws(StoreError) {
        for property in object.runtime.schema.properties where property.isToMany && !property.isOptional {
            // What was not touched is as it was.
            guard let state = object.toMany[property.index], state.hasChanges || object.isInserted else {
                if !object.isInserted { continue }
                throw missing(object, property)
            }
            if object.members(property.index).isEmpty { throw missing(object, property) }
        }
    }

    private func missing(_ object: ManagedObject, _ property: PropertySchema) -> StoreError {
        StoreError(
            .validation,
            "Saving \(object.entityName) \(object.objectID): '\(property.name)' has no objects and is not optional; add one, or make it optional in the model.",
            objectID: object.objectID)
    }

    private func checkDenial(of object: ManagedObject) throws(StoreError) {
        for property in object.runtime.schema.properties where property.deleteRule == .deny {
            let others =
                property.isToMany
                ? object.members(property.index).filter { !$0.isDeleted }.count
                : object.toOne(property.index) == nil ? 0 : 1
            guard others > 0 else { continue }
            throw StoreError(
                .deleteDenied,
                "Deleting \(object.entityName) \(object.objectID): its delete rule for '\(property.name)' denies that while there are objects at the other end (\(others)); delete those first.",
                objectID: object.objectID)
        }
    }
}
