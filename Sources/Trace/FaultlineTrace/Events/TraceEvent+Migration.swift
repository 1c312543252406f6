// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// A migration of a store to another version of its model, or a part of one.
    public struct Migration: Sendable, Hashable {
        /// The part of a migration that an event measures.
        public enum Stage: UInt32, Sendable, Hashable, CaseIterable {
            /// The whole migration.
            ///
            /// The other stages are its parts.
            case whole
            /// A step from version to version, which itself has parts.
            case step
            /// Finding the store's version, planning, and checking the rows.
            case plan
            /// Changing or copying the rows of a table, in SQL.
            case rows
            /// Computing derived attributes, in SQL.
            case derive
            /// Creating indexes and triggers.
            case index
            /// Creating the objects of an entity mapping.
            case create
            /// Setting the relationships of an entity mapping's objects.
            case relate
            /// Checking the migrated store.
            case verify
            /// A handler of a staged migration.
            case handler
        }

        /// How a store is migrated.
        public enum Way: UInt32, Sendable, Hashable, CaseIterable {
            /// In place, in SQL, inferred from names and renaming identifiers.
            case inferred
            /// In place, in SQL, with a mapping model.
            case mapping
            /// Object by object into a second store, with a mapping model and its policies.
            case objects
            /// From version to version.
            case staged
        }

        /// Rows that statements processed, or objects that were created or changed.
        public var rows: UInt64 = 0
        /// The size of the store's file before the migration.
        ///
        /// 0 for a part of one.
        public var bytes: UInt64 = 0
        /// The estimated time of the same migration in SQL, if a mapping model created objects although it could have
        /// been inferred, in nanoseconds.
        ///
        /// 0 for all others.
        public var timeInSQL: UInt64 = 0
        /// The part of a migration that the event measures.
        public var stage: Stage = .whole
        /// How the store is migrated.
        public var way: Way = .inferred
        /// For a whole migration, the store's file.
        ///
        /// For a part, the newer entity, the join table, the entity mapping or the stage. 0 if it is for none or
        /// several.
        public var name: DictionaryID = 0
        /// SQLite's result code if the migration failed.
        ///
        /// 0 if it did not.
        public var error: UInt32 = 0

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.Migration: EventRecord {
    package static var kind: EventKind { .migration }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.migration
        rows = fields.rows
        bytes = fields.bytes
        timeInSQL = fields.timeInSQL
        stage = TraceEvent.Migration.Stage(rawValue: fields.stage) ?? .whole
        way = TraceEvent.Migration.Way(rawValue: fields.way) ?? .inferred
        name = fields.name
        error = fields.error
    }

    /// The record of these fields.
    package var record: fl_migration {
        var fields = fl_migration()
        fields.rows = rows
        fields.bytes = bytes
        fields.timeInSQL = timeInSQL
        fields.stage = stage.rawValue
        fields.way = way.rawValue
        fields.name = name
        fields.error = error
        return fields
    }
}
