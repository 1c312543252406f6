import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

typealias FaultSpan = Span<TraceEvent.Fault>

extension FaultSpan {
    /// Completes the event of an object that was loaded, or that is gone.
    func describe(
        _ object: ManagedObject, _ entity: EntityRuntime, _ source: TraceEvent.Fault.Source, _ failure: StoreError?,
        isDeleting: Bool
    ) {
        let isReached = object.trail.relationship >= 0
        event.type = isReached ? .toOne : .object
        if isReached {
            let owner = entity.store.entities[Int(object.trail.relationshipEntity)]
            if owner.schema.properties[Int(object.trail.relationship)].isToMany { event.type = .object }
            event.relationship = owner.nameID(Int(object.trail.relationship), recorder)
            event.relationshipEntity = owner.traceID(recorder)
        }
        event.entity = entity.traceID(recorder)
        event.filled = object.row == nil ? 0 : 1
        event.bytes = object.row.map { UInt64($0.byteCount(object.runtime.layout)) } ?? 0
        if event.bytes >= TraceEvent.Release.minimumBytes {
            event.isWatched = true
            object.watchedFault = id
        }
        describe(object, source, failure, isDeleting)
    }

    /// Completes the event of a to-many relationship whose members were loaded.
    func describe(
        _ object: ManagedObject, relationship index: Int, members: Int, _ source: TraceEvent.Fault.Source,
        _ failure: StoreError?, isDeleting: Bool
    ) {
        event.type = .toMany
        event.entity = object.runtime.traceID(recorder)
        event.relationship = object.runtime.nameID(index, recorder)
        event.relationshipEntity = event.entity
        event.filled = UInt32(clamping: members)
        event.bytes = UInt64(members * 8)
        describe(object, source, failure, isDeleting)
    }

    private func describe(
        _ object: ManagedObject, _ source: TraceEvent.Fault.Source, _ failure: StoreError?, _ isDeleting: Bool
    ) {
        event.object = recorder.hash(UInt64(object.runtime.root), UInt64(bitPattern: object.key))
        event.origin = object.trail.origin
        event.source = source
        event.isDeleting = isDeleting
        event.error = failure.map { UInt32(bitPattern: $0.sqliteCode) } ?? 0
    }
}
