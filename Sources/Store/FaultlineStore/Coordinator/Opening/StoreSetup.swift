import CSQLite
package import FaultlineModel
import Foundation

/// The steps of opening a store.
package struct StoreSetup {
    package let session: SQLSession
    let path: String
    /// The operation that errors name.
    package let doing: String

    package init(_ session: SQLSession, path: String, doing: String = "Opening the store") {
        self.session = session
        self.path = path
        self.doing = doing
    }

    package func pragma(_ text: String) throws(StoreError) {
        try session.run("pragma \(text)", doing: doing, isTimed: false)
    }

    /// Switches to the write-ahead log.
    ///
    /// If another connection reads, this fails immediately: SQLite skips the busy timeout where waiting within a
    /// transaction could deadlock (https://www.sqlite.org/c3ref/busy_handler.html). It is therefore retried until the
    /// timeout.
    func useWriteAheadLog() throws(StoreError) { try setJournal("wal") }

    /// Changes the journal mode, as ``useWriteAheadLog()`` does.
    package func setJournal(_ mode: String) throws(StoreError) {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(session.connection.busyTimeout)
        var pause: Int32 = 1
        while true {
            do throws(StoreError) {
                return try pragma("journal_mode=\(mode)")
            } catch {
                guard error.code == .busy, clock.now < end else { throw error }
                sqlite3_sleep(pause)
                pause = min(pause * 2, 20)
            }
        }
    }

    /// Takes a lock that outlasts transactions, so that no other connection can read or write until this one closes.
    ///
    /// The mode changes once the lock is taken: in that mode a connection that waits keeps its lock for reading, for whose end
    /// another one can wait, which opens the store and keeps this one waiting.
    package func lock() throws(StoreError) {
        try inTransaction("BEGIN EXCLUSIVE", isLogged: true) { () throws(StoreError) in
            try pragma("locking_mode=exclusive")
        }
    }

    /// Runs `ANALYZE`, unless the store is busy.
    func analyze() throws(StoreError) {
        do throws(StoreError) {
            try session.run("ANALYZE", doing: "Analyzing the store", isTimed: false)
        } catch {
            // The old statistics are still usable.
            guard error.code == .busy else { throw error }
        }
    }

    /// Runs a closure in a transaction, which is undone if the closure throws.
    ///
    /// - Parameters:
    ///   - beginning: The statement that begins the transaction; one that only reads needs no lock at first.
    ///   - isLogged: Whether the SQL log shows the transaction.
    package func inTransaction<R>(
        _ beginning: String = "BEGIN", isLogged: Bool = false, _ body: () throws(StoreError) -> R
    ) throws(StoreError) -> R {
        try session.run(beginning, doing: doing, isLogged: isLogged)
        do throws(StoreError) {
            let result = try body()
            try session.run("COMMIT", doing: doing, isLogged: isLogged)
            return result
        } catch {
            if !session.connection.isAutocommit {
                _ = try? session.run("ROLLBACK", doing: doing, isLogged: isLogged)
            }
            throw error
        }
    }

    /// A name quoted as an identifier in SQL.
    package static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

    func hasTable(_ name: String) throws(StoreError) -> Bool {
        try read("SELECT TBL_NAME FROM SQLITE_MASTER WHERE TBL_NAME = '\(name)'") { _ in true }.first ?? false
    }

    func hasAnyTable() throws(StoreError) -> Bool {
        try read("SELECT TBL_NAME FROM SQLITE_MASTER LIMIT 1") { _ in true }.first ?? false
    }

    /// Runs a reading statement, recorded as its own event.
    package func read<Row>(_ sql: String, _ row: (OpaquePointer) -> Row) throws(StoreError) -> [Row] {
        let statement = try session.connection.statement(sql)
        session.log.statement(sql)
        var rows: [Row] = []
        try session.readAsEvent(statement, doing: doing) { rows.append(row($0)) }
        return rows
    }

    /// Checks that the store can compute all derived attributes.
    package func check(_ triggers: DerivationTriggers) throws(StoreError) {
        if let (entity, attribute, expression) = triggers.unsupported.first {
            throw StoreError(
                .unsupportedModel,
                "The store '\(path)' cannot derive '\(entity).\(attribute)' from '\(expression)'; use now(), an attribute of the entity or of a to-one relationship, one of these as canonical:, uppercase: or lowercase:, or the @count or @sum of a to-many relationship."
            )
        }
    }

    // MARK: - New stores

    /// Creates the tables of a new store.
    ///
    /// - Parameter configuration: `nil` if the store has all entities.
    func makeTables(
        _ model: ManagedObjectModel, _ description: PersistentStoreDescription, _ configuration: StoreConfiguration?
    ) throws(StoreError) {
        let triggers = DerivationTriggers(model.schema)
        try check(triggers)
        let uuid = UUID().uuidString
        let doing = "Creating the store"
        try session.run("BEGIN EXCLUSIVE", doing: doing, isTimed: false)
        do throws(StoreError) {
            // Another process may have created them in the meantime.
            if try !hasTable("Z_METADATA") {
                let own = [
                    "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
                    "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
                    "CREATE TABLE \(PersistentStore.archiveTable) (Z_CONTENT BLOB)",
                ]
                let tables = configuration?.tables
                for statement in model.schema.statements(forTables: tables) + own
                    + triggers.statements(forTables: tables)
                {
                    try session.run(statement, doing: doing, isTimed: false)
                }
                if description.isInFile {
                    try keepModel(model, configuration: description.configuration, doing: doing)
                }
                let version = StoreVersion(model: model, schema: model.schema, configuration: configuration)
                try number(version, last: [:], doing: doing)
                // Strings, numbers and arrays of them can always be encoded.
                let metadata = PropertyListValue(metadata(of: version, description.type))!.binary
                try session.run(
                    "INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (?, ?, ?)",
                    [.integer(1), .text(uuid), .blob(metadata)], doing: doing, isTimed: false)
            }
            try session.run("COMMIT", doing: doing, isTimed: false)
        } catch {
            _ = try? session.run("ROLLBACK", doing: doing, isTimed: false)
            throw error
        }
    }

    // MARK: - Existing stores

    package func readMetadata() throws(StoreError) -> (uuid: String, StoreMetadata) {
        let (uuid, list) = try readRow()
        return (uuid, try StoreMetadata(propertyList: list, path: path))
    }

    /// The identifier, and the metadata as they are stored.
    func readRow() throws(StoreError) -> (String, Data) {
        let found = try read(Self.metadataQuery) { row in
            let uuid = sqlite3_column_text(row, 1).map { String(cString: $0) } ?? ""
            let bytes = sqlite3_column_blob(row, 2)
            return (uuid, bytes.map { Data(bytes: $0, count: Int(sqlite3_column_bytes(row, 2))) } ?? Data())
        }
        guard let first = found.first else {
            throw StoreError(
                .notADatabase,
                "'\(path)' is an incomplete store: its table Z_METADATA is empty; restore it from a copy.")
        }
        return first
    }

    static let metadataQuery = "SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA"
}
