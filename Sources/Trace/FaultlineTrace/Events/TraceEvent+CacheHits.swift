// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// Faults that the row cache filled, summed over one thread, scope, fetch, relationship and call stack.
    ///
    /// The event lasts from the first of them to the last.
    public struct CacheHits: Sendable, Hashable {
        /// The fetch that produced the objects, or the object from which they were reached.
        ///
        /// 0 if none is known.
        public var origin: EventID = 0
        /// Faults that the row cache filled.
        public var hits: UInt64 = 0
        /// Objects that they filled.
        ///
        /// For to-many faults, the members of the relationships.
        public var filled: UInt64 = 0
        /// Bytes of memory that the rows occupy, or that the members' IDs would.
        public var bytes: UInt64 = 0
        /// Time that the faults took, in nanoseconds.
        ///
        /// Measured for each to-many fault. For objects, estimated from one fault in 64.
        public var time: UInt64 = 0
        /// The kind of fault.
        public var type: TraceEvent.Fault.FaultType = .object
        /// The entity of the objects.
        ///
        /// For to-many faults, the entity of the objects that have the relationship.
        public var entity: DictionaryID = 0
        /// The relationship that fired or through which the objects were reached.
        ///
        /// 0 if there is none.
        public var relationship: DictionaryID = 0
        /// The entity that has that relationship.
        ///
        /// 0 if there is none.
        public var relationshipEntity: DictionaryID = 0

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.CacheHits: EventRecord {
    package static var kind: EventKind { .cacheHits }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.cacheHits
        origin = fields.origin
        hits = fields.hits
        filled = fields.filled
        bytes = fields.bytes
        time = fields.time
        type = TraceEvent.Fault.FaultType(rawValue: fields.type) ?? .object
        entity = fields.entity
        relationship = fields.relationship
        relationshipEntity = fields.relationshipEntity
    }

    /// The record of these fields.
    package var record: fl_cache_hits {
        var fields = fl_cache_hits()
        fields.origin = origin
        fields.hits = hits
        fields.filled = filled
        fields.bytes = bytes
        fields.time = time
        fields.type = type.rawValue
        fields.entity = entity
        fields.relationship = relationship
        fields.relationshipEntity = relationshipEntity
        return fields
    }
}
