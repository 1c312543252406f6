// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// Objects that were turned back into faults, so that they are read again when they are next accessed.
    public struct Refresh: Sendable, Hashable {
        /// The entity of the objects.
        ///
        /// 0 if there are several.
        public var entity: DictionaryID = 0
        /// Objects that were refreshed.
        public var objects: UInt32 = 0
        /// Of these, objects that had unsaved changes.
        public var changed: UInt32 = 0
        /// Whether unsaved changes were kept rather than discarded.
        public var keepsChanges: Bool = false

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.Refresh: EventRecord {
    package static var kind: EventKind { .refresh }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.refresh
        entity = fields.entity
        objects = fields.objects
        changed = fields.changed
        keepsChanges = fields.keepsChanges != 0
    }

    /// The record of these fields.
    package var record: fl_refresh {
        var fields = fl_refresh()
        fields.entity = entity
        fields.objects = objects
        fields.changed = changed
        fields.keepsChanges = keepsChanges ? 1 : 0
        return fields
    }
}
