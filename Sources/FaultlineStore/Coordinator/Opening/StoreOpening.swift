import CSQLite
import FaultlineModel
import FaultlineRecorder
import Foundation

/// Opens a store's file, creates the tables if it is new, and checks that it matches the model.
struct StoreOpening {
    let session: SQLSession
    let uuid: String
    let metadata: StoreMetadata
    let schema: ModelSchema
    /// `nil` if the store has all entities.
    let configuration: StoreConfiguration?
    /// The file of a binary store.
    let file: BinaryStoreFile?

    init(
        _ description: PersistentStoreDescription, model: ManagedObjectModel, recorder: Recorder, log: SQLDebugLog
    ) throws(StoreError) {
        let path = description.path
        if let error = Self.obstacle(model, path) { throw error }
        configuration =
            if let name = description.configuration {
                try StoreConfiguration(name, of: model, path: path)
            } else {
                nil
            }
        if description.isReadOnly, description.isInMemory, description.type != .binary {
            throw StoreError(
                .readOnly,
                "An in-memory store is empty when it is opened, so it cannot be read-only; leave isReadOnly unset."
            )
        }
        log.connecting(path)
        session = try Self.connect(description, recorder: recorder, log: log)
        file = description.type == .binary ? BinaryStoreFile(description) : nil
        if let file, try !file.load(into: session.connection), description.isReadOnly {
            throw StoreError.sqlite(SQLITE_CANTOPEN, doing: "Opening the store", path: path, detail: "")
        }
        if !description.isReadOnly, sqlite3_db_readonly(session.connection.handle, "main") == 1 {
            throw StoreError.sqlite(SQLITE_READONLY, doing: "Opening the store", path: path, detail: "")
        }
        let setup = StoreSetup(session, path: path)
        let isStore = try Self.isStore(setup, description)
        if !isStore {
            // Only effective before the first table is created (https://www.sqlite.org/pragma.html#pragma_auto_vacuum).
            try setup.pragma("auto_vacuum=2")
        }
        try setup.pragma("recursive_triggers=1")
        if !description.isReadOnly, !description.isInMemory { try setup.useWriteAheadLog() }
        try setup.pragma("synchronous=\(description.synchronization.rawValue)")
        try setup.pragma(Self.pageCache(description))
        if !isStore {
            try setup.makeTables(model, description, configuration)
            try file?.write(session.connection, doing: "Creating the store")
        }
        (uuid, metadata) = try setup.readMetadata()
        let match = StoreMatch(setup, model, configuration, path: path, metadata: metadata.values)
        try match.checkVersion()
        if configuration == nil, let hash = metadata.values[VersionKeys.layout] as? String, hash == model.versionHash {
            schema = model.schema
        } else {
            schema = try match.schema()
        }
        if description.analyzesWhenAdded, !description.isReadOnly { try setup.analyze() }
    }
}

extension StoreOpening {
    /// Whether a file contains a store; if not, one can be created in it.
    ///
    /// - Throws: ``StoreError`` if it contains something else, or may not be written.
    private static func isStore(
        _ setup: StoreSetup, _ description: PersistentStoreDescription
    ) throws(StoreError) -> Bool {
        if try setup.hasTable("Z_METADATA") { return true }
        // In one transaction, because another process may be creating the tables.
        let found = try setup.inTransaction { () throws(StoreError) in
            (isStore: try setup.hasTable("Z_METADATA"), isEmpty: try !setup.hasAnyTable())
        }
        if found.isStore { return true }
        let path = description.path
        if !found.isEmpty { throw noStore(path) }
        guard description.isReadOnly else { return false }
        throw StoreError(
            .readOnly,
            "'\(path)' contains no store yet, and none can be created because it is opened read-only; open it writable once."
        )
    }

    private static func noStore(_ path: String) -> StoreError {
        StoreError(
            .notADatabase,
            "'\(path)' is an SQLite database but not a store: it has tables, but none of them is Z_METADATA; name another file."
        )
    }

    /// Reads the metadata of a store without opening it.
    static func metadata(
        _ type: PersistentStore.StoreType, at url: URL
    ) throws(StoreError) -> (uuid: String, StoreMetadata) {
        try setup(type, forReading: url).readMetadata()
    }

    /// Opens the file of a store for reading alone.
    static func setup(
        _ type: PersistentStore.StoreType, forReading url: URL
    ) throws(StoreError) -> StoreSetup {
        let path = url.path
        let connection: SQLConnection
        switch type {
        case .inMemory:
            throw StoreError(
                .invalidRequest,
                "An in-memory store has no file to read metadata from; ask the coordinator that opened it.")
        case .sqlite:
            // Opening a file as immutable writes nothing (https://www.sqlite.org/uri.html#uriimmutable). Without a
            // write-ahead log, no one is writing to it.
            func size(_ suffix: String) -> Int {
                (try? FileManager.default.attributesOfItem(atPath: path + suffix)[.size] as? Int) ?? 0
            }
            // A journal belongs to a transaction that was interrupted, which only a connection that may write can undo.
            let wasInterrupted = size("-journal") > 0
            let isAtRest = size("-wal") == 0 && !wasInterrupted && FileManager.default.fileExists(atPath: path)
            connection = try SQLConnection(
                path: path, opening: isAtRest ? URL(fileURLWithPath: path).absoluteString + "?immutable=1" : nil,
                isReadOnly: !wasInterrupted, busyTimeout: PersistentStoreDescription().busyTimeout)
        case .binary:
            connection = try SQLConnection(
                path: path, opening: SQLConnection.memory, isReadOnly: false, busyTimeout: 0)
            guard try BinaryStoreFile(PersistentStoreDescription(url: url, type: type)).load(into: connection) else {
                throw StoreError.sqlite(SQLITE_CANTOPEN, doing: "Reading metadata", path: path, detail: "")
            }
        }
        let setup = StoreSetup(SQLSession(connection, recorder: .shared, log: .shared), path: path)
        guard try setup.hasTable("Z_METADATA") else { throw noStore(path) }
        return setup
    }

    static func connect(
        _ description: PersistentStoreDescription, recorder: Recorder, log: SQLDebugLog
    ) throws(StoreError) -> SQLSession {
        SQLSession(
            try SQLConnection(
                path: description.path, opening: description.isInMemory ? SQLConnection.memory : nil,
                isReadOnly: description.isReadOnly && !description.isInMemory, busyTimeout: description.busyTimeout),
            recorder: recorder, log: log)
    }

    /// Opens a connection to a store that nobody else uses, for a migration.
    ///
    /// Only a connection that is alone can leave the write-ahead log, whose contents are moved to the store. Two that wait for each
    /// other would wait forever, so each attempt closes its own.
    ///
    /// - Throws: ``StoreError`` with the code `busy` if others use the store for longer than the description's `busyTimeout`.
    static func soleSession(
        _ description: PersistentStoreDescription, _ recorder: Recorder, _ log: SQLDebugLog
    ) throws(StoreError) -> SQLSession {
        let end = ContinuousClock.now + .seconds(description.busyTimeout)
        while true {
            let session = try connect(description, recorder: recorder, log: log)
            if description.isInMemory { return session }
            do throws(StoreError) {
                try StoreSetup(session, path: description.path, doing: StoreMigration.doing)
                    .pragma("journal_mode=delete")
                return session
            } catch {
                session.connection.close()
                guard error.code == .busy, ContinuousClock.now < end else { throw error }
                sqlite3_sleep(.random(in: 1...20))
            }
        }
    }

    /// Opens another connection to an open store.
    static func session(
        _ description: PersistentStoreDescription, recorder: Recorder, log: SQLDebugLog
    ) throws(StoreError) -> SQLSession {
        let session = try connect(description, recorder: recorder, log: log)
        try StoreSetup(session, path: description.path).pragma(pageCache(description))
        return session
    }

    static func pageCache(_ description: PersistentStoreDescription) -> String {
        // Negative values are KiB.
        "cache_size=-\(max(description.pageCacheLimit, 1 << 16) / 1024)"
    }

    /// The error for a model feature that no store supports, reported before a save could lose data.
    static func obstacle(_ model: ManagedObjectModel, _ path: String) -> StoreError? {
        func error(_ name: String, _ what: String, _ remedy: String) -> StoreError {
            StoreError(
                .unsupportedModel, "The store '\(path)' does not support '\(name)', \(what); \(remedy) in the model.")
        }
        for entity in model.entities {
            for attribute in entity.attributes where attribute.type == .composite && !attribute.isTransient {
                return error(
                    "\(entity.name).\(attribute.name)", "a composite attribute",
                    "make its parts separate attributes")
            }
            for attribute in entity.attributes {
                guard let pattern = attribute.regularExpression,
                    TextPattern(pattern, [], isExpression: true).expression == nil
                else { continue }
                return error(
                    "\(entity.name).\(attribute.name)", "whose regular expression '\(pattern)' is invalid",
                    "correct it")
            }
            for relationship in entity.relationships {
                let name = "\(entity.name).\(relationship.name)"
                if relationship.isTransient {
                    return error(name, "a transient relationship", "set its isTransient to false")
                }
                guard relationship.inverse == nil, relationship.isToMany else { continue }
                return error(name, "a to-many relationship without an inverse", "give it an inverse")
            }
        }
        return nil
    }
}

/// The steps of opening a store.
struct StoreSetup {
    let session: SQLSession
    let path: String
    /// The operation that errors name.
    let doing: String

    init(_ session: SQLSession, path: String, doing: String = "Opening the store") {
        self.session = session
        self.path = path
        self.doing = doing
    }

    func pragma(_ text: String) throws(StoreError) {
        try session.run("pragma \(text)", doing: doing, isTimed: false)
    }

    /// Switches to the write-ahead log.
    ///
    /// If another connection reads, this fails immediately: SQLite skips the busy timeout where waiting within a
    /// transaction could deadlock (https://www.sqlite.org/c3ref/busy_handler.html). It is therefore retried until the
    /// timeout.
    func useWriteAheadLog() throws(StoreError) { try setJournal("wal") }

    /// Changes the journal mode, as ``useWriteAheadLog()`` does.
    func setJournal(_ mode: String) throws(StoreError) {
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
    func lock() throws(StoreError) {
        try pragma("locking_mode=exclusive")
        try inTransaction("BEGIN EXCLUSIVE", isLogged: true) {}
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
    func inTransaction<R>(
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

    func hasTable(_ name: String) throws(StoreError) -> Bool {
        try read("SELECT TBL_NAME FROM SQLITE_MASTER WHERE TBL_NAME = '\(name)'") { _ in true }.first ?? false
    }

    func hasAnyTable() throws(StoreError) -> Bool {
        try read("SELECT TBL_NAME FROM SQLITE_MASTER LIMIT 1") { _ in true }.first ?? false
    }

    /// Runs a reading statement, recorded as its own event.
    func read<Row>(_ sql: String, _ row: (OpaquePointer) -> Row) throws(StoreError) -> [Row] {
        let statement = try session.connection.statement(sql)
        session.log.statement(sql)
        var rows: [Row] = []
        try session.readAsEvent(statement, doing: doing) { rows.append(row($0)) }
        return rows
    }

    /// Checks that the store can compute all derived attributes.
    func check(_ triggers: DerivationTriggers) throws(StoreError) {
        if let (entity, attribute, expression) = triggers.unsupported.first {
            throw StoreError(
                .unsupportedModel,
                "The store '\(path)' cannot derive '\(entity).\(attribute)' from '\(expression)'; use now(), an attribute of the entity or of a to-one relationship, one of these as canonical:, uppercase: or lowercase:, or the @count or @sum of a to-many relationship."
            )
        }
    }

    // MARK: New stores

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
                    "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
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
                let metadata = try! PropertyListSerialization.data(
                    fromPropertyList: metadata(of: version, description.type), format: .binary, options: 0)
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

    // MARK: Existing stores

    func readMetadata() throws(StoreError) -> (uuid: String, StoreMetadata) {
        let (uuid, list) = try readRow()
        return (uuid, StoreMetadata(propertyList: list))
    }

    /// The metadata as they are stored.
    func readPropertyList() throws(StoreError) -> Data { try readRow().1 }

    private func readRow() throws(StoreError) -> (String, Data) {
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
