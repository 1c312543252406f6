import FaultlineModel

extension ManagedObjectContext {
    /// Resolves conflicts over unique values that other objects already have, by the merge policy.
    func resolve(_ found: ConstraintConflicts) {
        for conflict in found.conflicts {
            // An earlier conflict may have resolved some of them.
            var others = conflict.objects.filter { !$0.isDeleted && !$0.flags.contains(.isDetached) }
            let kept: ManagedObject
            if let stored = conflict.stored {
                kept = object(with: stored)
                try? kept.fulfill()
            } else {
                guard let first = others.first(where: { !$0.isInserted }) ?? others.first else { continue }
                kept = first
                others.removeAll { $0 === kept }
            }
            for object in others {
                if object.isInserted {
                    combine(object, into: kept)
                } else if conflict.stored != nil, mergePolicy.prefersObject {
                    delete(kept)
                } else if mergePolicy == .rollback {
                    revertChanges(of: object)
                } else {
                    for index in conflict.constraint {
                        revertChange(of: object, object.runtime.schema.properties[index])
                    }
                }
            }
        }
    }

    /// Merges a new object into the one that already has its unique values, and deletes it.
    private func combine(_ object: ManagedObject, into kept: ManagedObject) {
        if mergePolicy != .rollback {
            for property in object.runtime.schema.properties where kept.has(property) {
                if property.isToMany {
                    combineMembers(of: object, into: kept, property)
                } else if property.isRelationship {
                    combineDestination(of: object, into: kept, property)
                } else if !property.isDerived, !property.isTransient {
                    let value = object.readValue(property.index)
                    if replaces(value != nil, kept.readValue(property.index) != nil) {
                        kept._set(property.index, value)
                    }
                }
            }
            redirect(from: object, to: kept)
        }
        delete(object)
    }

    /// Whether the new object's value replaces the other's, given whether each has one.
    private func replaces(_ hasNew: Bool, _ hasOld: Bool) -> Bool {
        switch mergePolicy {
        case .overwrite: true
        case .mergeByPropertyObjectTrump: hasNew
        case .mergeByPropertyStoreTrump: hasNew && !hasOld
        case .error, .rollback: false
        }
    }

    private func combineMembers(of object: ManagedObject, into kept: ManagedObject, _ property: PropertySchema) {
        let members = Array(object.members(property.index))
        if mergePolicy == .overwrite { return kept.setToMany(property.index, members) }
        for member in members where !kept.toManyState(property.index).contains(member) {
            kept.addMember(member, property.index)
        }
    }

    private func combineDestination(of object: ManagedObject, into kept: ManagedObject, _ property: PropertySchema) {
        let destination = object.toOne(property.index)
        guard replaces(destination != nil, kept.toOne(property.index) != nil), destination !== kept else { return }
        object.setToOne(property.index, nil)
        kept.setToOne(property.index, destination)
    }

    /// Redirects unsaved references from one object to another.
    ///
    /// Without an inverse, an object does not know which objects refer to it.
    private func redirect(from object: ManagedObject, to kept: ManagedObject) {
        for other in inserted + updated {
            guard let pending = other.pending else { continue }
            for index in pending.indices {
                if case .object(let destination) = pending[index], destination === object {
                    pending[index] = .object(kept)
                }
            }
        }
    }
}

extension ManagedObject {
    /// Whether the object has a property of another entity of its tree; it is then at the same index.
    fileprivate func has(_ property: PropertySchema) -> Bool {
        let properties = runtime.schema.properties
        return property.index < properties.count && properties[property.index].name == property.name
    }
}
