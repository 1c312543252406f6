import FaultlineModel

extension ManagedObjectContext {
    /// Resolves conflicts with objects that another writer has changed or deleted, by the merge policy.
    ///
    /// - Returns: Objects that the store no longer has and that must be inserted again.
    func resolve(_ found: VersionConflicts) -> Set<ManagedObject> {
        var revived: Set<ManagedObject> = []
        for conflict in found.conflicts {
            let object = conflict.object
            guard let row = conflict.row, let block = conflict.block,
                Int(row.header.pointee.entity) == object.runtime.schema.index
            else {
                if mergePolicy.prefersObject, !object.isDeleted, object.row != nil {
                    revived.insert(object)
                } else {
                    discardObjects([object])
                }
                continue
            }
            if object.isDeleted {
                if !mergePolicy.prefersObject { revertDeletion(of: object) }
            } else {
                resolve(object, row)
            }
            unloadInverses(of: object, row)
            (object.row, object.block) = (row, block)
            object.flags.remove(.isGone)
            logChange { $0.refresh(object) }
            object.awake(fromSnapshotEvents: .mergePolicy)
        }
        return revived
    }

    /// Resolves the conflict of an object with its row in the store, by the merge policy.
    private func resolve(_ object: ManagedObject, _ row: RowPointer) {
        switch mergePolicy {
        case .error: break
        case .rollback: revertChanges(of: object)
        case .overwrite: object.setDifferences(from: row)
        case .mergeByPropertyObjectTrump: object.forgetUnchangedValues()
        case .mergeByPropertyStoreTrump:
            object.forgetUnchangedValues()
            for property in object.changedProperties().sorted() where object.differs(from: row, property) {
                revertChange(of: object, object.runtime.schema.properties[property])
            }
        }
    }

    /// Unloads the inverses of to-one relationships whose destination differs in the store, so they are read again.
    private func unloadInverses(of object: ManagedObject, _ row: RowPointer) {
        for property in object.runtime.schema.properties where property.kind == .toOne {
            guard let inverse = object.runtime.model.inverse(of: property), inverse.isToMany,
                object.differs(from: row, property.index)
            else { continue }
            let map = object.runtime.store.entities[property.destination].map
            let offset = object.runtime.offsets[property.index]
            for row in [object.row, row] {
                guard let row, row.hasValue(slot: property.slot),
                    let other = identities.object(map: map, key: row.integer(at: offset))
                else { continue }
                other.toMany[inverse.index]?.unload()
                other.prefetched = nil
            }
        }
    }

    /// Reverts the deletion of an object, and its effects on the other ends of relationships.
    func revertDeletion(of object: ManagedObject) {
        object.flags.remove(.isDeleted)
        deleted.removeAll { $0 === object }
        object.toMany = [:]
        for property in object.runtime.schema.properties {
            guard let index = property.inverse else { continue }
            for other in updated where other.runtime.schema.family(of: property, in: object.runtime.model) {
                if property.kind == .manyToMany {
                    other.toMany[index]?.retract(object)
                    continue
                }
                let inverse = other.runtime.schema.properties[index]
                if inverse.isToMany {
                    other.toMany[index]?.retract(object)
                } else if case .null? = other.pending?[index], let (row, offset) = other.location(index),
                    row.integer(at: offset) == object.key
                {
                    other.pending?[index] = .unchanged
                }
            }
        }
        revertChanges(of: object)
    }
}

extension EntitySchema {
    /// Whether objects of the entity can be destinations of a relationship.
    fileprivate func family(of property: PropertySchema, in model: ModelSchema) -> Bool {
        model.entities[property.destination].family.contains(index)
    }
}

extension ManagedObject {
    /// Whether a row's value for a property differs from that of the object's own row.
    fileprivate func differs(from other: RowPointer, _ property: Int) -> Bool {
        guard let row else { return true }
        let layout = runtime.layout
        return runtime.schema.columns.indices.contains { slot in
            runtime.schema.columns[slot].property == property && !row.isEqual(to: other, layout, slot: slot)
        }
    }

    /// Marks every value that differs from another row's as an unsaved change.
    fileprivate func setDifferences(from other: RowPointer) {
        let changed = changedProperties()
        for property in runtime.schema.properties where property.slot >= 0 && !changed.contains(property.index) {
            guard differs(from: other, property.index) else { continue }
            let value: PendingValue
            if property.isRelationship {
                value = toOne(property.index).map { .object($0) } ?? .null
            } else {
                value = storedValue(property.index).map { .value($0) } ?? .null
            }
            change(property.index, value)
        }
    }
}

extension RowPointer {
    /// Whether two rows of one layout have the same value in a column.
    fileprivate func isEqual(to other: RowPointer, _ layout: RowLayout, slot: Int) -> Bool {
        guard hasValue(slot: slot), other.hasValue(slot: slot) else {
            return hasValue(slot: slot) == other.hasValue(slot: slot)
        }
        let offset = RowLayout.offset(ofSlot: slot)
        switch layout.columns[slot].storage {
        case .integer: return integer(at: offset) == other.integer(at: offset)
        case .real: return real(at: offset).bitPattern == other.real(at: offset).bitPattern
        case .text, .blob, .decimal: return bytes(at: offset).elementsEqual(other.bytes(at: offset))
        }
    }
}

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
