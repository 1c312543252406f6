// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// A merge of another context's save into a context.
    public struct Merge: Sendable, Hashable {
        /// The cause of a merge.
        public enum Trigger: UInt32, Sendable, Hashable, CaseIterable {
            /// A call by the program.
            case call
            /// The context merges every save automatically.
            case automatic
            /// The program reported a save that none of its contexts made.
            case remote
        }

        /// The cause of the merge.
        public var trigger: Trigger = .call
        /// The context that saved.
        ///
        /// 0 if it is not known.
        public var saver: DictionaryID = 0
        /// Objects that were inserted, whether the merging context had them or not.
        public var inserted: UInt32 = 0
        /// Objects that were updated, whether the merging context had them or not.
        public var updated: UInt32 = 0
        /// Objects that were deleted, whether the merging context had them or not.
        public var deleted: UInt32 = 0
        /// Objects of the merging context that now have other values or are gone.
        public var refreshed: UInt32 = 0
        /// Of these, objects with unsaved changes, which were kept.
        public var conflicts: UInt32 = 0
        /// The saved objects, by entity.
        public var entities: [TraceEvent.Save.Change] = []

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.Merge: EventRecord {
    package static var kind: EventKind { .merge }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.merge
        trigger = TraceEvent.Merge.Trigger(rawValue: fields.trigger) ?? .call
        saver = fields.saver
        inserted = fields.inserted
        updated = fields.updated
        deleted = fields.deleted
        refreshed = fields.refreshed
        conflicts = fields.conflicts
        guard fields.entities > 0 else { return }
        var lists = ListReader(record)
        entities = lists.take(fields.entities, words: 4) { TraceEvent.Save.Change($0) }
    }

    /// The record of these fields.
    package var record: fl_merge {
        var fields = fl_merge()
        fields.trigger = trigger.rawValue
        fields.saver = saver
        fields.inserted = inserted
        fields.updated = updated
        fields.deleted = deleted
        fields.refreshed = refreshed
        fields.conflicts = conflicts
        fields.entities = UInt32(clamping: entities.count)
        return fields
    }

    /// The words of the lists that follow the record.
    package var words: [UInt64] {
        entities.flatMap(\.words)
    }
}
