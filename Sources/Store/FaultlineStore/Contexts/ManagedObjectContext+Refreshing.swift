import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

extension ManagedObjectContext {
    /// Runs a closure that turns objects back into faults, and records it as an event.
    func recordRefresh(_ describe: (inout TraceEvent.Refresh) -> Void, of body: () -> Void) {
        guard let open = recorder.begin() else { return body() }
        var event = TraceEvent.Refresh()
        describe(&event)
        body()
        recorder.end(open, event, context: traceID, site: 0)
    }

    /// Records an event for an object that releases large values.
    func recordRelease(of object: ManagedObject) {
        guard let open = recorder.begin() else { return }
        var event = TraceEvent.Release()
        event.fault = object.watchedFault
        event.object = recorder.hash(UInt64(object.runtime.schema.root), UInt64(bitPattern: object.key))
        event.entity = object.runtime.traceID(recorder)
        event.bytes = object.row.map { UInt64($0.byteCount(object.runtime.layout)) } ?? 0
        recorder.end(open, event, context: traceID)
    }

    /// Records an event for a released fetch result that had large rows.
    func recordRelease(ofResult fetch: EventID, of entity: EntityRuntime) {
        guard let open = recorder.begin() else { return }
        var event = TraceEvent.Release()
        event.fetch = fetch
        event.entity = entity.traceID(recorder)
        recorder.end(open, event, context: traceID)
    }

    /// Reverts an object's unsaved changes, and their effects on the other ends of its relationships.
    ///
    /// Unsaved changes in other objects' own rows stay, even if they refer to the object.
    func revertChanges(of object: ManagedObject) {
        let pending = object.pending
        object.pending = nil
        object.flags.remove(.hasPending)
        object.transients = [:]
        for property in object.runtime.schema.properties where property.isRelationship {
            if property.isTransient {
                object.toMany[property.index] = nil
                continue
            }
            switch property.kind {
            case .attribute, .toMany: break
            case .manyToMany:
                guard let state = object.toMany.removeValue(forKey: property.index), let index = property.inverse
                else { continue }
                for other in state.added + state.removed { other.toMany[index]?.retract(object) }
            case .toOne:
                guard let pending else { continue }
                revert(property, of: object, pending[property.index])
            }
        }
        guard object.flags.contains(.isUpdated) else { return }
        object.flags.remove(.isUpdated)
        updated.removeAll { $0 === object }
        if object.toMany.values.contains(where: \.hasChanges) { observeUpdate(object) }
    }

    /// Reverts an unsaved change of an attribute or a to-one relationship, and its effects on the other ends.
    func revertChange(of object: ManagedObject, _ property: PropertySchema) {
        guard let value = object.pending?[property.index] else { return }
        object.pending?[property.index] = .unchanged
        if property.kind == .toOne { revert(property, of: object, value) }
    }

    private func revert(_ property: PropertySchema, of object: ManagedObject, _ value: PendingValue) {
        guard let inverse = object.runtime.model.inverse(of: property) else { return }
        let other: ManagedObject?
        switch value {
        case .unchanged, .value: return
        case .null: other = nil
        case .object(let object): other = object
        }
        let stored = object.toOne(property.index)
        if inverse.isToMany {
            other?.toMany[inverse.index]?.retract(object)
            stored?.toMany[inverse.index]?.retract(object)
            return
        }
        if let other, case .object(object)? = other.pending?[inverse.index] {
            other.pending![inverse.index] = .unchanged
            // The previous object refers to this one again.
            other.toOne(inverse.index)?.revertNull(property.index)
        }
        stored?.revertNull(inverse.index)
    }
}

extension ManagedObject {
    /// Reverts the clearing of a to-one relationship.
    fileprivate final func revertNull(_ index: Int) {
        if case .null? = pending?[index] { pending![index] = .unchanged }
    }
}
