import CSQLite
import FaultlineModel
import FaultlineTrace
import Foundation

/// Reads and deletes the history of one store.
struct HistoryReading {
    let store: SQLStore
    let history: StoreHistory
    let origin: TraceOrigin

    static let reading = "Reading the history"

    /// Which transactions to read.
    enum Range {
        case all
        case after(Int64)
        case afterTime(Double)

        /// - Parameter key: The column with the number of the transaction.
        func condition(on key: String) -> (sql: String, values: [SQLValue]) {
            switch self {
            case .all: ("", [])
            case .after(let number): (" WHERE  t0.\(key) > ?", [.integer(number)])
            case .afterTime(let time): (" WHERE  t0.ZTIMESTAMP > ?", [.real(time)])
            }
        }
    }

    /// The transactions of a range with their changes, from the oldest to the newest.
    func transactions(_ range: Range, withChanges: Bool) throws(StoreError) -> [PersistentHistoryTransaction] {
        try read { (connection) throws(StoreError) in
            var found: [PersistentHistoryTransaction] = []
            var changes = withChanges ? try self.changes(range, connection) : [:]
            let (sql, values) = range.condition(on: "Z_PK")
            let names = ["AUTHOR", "BUNDLEID", "CONTEXTNAME", "PROCESSID"]
            // Core Data leaves the texts in the table itself empty; older stores have them.
            let columns = names.enumerated().map { "IFNULL(s\($0).ZNAME, t0.Z\($1))" }
            let joins = names.enumerated().map {
                " LEFT OUTER JOIN ATRANSACTIONSTRING s\($0) ON t0.Z\($1)TS = s\($0).Z_PK"
            }
            try read(
                "SELECT t0.Z_PK, t0.ZTIMESTAMP, \(columns.joined(separator: ", ")) FROM ATRANSACTION t0\(joins.joined())\(sql) ORDER BY t0.Z_PK",
                values, connection
            ) { row in
                func text(_ column: Int32) -> String? {
                    sqlite3_column_text(row, column).map { String(cString: $0) }
                }
                let number = sqlite3_column_int64(row, 0)
                found.append(
                    PersistentHistoryTransaction(
                        transactionNumber: number, storeID: store.identity.identifier,
                        timestamp: Date(timeIntervalSinceReferenceDate: sqlite3_column_double(row, 1)),
                        author: text(2), contextName: text(4), bundleID: text(3) ?? "", processID: text(5) ?? "",
                        changes: withChanges ? changes.removeValue(forKey: number) ?? [] : nil))
            }
            return found
        }
    }

    /// The changes of a range, by transaction.
    private func changes(
        _ range: Range, _ connection: StoreConnection
    ) throws(StoreError) -> [Int64: [PersistentHistoryChange]] {
        var (sql, values) = range.condition(on: "ZTRANSACTIONID")
        if case .afterTime = range {
            sql = " JOIN ATRANSACTION t1 ON t0.ZTRANSACTIONID = t1.Z_PK WHERE  t1.ZTIMESTAMP > ?"
        }
        let tombstones = (0..<history.tables.tombstones).map { ", t0.\(HistoryTables.tombstoneColumn($0))" }
        let schema = store.schema
        var found: [Int64: [PersistentHistoryChange]] = [:]
        try read(
            "SELECT t0.Z_PK, t0.ZTRANSACTIONID, t0.ZCHANGETYPE, t0.ZENTITY, t0.ZENTITYPK, t0.ZCOLUMNS\(tombstones.joined()) FROM ACHANGE t0\(sql) ORDER BY t0.Z_PK",
            values, connection
        ) { row in
            // Only entities of the model can be described; a configuration may leave others out.
            guard let position = schema.position(ofNumber: sqlite3_column_int64(row, 3)),
                let type = PersistentHistoryChange.ChangeType(rawValue: Int(sqlite3_column_int64(row, 2)))
            else { return }
            let entity = schema.entities[position]
            var properties: Set<String>?
            if type == .update, let bytes = sqlite3_column_blob(row, 5) {
                let columns = UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(row, 5)))
                properties = history.properties(columns, of: entity)
            }
            let transaction = sqlite3_column_int64(row, 1)
            found[transaction, default: []].append(
                PersistentHistoryChange(
                    changeID: sqlite3_column_int64(row, 0),
                    changedObjectID: ManagedObjectID(
                        store: store.identity, entity: entity, key: sqlite3_column_int64(row, 4)),
                    changeType: type, updatedProperties: properties,
                    tombstone: type == .delete ? tombstone(row, entity) : nil, transactionNumber: transaction))
        }
        return found
    }

    private func tombstone(_ row: OpaquePointer, _ entity: EntitySchema) -> [String: AttributeValue] {
        var values: [String: AttributeValue] = [:]
        for (number, property) in history.tombstones[entity.index].enumerated() where number < history.tables.tombstones
        {
            guard let type = property.attributeType else { continue }
            let column = ExpressionColumn(name: property.name, sql: "", type: type)
            values[property.name] = column.value(row, Int32(6 + number))
        }
        return values
    }

    // MARK: - Positions

    /// The number of the last transaction; 0 if there was none.
    func last() throws(StoreError) -> Int64 { try read(last) }

    private func last(_ connection: StoreConnection) throws(StoreError) -> Int64 {
        var last: Int64 = 0
        try read(
            "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?",
            [.integer(history.tables.numbers[HistoryTables.transaction]!)], connection
        ) { last = sqlite3_column_int64($0, 0) }
        return last
    }

    /// Checks that no transaction after a position was deleted.
    func check(after number: Int64) throws(StoreError) {
        let (first, last) = try read { (connection) throws(StoreError) -> (Int64?, Int64) in
            var first: Int64?
            try read("SELECT MIN(Z_PK) FROM ATRANSACTION", [], connection) { row in
                if sqlite3_column_type(row, 0) != SQLITE_NULL { first = sqlite3_column_int64(row, 0) }
            }
            return (first, try self.last(connection))
        }
        guard number > last || number + 1 < first ?? last + 1 else { return }
        throw StoreError(
            .historyTokenExpired,
            "\(Self.reading) of '\(store.path)' after transaction \(number) is refused because later transactions were deleted; fetch the objects anew, and continue from currentPersistentHistoryToken(fromStores:)."
        )
    }

    // MARK: - Statements

    /// Reads from a snapshot that has what other processes wrote since the last read, too.
    private func read<Found>(
        _ body: (StoreConnection) throws(StoreError) -> Found
    ) throws(StoreError) -> Found {
        store.finishReading()
        return try store.pool.read(for: origin) { (connection) throws(StoreError) in
            try connection.beginRead()
            return try body(connection)
        }
    }

    private func read(
        _ sql: String, _ values: [SQLValue], _ connection: StoreConnection, _ row: (OpaquePointer) -> Void
    ) throws(StoreError) {
        let statement = try connection.bind(SelectStatement(sql: sql, values: values))
        store.log.statement(sql, values)
        try connection.session.readAsEvent(statement, doing: Self.reading, measuresPages: true, origin: origin) {
            row($0)
        }
    }
}
