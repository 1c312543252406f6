import CSQLite
import CStore
import FaultlineModel
import FaultlineRecorder

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
