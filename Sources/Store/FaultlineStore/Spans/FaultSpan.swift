import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

typealias FaultSpan = Span<TraceEvent.Fault>

/// The kind of a fault, and the entity and relationship it belongs to, as dictionary IDs.
struct FaultSubject {
    var type = TraceEvent.Fault.FaultType.object
    var entity: DictionaryID
    var relationship: DictionaryID = 0
    var relationshipEntity: DictionaryID = 0

    /// The subject of an object's fault.
    ///
    /// - Parameter entity: The entity by which the object was known when the fault fired.
    init(_ object: ManagedObject, _ entity: EntityRuntime, _ recorder: Recorder) {
        self.entity = entity.traceID(recorder)
        guard object.trail.relationship >= 0 else { return }
        let owner = entity.store.entities[Int(object.trail.relationshipEntity)]
        type = owner.schema.properties[Int(object.trail.relationship)].isToMany ? .object : .toOne
        relationship = owner.nameID(Int(object.trail.relationship), recorder)
        relationshipEntity = owner.traceID(recorder)
    }

    /// The subject of a to-many relationship's fault.
    init(_ object: ManagedObject, relationship index: Int, _ recorder: Recorder) {
        type = .toMany
        entity = object.runtime.traceID(recorder)
        relationship = object.runtime.nameID(index, recorder)
        relationshipEntity = entity
    }

    /// The fields that the row cache's hits for this subject share.
    func hits(from object: ManagedObject) -> TraceEvent.CacheHits {
        var hits = TraceEvent.CacheHits()
        hits.origin = object.trail.origin
        describe(&hits)
        return hits
    }

    /// Sets the fields of an event.
    func describe(_ event: inout some FaultEvent) {
        (event.type, event.entity) = (type, entity)
        (event.relationship, event.relationshipEntity) = (relationship, relationshipEntity)
    }
}

extension FaultSpan {
    /// Completes the event of an object that was loaded, or that is gone.
    func describe(
        _ object: ManagedObject, _ entity: EntityRuntime, _ source: TraceEvent.Fault.Source, _ failure: StoreError?,
        isDeleting: Bool
    ) {
        willDescribe()
        FaultSubject(object, entity, recorder).describe(&event)
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
        willDescribe()
        FaultSubject(object, relationship: index, recorder).describe(&event)
        event.filled = UInt32(clamping: members)
        event.bytes = UInt64(members * MemoryLayout<Int64>.size)
        describe(object, source, failure, isDeleting)
    }

    /// Sets whether and when the row cache had the row before.
    func didFind(_ past: RowHistory.Past?) {
        guard let past else { return }
        event.seenBefore = true
        (event.sinceCached, event.loadedSince) = (past.age, past.loadedSince)
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
