// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// A sampled block of memory that was allocated or freed.
    ///
    /// The sample represents allocations of its size at the same place. Its parent is the operation of the store that
    /// the thread was in.
    public struct Allocation: Sendable, Hashable {
        /// If the block was freed, the event of its allocation; otherwise 0.
        public var allocation: EventID = 0
        /// Bytes that the program asked for.
        ///
        /// 0 if the block was freed.
        public var size: UInt64 = 0
        /// Bytes that the sample represents.
        ///
        /// 0 if the block was freed.
        public var bytes: UInt64 = 0
        /// Allocations that the sample represents.
        ///
        /// 0 if the block was freed.
        public var count: UInt64 = 0

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.Allocation: EventRecord {
    package static var kind: EventKind { .allocation }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.allocation
        allocation = fields.allocation
        size = fields.size
        bytes = fields.bytes
        count = fields.count
    }

    /// The record of these fields.
    package var record: fl_allocation {
        var fields = fl_allocation()
        fields.allocation = allocation
        fields.size = size
        fields.bytes = bytes
        fields.count = count
        return fields
    }
}
