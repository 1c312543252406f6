/// The contents of an SQLite file at rest.
///
/// Sizes are in bytes. The values of large tables are those of a sample of rows.
package struct StoreFacts: Sendable, Hashable {
    package var path: String
    /// The size of the file.
    package var size: UInt64 = 0
    package var pageSize: UInt64 = 4096
    package var pages: UInt64 = 0
    /// The number of free pages.
    package var freePages: UInt64 = 0
    /// The journal mode: `"wal"` or `"rollback"`.
    package var journalMode = ""
    /// Whether the file is a Core Data store.
    package var isCoreData = false
    /// Whether `ANALYZE` has run.
    package var hasStatistics = false
    /// Whether Faultline made the file.
    ///
    /// Its stores have a page cache of 32 MiB.
    package var isFaultline = false
    /// The tables in alphabetical order, without SQLite's and Core Data's own.
    package var tables: [Table] = []
    /// The other contents of the file, the largest first: history, full-text indexes, and SQLite's and Core Data's own
    /// tables.
    package var others: [Part] = []
    /// The use that the statements of a trace make of the tables, or `nil` without a trace.
    package var use: StatementUse?

    package init(path: String) {
        self.path = path
    }

    package struct Table: Sendable, Hashable {
        package var name: String
        /// The entity whose objects the table holds, or `nil` if unknown.
        package var entity: String?
        package var rows: UInt64 = 0
        /// The bytes of the table's pages, without its indexes, and how many of them are unused.
        ///
        /// 0 if unknown.
        package var size: UInt64 = 0
        package var unused: UInt64 = 0
        /// The number of leaf pages that come before their predecessor, in key order, in the file.
        package var jumps: UInt64 = 0
        package var columns: [Column] = []
        package var indexes: [Index] = []
        package var references: [Reference] = []
        /// The number of sampled rows of each entity, if the table has several.
        package var kinds: [String: UInt64] = [:]
        /// The number of sampled rows.
        package var sampled: UInt64 = 0
        /// The column that is the rowid (`INTEGER PRIMARY KEY`), by which SQLite keeps the rows in order.
        package var key: String?
        /// SQLite's error message if the table could not be read.
        package var problem: String?

        package init(name: String) {
            self.name = name
        }

        /// The table's name in advice.
        package var label: String { entity ?? name }
    }

    /// A group of tables that hold no objects.
    package struct Part: Sendable, Hashable {
        package enum Kind: String, Sendable, Hashable, CaseIterable {
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

        package var kind: Kind
        package var name: String
        package var tables: UInt64 = 0
        /// The rows of all tables in the group.
        package var rows: UInt64 = 0
        /// The size with indexes, or 0 if unknown.
        package var size: UInt64 = 0
        /// For history, the seconds between its first and last transaction.
        package var seconds = 0.0

        package init(_ kind: Kind, _ name: String) {
            self.kind = kind
            self.name = name
        }
    }

    package struct Column: Sendable, Hashable {
        package var name: String
        /// The property, or `nil` if unknown.
        package var property: String?
        package var type = ""
        /// The share of sampled rows without a value.
        package var emptyShare = 0.0
        package var meanSize = 0.0
        /// The 95th percentile of the value sizes.
        package var largestSize: UInt64 = 0
        /// The share of values of at least 16 KiB.
        package var largeShare = 0.0
        /// Whether the column holds only the table's keys, or values that the store itself needs.
        package var isInternal = false
        /// Whether the values are computed when they are read, and take no space.
        package var isComputed = false
        /// The entities whose rows never have a value.
        package var emptyKinds: Set<String> = []

        package init(name: String) {
            self.name = name
        }

        package var label: String { property ?? name }
    }

    package struct Index: Sendable, Hashable {
        package var name: String
        package var columns: [String]
        package var isUnique = false
        /// The first column, by which the index can seek rows, or `nil` if it is an expression.
        package var first: String?
        /// Whether the index is partial.
        ///
        /// It may omit rows without a value in ``first``.
        package var isPartial = false
        /// Whether the index contains expressions.
        package var hasExpressions = false
        /// Whether the index belongs to a constraint and cannot be dropped on its own.
        package var isConstraint = false
        /// Whether the store creates the index itself, for a relationship or an entity.
        package var belongsToStore = false
        /// Whether it is a fetch index of the model, or `nil` if no model was given.
        package var belongsToModel: Bool?
        package var size: UInt64 = 0

        package init(name: String, columns: [String]) {
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
    package struct Reference: Sendable, Hashable {
        package var column: String
        package var table: String
        /// Among the sampled rows, the number that refer to a row, and the number of distinct rows they refer to.
        package var filled: UInt64 = 0
        package var distinct: UInt64 = 0

        package init(column: String, table: String) {
            self.column = column
            self.table = table
        }
    }

    package func table(_ name: String) -> Table? { tables.first { $0.name == name } }
}
