/// What an SQLite file is made of, as it lies on disk.
///
/// Sizes are in bytes. Of large tables the values are those of a sample of their rows.
public struct StoreFacts: Sendable, Hashable {
    public var path: String
    /// The size of the file.
    public var size: UInt64 = 0
    public var pageSize: UInt64 = 4096
    public var pages: UInt64 = 0
    /// Pages that hold nothing.
    public var freePages: UInt64 = 0
    /// How changes are written: `"wal"`, or `"rollback"`.
    public var journalMode = ""
    /// Whether it is a store of Core Data's.
    public var isCoreData = false
    /// Whether `ANALYZE` has run.
    public var hasStatistics = false
    /// Whether Faultline made it: such a store has a page cache of 32 MiB.
    public var isFaultline = false
    /// In alphabetical order, without SQLite's and Core Data's own.
    public var tables: [Table] = []
    /// What else takes room in the file, the largest first: history, full-text indexes, and SQLite's and Core Data's own.
    public var others: [Part] = []

    public init(path: String) {
        self.path = path
    }

    public struct Table: Sendable, Hashable {
        public var name: String
        /// The entity whose objects it holds, if that is known.
        public var entity: String?
        public var rows: UInt64 = 0
        /// The pages of the table itself, without its indexes, and what of them is unused; 0: not known.
        public var size: UInt64 = 0
        public var unused: UInt64 = 0
        /// Pages that do not follow the one before them in the file.
        public var jumps: UInt64 = 0
        public var columns: [Column] = []
        public var indexes: [Index] = []
        public var references: [Reference] = []
        /// Of a table with several entities: how many rows of each were looked at.
        public var kinds: [String: UInt64] = [:]
        /// Rows that were looked at.
        public var sampled: UInt64 = 0
        /// The column that is the key by which SQLite keeps the rows in order (`INTEGER PRIMARY KEY`).
        public var key: String?
        /// Why the table could not be looked at, in SQLite's words.
        public var problem: String?

        public init(name: String) {
            self.name = name
        }

        /// What it is called in advice.
        public var label: String { entity ?? name }
    }

    /// Tables that hold no objects, taken together.
    public struct Part: Sendable, Hashable {
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// Core Data's persistent history.
            case history
            /// What Core Data keeps to synchronize with CloudKit.
            case cloudKit
            /// The tables in which a virtual table keeps what it has, such as a full-text index.
            case virtualTable
            /// Keys, metadata and the model.
            case keys
            /// SQLite's schema, statistics and the like.
            case database
        }

        public var kind: Kind
        public var name: String
        public var tables: UInt64 = 0
        /// Rows of all its tables.
        public var rows: UInt64 = 0
        /// With indexes; 0: not known.
        public var size: UInt64 = 0
        /// Of a history: seconds between its first and its last transaction.
        public var seconds = 0.0

        public init(_ kind: Kind, _ name: String) {
            self.kind = kind
            self.name = name
        }
    }

    public struct Column: Sendable, Hashable {
        public var name: String
        /// The property, if that is known.
        public var property: String?
        public var type = ""
        /// The share of looked-at rows without a value.
        public var emptyShare = 0.0
        public var meanSize = 0.0
        /// 95 % of the values have no more.
        public var largestSize: UInt64 = 0
        /// The share of values with 16 KiB or more.
        public var largeShare = 0.0
        /// Whether only the table's keys are in it, or what the store itself needs.
        public var isInternal = false
        /// Whether its values are worked out when they are read and take no room.
        public var isComputed = false
        /// Entities whose rows never have a value.
        public var emptyKinds: Set<String> = []

        public init(name: String) {
            self.name = name
        }

        public var label: String { property ?? name }
    }

    public struct Index: Sendable, Hashable {
        public var name: String
        public var columns: [String]
        public var isUnique = false
        /// The first column, if it is a plain one: what the index finds rows by.
        public var first: String?
        /// Whether it holds some of the rows only; those without a value in ``first`` need not be among them.
        public var isPartial = false
        /// Whether it holds values that are worked out.
        public var hasExpressions = false
        /// Whether it belongs to a constraint, so that it cannot be dropped by itself.
        public var isConstraint = false
        /// Whether the store makes it by itself, for a relationship or an entity.
        public var isOfTheStore = false
        /// Whether it is a fetch index of the model; `nil`: no model was given.
        public var isOfTheModel: Bool?
        public var size: UInt64 = 0

        public init(name: String, columns: [String]) {
            self.name = name
            self.columns = columns
            first = columns.first
        }
    }

    /// A column that holds keys of another table.
    public struct Reference: Sendable, Hashable {
        public var column: String
        public var table: String
        /// Rows that refer to something, and different things that they refer to, among those looked at.
        public var filled: UInt64 = 0
        public var distinct: UInt64 = 0

        public init(column: String, table: String) {
            self.column = column
            self.table = table
        }
    }

    public func table(_ name: String) -> Table? { tables.first { $0.name == name } }
}
