/// The contents of an SQLite file at rest.
///
/// Sizes are in bytes. The values of large tables are those of a sample of rows.
public struct StoreFacts: Sendable, Hashable {
    public var path: String
    /// The size of the file.
    public var size: UInt64 = 0
    public var pageSize: UInt64 = 4096
    public var pages: UInt64 = 0
    /// The number of free pages.
    public var freePages: UInt64 = 0
    /// The journal mode: `"wal"` or `"rollback"`.
    public var journalMode = ""
    /// Whether the file is a Core Data store.
    public var isCoreData = false
    /// Whether `ANALYZE` has run.
    public var hasStatistics = false
    /// Whether Faultline made the file.
    ///
    /// Its stores have a page cache of 32 MiB.
    public var isFaultline = false
    /// The tables in alphabetical order, without SQLite's and Core Data's own.
    public var tables: [Table] = []
    /// The other contents of the file, the largest first: history, full-text indexes, and SQLite's and Core Data's own
    /// tables.
    public var others: [Part] = []
    /// The use that the statements of a trace make of the tables, or `nil` without a trace.
    public var use: StatementUse?

    public init(path: String) {
        self.path = path
    }

    public struct Table: Sendable, Hashable {
        public var name: String
        /// The entity whose objects the table holds, or `nil` if unknown.
        public var entity: String?
        public var rows: UInt64 = 0
        /// The bytes of the table's pages, without its indexes, and how many of them are unused.
        ///
        /// 0 if unknown.
        public var size: UInt64 = 0
        public var unused: UInt64 = 0
        /// The number of leaf pages that come before their predecessor, in key order, in the file.
        public var jumps: UInt64 = 0
        public var columns: [Column] = []
        public var indexes: [Index] = []
        public var references: [Reference] = []
        /// The number of sampled rows of each entity, if the table has several.
        public var kinds: [String: UInt64] = [:]
        /// The number of sampled rows.
        public var sampled: UInt64 = 0
        /// The column that is the rowid (`INTEGER PRIMARY KEY`), by which SQLite keeps the rows in order.
        public var key: String?
        /// SQLite's error message if the table could not be read.
        public var problem: String?

        public init(name: String) {
            self.name = name
        }

        /// The table's name in advice.
        public var label: String { entity ?? name }
    }

    /// A group of tables that hold no objects.
    public struct Part: Sendable, Hashable {
        public enum Kind: String, Sendable, Hashable, CaseIterable {
            /// Core Data's persistent history.
            case history
            /// Core Data's records for synchronization with CloudKit.
            case cloudKit
            /// The shadow tables of a virtual table, such as a full-text index.
            case virtualTable
            /// Keys, metadata and the model.
            case keys
            /// SQLite's schema, statistics and other internal tables.
            case database
        }

        public var kind: Kind
        public var name: String
        public var tables: UInt64 = 0
        /// The rows of all tables in the group.
        public var rows: UInt64 = 0
        /// The size with indexes, or 0 if unknown.
        public var size: UInt64 = 0
        /// For history, the seconds between its first and last transaction.
        public var seconds = 0.0

        public init(_ kind: Kind, _ name: String) {
            self.kind = kind
            self.name = name
        }
    }

    public struct Column: Sendable, Hashable {
        public var name: String
        /// The property, or `nil` if unknown.
        public var property: String?
        public var type = ""
        /// The share of sampled rows without a value.
        public var emptyShare = 0.0
        public var meanSize = 0.0
        /// The 95th percentile of the value sizes.
        public var largestSize: UInt64 = 0
        /// The share of values of at least 16 KiB.
        public var largeShare = 0.0
        /// Whether the column holds only the table's keys, or values that the store itself needs.
        public var isInternal = false
        /// Whether the values are computed when they are read, and take no space.
        public var isComputed = false
        /// The entities whose rows never have a value.
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
        /// The first column, by which the index can seek rows, or `nil` if it is an expression.
        public var first: String?
        /// Whether the index is partial.
        ///
        /// It may omit rows without a value in ``first``.
        public var isPartial = false
        /// Whether the index contains expressions.
        public var hasExpressions = false
        /// Whether the index belongs to a constraint and cannot be dropped on its own.
        public var isConstraint = false
        /// Whether the store creates the index itself, for a relationship or an entity.
        public var belongsToStore = false
        /// Whether it is a fetch index of the model, or `nil` if no model was given.
        public var belongsToModel: Bool?
        public var size: UInt64 = 0

        public init(name: String, columns: [String]) {
            self.name = name
            self.columns = columns
            first = columns.first
        }

        /// The model's name of the index, which a Core Data store names `Z_Note_byDate`.
        var nameInModel: String {
            let words = name.split(separator: "_", maxSplits: 2, omittingEmptySubsequences: false)
            return words.count == 3 && words[0] == "Z" ? String(words[2]) : name
        }
    }

    /// A column that holds keys of another table.
    public struct Reference: Sendable, Hashable {
        public var column: String
        public var table: String
        /// Among the sampled rows, the number that refer to a row, and the number of distinct rows they refer to.
        public var filled: UInt64 = 0
        public var distinct: UInt64 = 0

        public init(column: String, table: String) {
            self.column = column
            self.table = table
        }
    }

    public func table(_ name: String) -> Table? { tables.first { $0.name == name } }
}
