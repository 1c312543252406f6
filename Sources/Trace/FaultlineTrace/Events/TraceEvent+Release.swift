// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// An object that released at least 16 KiB of values because it was turned back into a fault or deallocated; or a
    /// fetch's result with such objects that the program released.
    public struct Release: Sendable, Hashable {
        /// The fetch whose result was released.
        ///
        /// 0 if it was an object.
        public var fetch: EventID = 0
        /// The fault that filled the object.
        ///
        /// 0 if it was a result.
        public var fault: EventID = 0
        /// A keyed hash of the object's ID, the same as in the fault.
        public var object: UInt64 = 0
        /// Bytes of the released values.
        public var bytes: UInt64 = 0
        /// The entity of the object or of the request.
        public var entity: DictionaryID = 0

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.Release: EventRecord {
    package static var kind: EventKind { .release }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.release
        fetch = fields.fetch
        fault = fields.fault
        object = fields.object
        bytes = fields.bytes
        entity = fields.entity
    }

    /// The record of these fields.
    package var record: fl_release {
        var fields = fl_release()
        fields.fetch = fetch
        fields.fault = fault
        fields.object = object
        fields.bytes = bytes
        fields.entity = entity
        return fields
    }
}
