// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// The trip to the store for a fault that the row cache could not serve.
    public struct CacheMiss: Sendable, Hashable {
        /// The fault that missed.
        public var fault: EventID = 0
        /// The entity of the object.
        public var entity: DictionaryID = 0
        /// Whether the row cache had contained this object before.
        public var seenBefore: Bool = false

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.CacheMiss: EventRecord {
    package static var kind: EventKind { .cacheMiss }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.cacheMiss
        fault = fields.fault
        entity = fields.entity
        seenBefore = fields.seenBefore != 0
    }

    /// The record of these fields.
    package var record: fl_cache_miss {
        var fields = fl_cache_miss()
        fields.fault = fault
        fields.entity = entity
        fields.seenBefore = seenBefore ? 1 : 0
        return fields
    }
}
