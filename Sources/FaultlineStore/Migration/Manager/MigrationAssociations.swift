import CSQLite
import FaultlineModel
import FaultlineRecorder

/// Which newer objects a migration created from which older ones.
///
/// Those of the current batch are in memory, the others in a temporary database that SQLite removes by itself.
final class MigrationAssociations {
    /// An object at the other end of an association.
    struct End {
        let entity: Int
        let key: Int64
        /// The object itself, if its key is not known yet.
        var object: ManagedObject?
    }

    private struct Pending {
        let mapping: Int
        let source: ManagedObject
        let destination: ManagedObject
    }

    private let connection: SQLConnection
    private let insertion: SQLStatement
    private let bySource: SQLStatement
    private let byDestination: SQLStatement
    private var pending: [Pending] = []
    /// The positions in `pending`, by object.
    private var pendingSources: [ObjectIdentifier: [Int]] = [:]
    private var pendingDestinations: [ObjectIdentifier: [Int]] = [:]
    /// The keys of older objects that the objects of this batch have, by table.
    private var taken: [String: Set<Int64>] = [:]

    init() throws(StoreError) {
        // SQLite keeps a database without a name in a file that it removes (https://www.sqlite.org/inmemorydb.html#temp_db).
        connection = try SQLConnection(
            path: "the temporary database of a migration", opening: "", isReadOnly: false, busyTimeout: 0)
        let session = SQLSession(connection, recorder: .off(), log: SQLDebugLog(level: 0))
        for statement in [
            "PRAGMA journal_mode=off", "PRAGMA cache_size=-4096",
            "CREATE TABLE a (m INTEGER, s INTEGER, se INTEGER, d INTEGER, de INTEGER, PRIMARY KEY (m, s, d, de)) WITHOUT ROWID",
            "CREATE INDEX b ON a (m, d, de)", "BEGIN",
        ] {
            try session.run(statement, doing: "Migrating", isLogged: false)
        }
        insertion = try connection.prepare("INSERT OR IGNORE INTO a (m, s, se, d, de) VALUES (?, ?, ?, ?, ?)")
        bySource = try connection.prepare("SELECT de, d FROM a WHERE m = ? AND s = ? AND se = ? ORDER BY d")
        byDestination = try connection.prepare(
            "SELECT se, s FROM a INDEXED BY b WHERE m = ? AND d = ? AND de = ? ORDER BY s")
    }

    func add(_ source: ManagedObject, _ destination: ManagedObject, under mapping: Int) {
        pendingSources[ObjectIdentifier(source), default: []].append(pending.count)
        pendingDestinations[ObjectIdentifier(destination), default: []].append(pending.count)
        pending.append(Pending(mapping: mapping, source: source, destination: destination))
    }

    /// Whether no other object of the batch has a key; it is taken then.
    func take(key: Int64, in table: String) -> Bool { taken[table, default: []].insert(key).inserted }

    /// Writes the associations of a batch, after its objects were saved.
    func flush() throws(StoreError) {
        for association in pending {
            let (source, destination) = (association.source, association.destination)
            // A policy may have deleted the object that it created.
            guard destination.key > 0 else { continue }
            for (position, value) in [
                Int64(association.mapping), source.key, Int64(source.runtime.schema.index), destination.key,
                Int64(destination.runtime.schema.index),
            ].enumerated() {
                insertion.bind(.integer(value), at: Int32(position + 1))
            }
            let result = sqlite3_step(insertion.handle)
            insertion.reset()
            guard result == SQLITE_DONE else { throw connection.error(result, doing: "Migrating") }
        }
        pending = []
        (pendingSources, pendingDestinations, taken) = ([:], [:], [:])
    }

    func destinations(of source: ManagedObject, under mapping: Int) -> [End] {
        let found = (pendingSources[ObjectIdentifier(source)] ?? []).map { pending[$0] }.filter {
            $0.mapping == mapping
        }
        return ends(bySource, mapping, source)
            + found.map { End(entity: $0.destination.runtime.schema.index, key: 0, object: $0.destination) }
    }

    func sources(of destination: ManagedObject, under mapping: Int) -> [End] {
        let found = (pendingDestinations[ObjectIdentifier(destination)] ?? []).map { pending[$0] }
            .filter { $0.mapping == mapping }
        return ends(byDestination, mapping, destination)
            + found.map { End(entity: $0.source.runtime.schema.index, key: 0, object: $0.source) }
    }

    private func ends(_ statement: SQLStatement, _ mapping: Int, _ object: ManagedObject) -> [End] {
        guard object.key > 0 else { return [] }
        statement.bind(.integer(Int64(mapping)), at: 1)
        statement.bind(.integer(object.key), at: 2)
        statement.bind(.integer(Int64(object.runtime.schema.index)), at: 3)
        return Self.read(statement)
    }

    /// The newer objects of a mapping, in the order of their keys.
    func destinations(under mapping: Int, after last: End?, limit: Int) throws(StoreError) -> [End] {
        let statement = try connection.statement(
            "SELECT DISTINCT de, d FROM a WHERE m = ? AND (d, de) > (?, ?) ORDER BY d, de LIMIT \(limit)")
        statement.bind(.integer(Int64(mapping)), at: 1)
        statement.bind(.integer(last?.key ?? 0), at: 2)
        statement.bind(.integer(Int64(last?.entity ?? -1)), at: 3)
        return Self.read(statement)
    }

    /// Reads the rows of a statement: an entity and a key each.
    private static func read(_ statement: SQLStatement) -> [End] {
        defer { statement.reset() }
        var ends: [End] = []
        while sqlite3_step(statement.handle) == SQLITE_ROW {
            ends.append(
                End(
                    entity: Int(sqlite3_column_int64(statement.handle, 0)),
                    key: sqlite3_column_int64(statement.handle, 1)))
        }
        return ends
    }
}
