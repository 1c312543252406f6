import CSQLite
import FaultlineModel

/// The tables in which Core Data keeps a store's persistent history.
///
/// `ATRANSACTION` has a row for each save, `ACHANGE` one for each object that it changed, and `ATRANSACTIONSTRING` the
/// names that transactions share: of their authors, contexts and programs. The three have numbers in `Z_PRIMARYKEY`, as
/// entities do, with their last keys.
struct HistoryTables {
    /// Their numbers, by name: `CHANGE`, `TRANSACTION` and `TRANSACTIONSTRING`.
    private(set) var numbers: [String: Int64] = [:]
    /// The number of columns for values of deleted objects: `ZTOMBSTONE0` and so on.
    private(set) var tombstones = 0
    /// Whether the store has none.
    private(set) var areMissing = false
    /// Whether something was created.
    private(set) var areChanged = false

    static let change = "CHANGE"
    static let transaction = "TRANSACTION"
    static let string = "TRANSACTIONSTRING"
    private static let names = [change, transaction, string]

    static func tombstoneColumn(_ number: Int) -> String { "ZTOMBSTONE\(number)" }

    /// The statements that create the tables and indexes, as Core Data does.
    private static let statements = [
        "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB )",
        "CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )",
        "CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
        "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
        "CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS)",
        "CREATE INDEX ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS)",
        "CREATE INDEX ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS)",
        "CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS)",
        "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
        "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
        "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)",
    ]

    /// The columns that reading and writing needs, by table.
    private static let needed = [
        "ACHANGE": ["Z_PK", "Z_ENT", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS"],
        "ATRANSACTION": [
            "Z_PK", "Z_ENT", "ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS", "ZTIMESTAMP", "ZAUTHOR",
            "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID",
        ],
        "ATRANSACTIONSTRING": ["Z_PK", "Z_ENT", "ZNAME"],
    ]

    /// Finds the tables of a store.
    ///
    /// Creates missing tables and columns unless the store is read-only.
    ///
    /// - Parameter tombstones: The number of columns that the model needs.
    init(_ setup: StoreSetup, tombstones: Int, isReadOnly: Bool) throws(StoreError) {
        try find(setup)
        guard !isReadOnly, areMissing || self.tombstones < tombstones else { return }
        // Another process may be creating them, too.
        try setup.inTransaction("BEGIN EXCLUSIVE", isLogged: true) { () throws(StoreError) in
            try find(setup)
            if areMissing { try create(setup) }
            for number in self.tombstones..<max(tombstones, self.tombstones) {
                try setup.session.run(
                    "ALTER TABLE ACHANGE ADD COLUMN \(Self.tombstoneColumn(number)) BLOB", doing: setup.doing)
            }
            try find(setup)
        }
        areChanged = true
    }

    private mutating func find(_ setup: StoreSetup) throws(StoreError) {
        let columns = try setup.read(
            "SELECT m.name, c.name FROM SQLITE_MASTER m, pragma_table_info(m.name) c WHERE m.name IN ('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING')"
        ) { row in (0...1).map { String(cString: sqlite3_column_text(row, $0)) } }
        areMissing = columns.isEmpty
        guard !areMissing else { return }
        let found = Dictionary(grouping: columns) { $0[0] }.mapValues { Set($0.map { $0[1] }) }
        tombstones = 0
        while found["ACHANGE"]?.contains(Self.tombstoneColumn(tombstones)) == true { tombstones += 1 }
        let list = Self.names.map { "'\($0)'" }.joined(separator: ", ")
        let rows = try setup.read(
            "SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY WHERE (Z_ENT >= \(StoreSetup.firstOwnEntity) AND  Z_NAME IN (\(list)))"
        ) { (String(cString: sqlite3_column_text($0, 0)), sqlite3_column_int64($0, 1)) }
        numbers = Dictionary(rows) { first, _ in first }
        let isComplete = Self.needed.allSatisfy { table, names in found[table]?.isSuperset(of: names) == true }
        guard isComplete, Self.names.allSatisfy({ numbers[$0] != nil }) else {
            throw StoreError(
                .unsupportedStore,
                "The persistent history of '\(setup.path)' has the form of another version of Core Data, which cannot be read or written here; leave tracksPersistentHistory unset, and set ignoresPersistentHistory if nothing reads the history."
            )
        }
    }

    private mutating func create(_ setup: StoreSetup) throws(StoreError) {
        for statement in Self.statements { try setup.session.run(statement, doing: setup.doing) }
        // Core Data's numbers in all stores that are known.
        for (offset, name) in Self.names.enumerated() {
            try setup.session.run(
                "INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?, ?, ?, ?)",
                [
                    .integer(StoreSetup.firstOwnEntity + 1 + Int64(offset)), .text(name), .integer(0), .integer(0),
                ], doing: setup.doing)
        }
        // Without this mark, opening the store does not look for the tables.
        try setup.changeMetadata { $0[VersionKeys.history] = true }
    }
}

extension StoreSetup {
    /// Begins the history of a store that replaces this one where the history of this one ends.
    ///
    /// Its transactions are numbered on, so that a token from before is found to be out of date. Does nothing if this store has no
    /// history, or if the other has one.
    package func continueHistory(in other: StoreSetup) throws(StoreError) {
        let old = try HistoryTables(self, tombstones: 0, isReadOnly: true)
        guard !old.areMissing, try HistoryTables(other, tombstones: 0, isReadOnly: true).areMissing else { return }
        let new = try HistoryTables(other, tombstones: 0, isReadOnly: false)
        for name in [HistoryTables.change, HistoryTables.transaction] {
            let last = try read("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(old.numbers[name]!)") {
                sqlite3_column_int64($0, 0)
            }
            try other.session.run(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?",
                [.integer(last.first ?? 0), .integer(new.numbers[name]!)], doing: other.doing)
        }
    }
}
