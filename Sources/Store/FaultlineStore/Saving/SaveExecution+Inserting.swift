import CSQLite
import CStore
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
import Foundation

extension SaveExecution {
    /// Inserts the rows of new objects, which are grouped by entity.
    mutating func insert(_ new: [ManagedObject]) throws(StoreError) {
        rows.reserveCapacity(rows.count + new.count)
        var rest = new[...]
        while let first = rest.first {
            let entity = first.runtime
            let objects = rest.prefix { $0.runtime === entity }
            try insert(objects, entity)
            rest = rest.dropFirst(objects.count)
        }
        // An import's array is used without a copy.
        objects = objects.isEmpty ? new : objects + new
    }

    /// Inserts the rows of new objects of one entity.
    ///
    /// Each row is built in the row cache's format and bound from there, which copies its strings only once.
    private mutating func insert(
        _ new: ArraySlice<ManagedObject>, _ entity: EntityRuntime
    ) throws(StoreError) {
        let statement = try insertStatement(entity)
        var builder = takeBuilder(entity.root)
        defer {
            builders[entity.root] = builder
            // The rows may be freed before the statement.
            sqlite3_clear_bindings(statement.handle)
        }
        let columns = entity.boundColumns
        let (session, origin) = (store.writer.session, origin)
        let isLogged = store.log.isOn
        for object in new {
            let pending = object.pending!
            let key = pending.newKey
            builder.begin(entity.layout, key: key, version: 1, entity: entity.position)
            sqlite3_bind_int64(statement.handle, 1, key)
            var logged: [SQLValue] = []
            for slot in 0..<columns.count {
                let property = entity.plainProperties[slot]
                // Most values go directly from the object to the row, unless they are logged.
                if property >= 0, !isLogged, builder.set(slot: slot, pending.position(of: property)) { continue }
                let value = try self.value(of: object, slot)
                builder.set(entity.layout, slot: slot, value)
                // Values that the row stores differently from the database are bound separately.
                if columns.start[slot].storage == CSTORE_NULL.rawValue { statement.bind(value, at: Int32(slot + 4)) }
                if isLogged { logged.append(value) }
            }
            let row = builder.finish()
            cstore_row_bind(statement.handle, 4, columns.start, UInt32(columns.count), row.raw)
            if isLogged {
                store.log.statement(
                    statement.sql, [.integer(key), .integer(entity.schema.number), .integer(1)] + logged)
            }
            span?.event.trips += 1
            // The key, the entity and the version are written too.
            span?.event.bytes += UInt64(3 * 8 + row.byteCount(entity.layout))
            do throws(StoreError) {
                try session.execute(statement, doing: "Saving \(entity.schema.name)", origin: origin)
            } catch {
                var error = error
                error.objectID = object.objectID
                throw error
            }
            rows.append(row)
            span?.event.inserted += 1
        }
    }

    private func insertStatement(_ entity: EntityRuntime) throws(StoreError) -> SQLStatement {
        if let known = store.writer.insertStatements[entity.position] {
            bindConstants(known, entity)
            return known
        }
        let statement = try store.writer.sqlite.prepare(Self.insertText(entity))
        store.writer.insertStatements[entity.position] = statement
        bindConstants(statement, entity)
        return statement
    }

    /// The statement that inserts a row with its key, entity, version and all columns.
    static func insertText(_ entity: EntityRuntime) -> String {
        let columns = ["Z_PK", "Z_ENT", "Z_OPT"] + entity.schema.columns.map(\.name)
        let placeholders = Array(repeating: "?", count: columns.count).joined(separator: ", ")
        return "INSERT INTO \(entity.schema.table)(\(columns.joined(separator: ", "))) VALUES(\(placeholders))"
    }

    /// Binds the values that all new rows share; bindings persist between rows.
    private func bindConstants(_ statement: SQLStatement, _ entity: EntityRuntime) {
        statement.bind(.integer(entity.schema.number), at: 2)
        statement.bind(.integer(1), at: 3)
    }
}

extension SaveExecution {
    /// Writes the order of an ordered relationship's members, after their rows and join rows.
    ///
    /// Sorts the members that are in the store now: members that another writer added follow the ones that this context
    /// knows.
    mutating func write(_ order: ChangeSet.Order) throws(StoreError) {
        let property = order.owner.runtime.schema.properties[order.index]
        let owner = order.owner.finalKey
        guard let column = property.orderColumn, !order.owner.isDeleted else { return }
        let destination = store.schema.entities[property.destination]
        let table = property.joinTable?.table ?? destination.table
        let key = property.joinTable?.destinationColumn ?? "Z_PK"
        let source = property.joinTable?.sourceColumn ?? store.schema.memberKey(of: property).column

        var stored: [Int64] = []
        var numbers: [Int64: Int64] = [:]
        let sql = "SELECT \(key), \(column) FROM \(table) WHERE \(source) = ? ORDER BY \(column), \(key)"
        let statement = try store.writer.sqlite.statement(sql)
        statement.bind(.integer(owner), at: 1)
        store.log.statement(sql, [.integer(owner)])
        try read(statement) { row in
            let member = sqlite3_column_int64(row, 0)
            stored.append(member)
            if sqlite3_column_type(row, 1) != SQLITE_NULL { numbers[member] = sqlite3_column_int64(row, 1) }
        }

        let state = order.owner.toManyState(order.index)
        let exists = Set(stored)
        let known = (state.isLoaded ? state.members : state.added).map(\.finalKey).filter(exists.contains)
        let knownKeys = Set(known)
        let others = stored.filter { !knownKeys.contains($0) }
        let wanted = state.isLoaded ? known + others : others + known
        let condition = property.joinTable == nil ? "Z_PK = ?" : "\(source) = ? AND \(key) = ?"
        let moves = MemberOrder.changes(wanted, known: numbers)
        if span != nil, !moves.isEmpty { rearranged.append(order.owner) }
        for (member, number) in moves {
            let keys: [SQLValue] = property.joinTable == nil ? [] : [.integer(owner)]
            try step(
                "UPDATE \(table) SET \(column) = ? WHERE \(condition)",
                [.integer(number)] + keys + [.integer(member)])
        }
    }
}

extension SaveExecution {
    /// Checks that the save violates nothing that only Core Data could maintain.
    func checkObstacles() throws(StoreError) {
        guard store.isForeign || store.hasUntrackedHistory else { return }
        if store.saveObstacles == nil { store.saveObstacles = try SaveObstacles(store) }
        var tables: Set<String> = []
        for object in changes.inserted + changes.updated + changes.deleted + changes.revived {
            tables.insert(object.runtime.schema.table)
        }
        for join in changes.joins { tables.insert(join.table.table) }
        for order in changes.orders {
            let property = order.owner.runtime.schema.properties[order.index]
            tables.insert(property.joinTable?.table ?? store.schema.entities[property.destination].table)
        }
        try store.saveObstacles?.check(tables.sorted())
    }

    /// Reads rows again that triggers changed during the save.
    ///
    /// The save is already complete, so a row that cannot be read now is read when it is needed.
    mutating func refreshAffectedRows() {
        for affected in store.writer.sqlite.effects.take() {
            guard let position = store.schema.position(ofNumber: affected.entity) else { continue }
            let entity = store.entities[position]
            store.rows.remove(root: entity.schema.root, key: affected.key)
            span?.event.trips += 1
            guard let loaded = try? store.writer.loadRowAsEvent(entity, key: affected.key, origin: origin) else {
                continue
            }
            refreshed.append((entity.schema.root, loaded.row, [loaded.block]))
        }
    }
}

extension SaveExecution {
    /// Writes the program's metadata if it changed since the last save.
    mutating func writeMetadata() throws(StoreError) {
        guard let unsaved = store.identity.withMetadata({ $0.unsaved }) else { return }
        var list = Data()
        let sql = "SELECT Z_PLIST FROM Z_METADATA"
        let statement = try store.writer.sqlite.statement(sql)
        store.log.statement(sql)
        try read(statement) { row in
            guard let bytes = sqlite3_column_blob(row, 0) else { return }
            list = Data(bytes: bytes, count: Int(sqlite3_column_bytes(row, 0)))
        }
        let new = try StoreMetadata.changing(list, path: store.identity.url.path) { values in
            values = values.filter { StoreMetadata.isOwn($0.key) }.merging(unsaved.values) { $1 }
        }
        try step("UPDATE OR FAIL Z_METADATA SET Z_PLIST = ?", [.blob(new)])
        metadata = unsaved.change
    }
}
