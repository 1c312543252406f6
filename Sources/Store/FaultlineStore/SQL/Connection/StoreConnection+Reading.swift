import CSQLite
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
import Foundation

/// The rows that a statement returned.
struct LoadedRows {
    var rows: ContiguousArray<RowPointer> = []
    /// The blocks that contain the rows.
    var blocks: [RowBlock] = []
    var run = StatementRun()
    /// The number of rows that the row cache had in the same version.
    var cacheHits = 0
    /// The sort keys of each row, if the last columns contain them.
    var sortKeys: [[SQLValue]] = []
    /// For prefetching: the key of each member's owner, from the statement's last column.
    var sources: [Int64] = []
    /// The position of each member's row.
    ///
    /// A row that several owners share is read once.
    var members: [Int] = []
}

/// The keys that a statement returned, with the indexes of their entities.
struct LoadedKeys {
    var keys: ContiguousArray<Int64> = []
    /// Empty if all rows have the same entity.
    var entities: ContiguousArray<Int32> = []
    /// The sort keys of each row, if the last columns contain them.
    var sortKeys: [[SQLValue]] = []
    var run = StatementRun()
}

extension StoreConnection {
    /// Reads rows into the row cache.
    ///
    /// The statement's values have been bound. Called under the lock.
    ///
    /// - Parameters:
    ///   - hasSources: Whether the last column contains the key of each row's owner.
    ///   - sortKeys: The number of sort keys in the last columns.
    ///   - partial: The columns to read; `nil` for all. Partial rows do not enter the row cache.
    func loadRows(
        _ statement: SQLStatement, _ entity: EntityRuntime, hasSources: Bool = false, sortKeys: Int = 0,
        partial: PartialSelection? = nil
    ) throws(StoreError) -> LoadedRows {
        var builder = RowBuilder(root: entity.schema.root, cache: rows, blockSize: 4 << 10)
        var loaded = LoadedRows()
        let isInTree = entity.schema.isInTree
        let (position, layout) = (entity.schema.index, entity.layout)
        let rowColumns = partial?.rowColumns ?? entity.rowColumns
        guard let ownColumns = rowColumns[position] else { incorrectUse("An entity reads its own rows.") }
        let last = hasSources ? sqlite3_column_count(statement.handle) - 1 : -1
        var positions: [Int64: Int] = [:]
        loaded.run = try session.read(
            statement, doing: "Reading \(entity.schema.name)", measuresPages: true
        ) { handle throws(StoreError) in
            if last >= 0 {
                loaded.sources.append(sqlite3_column_int64(handle, last))
                // SQLite does not read the columns, and their pages, that nobody asks for.
                let key = sqlite3_column_int64(handle, 1)
                let known = positions[key]
                loaded.members.append(known ?? loaded.rows.count)
                if known != nil { return }
                positions[key] = loaded.rows.count
            }
            if isInTree {
                let (actual, columns) = try self.rowEntity(handle, entity, rowColumns)
                loaded.rows.append(builder.copy(handle, columns, actual.layout, entity: actual.schema.index))
            } else {
                loaded.rows.append(builder.copy(handle, ownColumns, layout, entity: position))
            }
            if sortKeys > 0 { loaded.sortKeys.append(Self.lastColumns(sortKeys, of: handle)) }
        }
        guard !loaded.rows.isEmpty else { return loaded }
        guard partial == nil else {
            loaded.blocks = builder.blocks
            return loaded
        }
        let (hits, held) = rows.insert(&loaded.rows, builder.blocks, generation: readGeneration)
        loaded.cacheHits = hits
        loaded.blocks = hits == loaded.rows.count ? held : builder.blocks + held
        return loaded
    }

    private static func lastColumns(_ number: Int, of row: OpaquePointer) -> [SQLValue] {
        let count = sqlite3_column_count(row)
        return (count - Int32(number)..<count).map { SQLValue(row, column: $0) }
    }

    /// Reads only keys.
    ///
    /// Called under the lock.
    ///
    /// - Parameter sortKeys: The number of sort keys in the last columns.
    func loadKeys(
        _ statement: SQLStatement, _ entity: EntityRuntime, sortKeys: Int = 0
    ) throws(StoreError) -> LoadedKeys {
        var loaded = LoadedKeys()
        let isInTree = entity.schema.isInTree
        loaded.run = try session.read(
            statement, doing: "Reading \(entity.schema.name)", measuresPages: true
        ) { handle throws(StoreError) in
            loaded.keys.append(sqlite3_column_int64(handle, 1))
            if isInTree {
                loaded.entities.append(
                    Int32(store.schema.position(ofNumber: sqlite3_column_int64(handle, 0)) ?? entity.schema.index))
            }
            if sortKeys > 0 { loaded.sortKeys.append(Self.lastColumns(sortKeys, of: handle)) }
        }
        return loaded
    }

    /// The entity of the current row of an inheritance tree's table.
    private func rowEntity(
        _ handle: OpaquePointer, _ entity: EntityRuntime, _ rowColumns: [EntityRuntime.RowColumns?]
    ) throws(StoreError) -> (EntityRuntime, EntityRuntime.RowColumns) {
        let number = sqlite3_column_int64(handle, 0)
        guard let position = store.schema.position(ofNumber: number), let columns = rowColumns[position] else {
            throw StoreError(
                .incompatibleModel,
                "A row of \(entity.schema.table) in '\(sqlite.path)' belongs to entity number \(number), which the model does not have in that table; open the store with the model that it was created with."
            )
        }
        return (store.entities[position], columns)
    }

    /// Reads the row of a key, recorded as its own event.
    ///
    /// Called under the lock.
    func loadRowAsEvent(
        _ entity: EntityRuntime, key: Int64, origin: TraceOrigin
    ) throws(StoreError) -> (row: RowPointer, block: RowBlock)? {
        try prepareFaults(of: entity)
        let statement = faultReaders[entity.position]!.statement
        return try session.asEvent(statement, origin: origin) { (run) throws(StoreError) in
            try loadRow(entity, key: key, &run)
        }
    }

    /// Creates the reader of an entity's faults, if it does not exist.
    ///
    /// Called under the lock.
    @inline(__always)
    private func prepareFaults(of entity: EntityRuntime) throws(StoreError) {
        guard faultReaders[entity.position] == nil else { return }
        faultReaders[entity.position] = FaultReader(
            try sqlite.statement(entity.faultSQL), root: entity.root, cache: rows)
    }

    /// Reads the row of a key.
    ///
    /// The statement's run is a separate result, because most faults do not need it. The rows of a burst share blocks.
    /// Called under the lock.
    func loadRow(
        _ entity: EntityRuntime, key: Int64, _ run: inout StatementRun
    ) throws(StoreError) -> (row: RowPointer, block: RowBlock)? {
        try prepareFaults(of: entity)
        // The connection holds the reader, which holds the statement.
        unowned(unsafe) let reader = faultReaders[entity.position]!
        unowned(unsafe) let statement = reader.statement
        sqlite3_bind_int64(statement.handle, 1, key)
        if log.isOn { log.statement(statement.sql, [.integer(key)]) }
        try beginRead()
        var copied: RowPointer?
        run = try session.read(
            statement, doing: "Reading \(entity.schema.name)", measuresPages: false, isSingle: true
        ) { handle throws(StoreError) in
            if entity.schema.isInTree {
                let (actual, columns) = try self.rowEntity(handle, entity, entity.rowColumns)
                copied = reader.copyRow(columns, actual.layout, entity: actual.schema.index)
            } else {
                copied = reader.copyRow(entity.rowColumns[entity.position]!, entity.layout, entity: entity.position)
            }
        }
        return copied.map { rows.insert($0, generation: readGeneration) }
    }

    /// Binds keys to a statement that selects from `_Z_intarray0`.
    ///
    /// Called under the lock.
    func bind(_ sql: String, keys: [Int64]) throws(StoreError) -> SQLStatement {
        // The table must exist before a statement that reads it is prepared.
        try sqlite.integerArray(0).bind(keys)
        return try sqlite.statement(sql)
    }

    /// Prepares a SELECT and binds its values.
    ///
    /// Called under the lock.
    func bind(_ select: SelectStatement) throws(StoreError) -> SQLStatement {
        // The tables must exist before a statement that reads them is prepared.
        for (position, keys) in select.arrays.enumerated() { try sqlite.integerArray(position).bind(keys) }
        for (position, list) in select.lists.enumerated() { try sqlite.valueArray(position).bind(list) }
        let statement = try sqlite.statement(select.sql)
        for (position, value) in select.values.enumerated() { statement.bind(value, at: Int32(position + 1)) }
        return statement
    }
}
