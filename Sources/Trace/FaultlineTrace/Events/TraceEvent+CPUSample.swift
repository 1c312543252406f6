// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// A sample of a thread on a CPU: its call stack, and the CPU time that the sample represents.
    ///
    /// It has no duration. Its parent is the operation of the store that the thread was in.
    public struct CPUSample: Sendable, Hashable {
        /// CPU time of the thread that the sample represents, in nanoseconds.
        public var weight: UInt64 = 0
        /// The instruction that the thread executed, as a stack of one frame.
        ///
        /// Its callers are in `stack`. 0 if the interpreter of the stack's innermost function executed it, or if it is
        /// not known.
        public var leaf: DictionaryID = 0

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.CPUSample: EventRecord {
    package static var kind: EventKind { .cpu }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.cpu
        weight = fields.weight
        leaf = fields.leaf
    }

    /// The record of these fields.
    package var record: fl_cpu {
        var fields = fl_cpu()
        fields.weight = weight
        fields.leaf = leaf
        return fields
    }
}
