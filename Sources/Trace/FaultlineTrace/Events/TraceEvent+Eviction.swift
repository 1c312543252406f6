// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// Rows that the row cache evicted to stay within its limit.
    ///
    /// A row stays in memory while an object or a result holds it.
    public struct Eviction: Sendable, Hashable {
        /// Bytes of memory that the rows occupied.
        public var bytes: UInt64 = 0
        /// The row cache's limit.
        public var limit: UInt64 = 0
        /// The entity at the root of the rows' inheritance hierarchy.
        public var entity: DictionaryID = 0
        /// Rows that were evicted.
        public var rows: UInt32 = 0
        /// Of these, rows that an object or a result still held.
        public var heldRows: UInt32 = 0

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.Eviction: EventRecord {
    package static var kind: EventKind { .eviction }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.eviction
        bytes = fields.bytes
        limit = fields.limit
        entity = fields.entity
        rows = fields.rows
        heldRows = fields.heldRows
    }

    /// The record of these fields.
    package var record: fl_eviction {
        var fields = fl_eviction()
        fields.bytes = bytes
        fields.limit = limit
        fields.entity = entity
        fields.rows = rows
        fields.heldRows = heldRows
        return fields
    }
}
