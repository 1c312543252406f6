// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// A save of a context.
    public struct Save: Sendable, Hashable {
        /// The saved objects of one entity.
        public struct Change: Sendable, Hashable {
            /// The entity.
            public var entity: DictionaryID
            /// Objects that were inserted.
            public var inserted: UInt64
            /// Objects that were updated.
            public var updated: UInt64
            /// Objects that were deleted.
            public var deleted: UInt64

            /// An entry with every number zero but those given.
            public init(
                entity: DictionaryID = 0,
                inserted: UInt64 = 0,
                updated: UInt64 = 0,
                deleted: UInt64 = 0
            ) {
                self.entity = entity
                self.inserted = inserted
                self.updated = updated
                self.deleted = deleted
            }
        }

        /// Objects that one fetch had returned and that were deleted or set to the same values although the program had
        /// read none of their values.
        public struct Unread: Sendable, Hashable {
            /// The fetch.
            public var fetch: EventID
            /// Objects that were deleted.
            public var deleted: UInt64
            /// Objects whose properties were all set to the same values.
            public var updated: UInt64
            /// The indexes of the properties that were set, one bit each.
            public var properties: UInt64
            /// A keyed hash of the new values.
            ///
            /// It only shows which values are equal within one recording.
            public var values: UInt64

            /// An entry with every number zero but those given.
            public init(
                fetch: EventID = 0,
                deleted: UInt64 = 0,
                updated: UInt64 = 0,
                properties: UInt64 = 0,
                values: UInt64 = 0
            ) {
                self.fetch = fetch
                self.deleted = deleted
                self.updated = updated
                self.properties = properties
                self.values = values
            }
        }

        /// Bytes of column values that were written.
        public var bytes: UInt64 = 0
        /// Time waiting for the store and for SQLite's write lock, in nanoseconds.
        public var lockWait: UInt64 = 0
        /// Time in COMMIT, in nanoseconds.
        public var commit: UInt64 = 0
        /// Objects that were inserted.
        public var inserted: UInt32 = 0
        /// Objects that were updated.
        public var updated: UInt32 = 0
        /// Objects that were deleted.
        public var deleted: UInt32 = 0
        /// Columns that updates wrote, summed over rows.
        public var changedColumns: UInt32 = 0
        /// Rows that another writer had changed since they were read.
        public var conflicts: UInt32 = 0
        /// Statements that ran, including those of transactions.
        public var trips: UInt32 = 0
        /// SQLite's result code if the save failed.
        ///
        /// 0 if it did not.
        public var error: UInt32 = 0
        /// Whether it is a batch request, which writes rows without objects.
        public var isBatchRequest: Bool = false
        /// Objects whose values were all set to the values already in the store; they were not written.
        public var unchanged: UInt32 = 0
        /// The inserted, updated and deleted objects, by entity.
        public var entities: [Change] = []
        /// The written objects that the program had fetched but not read.
        ///
        /// Empty if a class or the context does work for each object, and in traces of older recorders.
        public var unread: [Unread] = []

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.Save: EventRecord {
    package static var kind: EventKind { .save }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.save
        bytes = fields.bytes
        lockWait = fields.lockWait
        commit = fields.commit
        inserted = fields.inserted
        updated = fields.updated
        deleted = fields.deleted
        changedColumns = fields.changedColumns
        conflicts = fields.conflicts
        trips = fields.trips
        error = fields.error
        isBatchRequest = fields.isBatchRequest != 0
        unchanged = fields.unchanged
        guard fields.entities > 0 || fields.unread > 0 else { return }
        var lists = ListReader(record)
        entities = lists.take(fields.entities, words: 4) { TraceEvent.Save.Change($0) }
        unread = lists.take(fields.unread, words: 5) { TraceEvent.Save.Unread($0) }
    }

    /// The record of these fields.
    package var record: fl_save {
        var fields = fl_save()
        fields.bytes = bytes
        fields.lockWait = lockWait
        fields.commit = commit
        fields.inserted = inserted
        fields.updated = updated
        fields.deleted = deleted
        fields.changedColumns = changedColumns
        fields.conflicts = conflicts
        fields.trips = trips
        fields.error = error
        fields.isBatchRequest = isBatchRequest ? 1 : 0
        fields.unchanged = unchanged
        fields.entities = UInt32(clamping: entities.count)
        fields.unread = UInt32(clamping: unread.count)
        return fields
    }

    /// The words of the lists that follow the record.
    package var words: [UInt64] {
        entities.flatMap(\.words) + unread.flatMap(\.words)
    }
}

extension TraceEvent.Save.Change {
    /// The entry that stands in a list as these words.
    init(_ words: UnsafeBufferPointer<UInt64>) {
        entity = DictionaryID(truncatingIfNeeded: words[0])
        inserted = words[1]
        updated = words[2]
        deleted = words[3]
    }

    /// The words that stand for it in a list.
    var words: [UInt64] {
        [UInt64(entity), inserted, updated, deleted]
    }
}

extension TraceEvent.Save.Unread {
    /// The entry that stands in a list as these words.
    init(_ words: UnsafeBufferPointer<UInt64>) {
        fetch = words[0]
        deleted = words[1]
        updated = words[2]
        properties = words[3]
        values = words[4]
    }

    /// The words that stand for it in a list.
    var words: [UInt64] {
        [fetch, deleted, updated, properties, values]
    }
}
