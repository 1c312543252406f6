// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// The memory of the process at a time, as the system counts it.
    public struct Memory: Sendable, Hashable {
        /// Memory of the process that is in RAM (RSS).
        public var resident: UInt64 = 0
        /// The same, with pages that processes share divided among them (PSS).
        ///
        /// 0 if it is not known.
        public var proportional: UInt64 = 0

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.Memory: EventRecord {
    package static var kind: EventKind { .memory }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.memory
        resident = fields.resident
        proportional = fields.proportional
    }

    /// The record of these fields.
    package var record: fl_memory {
        var fields = fl_memory()
        fields.resident = resident
        fields.proportional = proportional
        return fields
    }
}
