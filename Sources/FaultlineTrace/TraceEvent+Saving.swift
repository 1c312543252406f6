internal import CTraceSchema

extension TraceEvent {
    /// A context that was saved.
    public struct Save: Sendable, Hashable {
        /// What was saved of one entity.
        public struct Change: Sendable, Hashable {
            public var entity: DictionaryID
            public var inserted: UInt64
            public var updated: UInt64
            public var deleted: UInt64

            public init(entity: DictionaryID, inserted: UInt64 = 0, updated: UInt64 = 0, deleted: UInt64 = 0) {
                self.entity = entity
                self.inserted = inserted
                self.updated = updated
                self.deleted = deleted
            }
        }

        /// Objects that one fetch had returned, and that were deleted or set to the same values although the program had read
        /// nothing of them.
        public struct Unread: Sendable, Hashable {
            /// The fetch.
            public var fetch: EventID
            /// Objects that were deleted.
            public var deleted: UInt64
            /// Objects whose properties were all set to the same values.
            public var updated: UInt64
            /// The places in ``EntityEntry/properties`` of what was set, a bit for each.
            public var properties: UInt64
            /// A keyed hash of what they were set to: equal for equal values within one recording, and nothing else.
            public var values: UInt64

            public init(
                fetch: EventID, deleted: UInt64 = 0, updated: UInt64 = 0, properties: UInt64 = 0, values: UInt64 = 0
            ) {
                self.fetch = fetch
                self.deleted = deleted
                self.updated = updated
                self.properties = properties
                self.values = values
            }

            /// Fetches that a save names.
            package static var maximumFetches: Int { Int(FL_UNREAD_FETCHES) }
            /// The maximum number of an entity's properties.
            package static var maximumProperties: Int { Int(FL_UNREAD_PROPERTIES) }
        }

        public var inserted: UInt32 = 0
        public var updated: UInt32 = 0
        public var deleted: UInt32 = 0
        /// Columns that updates wrote, summed over rows.
        public var changedColumns: UInt32 = 0
        /// Rows that another writer had changed since they were read.
        public var conflicts: UInt32 = 0
        /// Statements that ran, transactions included.
        public var trips: UInt32 = 0
        /// Bytes of column values that were written.
        public var bytes: UInt64 = 0
        /// Time waiting for the store and for SQLite's write lock, in nanoseconds.
        public var lockWait: UInt64 = 0
        /// Time in COMMIT, in nanoseconds.
        public var commit: UInt64 = 0
        /// SQLite's result code if the save failed; 0: it did not.
        public var error: UInt32 = 0
        /// Objects of which values were set that the store had already, and nothing else: they were not written.
        public var unchanged: UInt32 = 0
        /// The inserted, updated and deleted objects, by entity.
        public var entities: [Change] = []
        /// The written objects that the program had fetched and not read.
        ///
        /// Empty if a class or the context does something for each object, and in traces of older recorders.
        public var unread: [Unread] = []

        public init() {}
    }

    /// A statement that ran in SQLite: one round trip.
    public struct Statement: Sendable, Hashable {
        /// What a statement does to the store.
        public enum StatementType: UInt32, Sendable, Hashable, CaseIterable {
            /// It reads rows.
            case read
            /// It writes rows.
            case write
            /// It begins or ends a transaction.
            case transaction
            /// It makes tables or sets a pragma.
            case schema
        }

        /// The statement's text; see ``StatementEntry``.
        public var statement: DictionaryID = 0
        /// SQLite's plan for it, where one was asked for; see ``PlanEntry``.
        public var plan: DictionaryID = 0
        public var type: StatementType = .read
        /// Rows that it returned or changed.
        public var rows: UInt32 = 0
        /// Steps forward in a full table scan (`SQLITE_STMTSTATUS_FULLSCAN_STEP`).
        public var fullScanSteps: UInt32 = 0
        /// Sort operations (`SQLITE_STMTSTATUS_SORT`).
        public var sorts: UInt32 = 0
        /// Rows that went into automatic indexes (`SQLITE_STMTSTATUS_AUTOINDEX`).
        public var automaticIndexes: UInt32 = 0
        /// Operations of SQLite's virtual machine (`SQLITE_STMTSTATUS_VM_STEP`).
        public var virtualMachineSteps: UInt64 = 0
        /// Times that it was prepared for this run: 0 from the statement cache, 1 fresh, more after schema changes.
        public var preparations: UInt32 = 0
        /// Pages that SQLite's page cache held.
        public var pageHits: UInt32 = 0
        /// Pages that SQLite's page cache did not hold.
        public var pageMisses: UInt32 = 0
        /// SQLite's result code if it failed; 0: it did not.
        public var error: UInt32 = 0
        /// Texts that the store's own functions compared for it: those that SQLite compares itself do not count.
        public var textComparisons: UInt32 = 0
        /// Those among them that were found, fitted the pattern or were equal.
        public var textMatches: UInt32 = 0

        public init() {}
    }

    /// A scope that was opened or closed; both events carry the scope's own number as their ``TraceEvent/id``, and the
    /// surrounding scope as their ``TraceEvent/scope``.
    public struct Scope: Sendable, Hashable {
        /// What kind of work a scope marks.
        public enum Kind: UInt32, Sendable, Hashable, CaseIterable {
            /// Anything that belongs together.
            case other
            /// What one screen shows at a time.
            case screen
            /// The answer to one request.
            case request
            /// An import, an export or another pass over much data.
            case bulk
            /// A test.
            case test
            /// Preparation and clean-up, which rules leave out.
            case setup
        }

        /// Which end of the scope the event marks.
        public enum Phase: UInt32, Sendable, Hashable, CaseIterable {
            case begin, end
        }

        /// The scope's name; see ``TraceDictionary/name(_:)``.
        public var name: DictionaryID = 0
        public var kind: Kind = .other
        public var phase: Phase = .begin

        public init() {}
    }
}
