import CSQLite
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
import Foundation

/// Rows that a statement returned.
struct LoadedRows {
    var rows: ContiguousArray<RowPointer> = []
    /// What holds them.
    var blocks: [RowBlock] = []
    var run = StatementRun()
    /// Rows that the row cache had in the same version.
    var cacheHits = 0
    /// What each row is sorted by, where the last columns say so.
    var sortKeys: [[SQLValue]] = []
    /// Who is related to each row, for prefetching: the key in the last column of the statement.
    var sources: [Int64] = []
}

/// Keys that a statement returned, with the places of their entities.
struct LoadedKeys {
    var keys: ContiguousArray<Int64> = []
    /// Empty where all are of one entity.
    var entities: ContiguousArray<Int32> = []
    /// What each row is sorted by, where the last columns say so.
    var sortKeys: [[SQLValue]] = []
    var run = StatementRun()
}

extension StoreConnection {
    /// Reads rows into the row cache.
    ///
    /// The statement's values are bound. Under the lock.
    ///
    /// - Parameters:
    ///   - hasSources: whether a last column says to whom each row is related.
    ///   - sortKeys: how many of the last columns say what each row is sorted by.
    ///   - partial: what is read; `nil`: everything. Rows that are not whole do not go into the row cache.
    func loadRows(
        _ statement: SQLStatement, _ entity: EntityRuntime, hasSources: Bool = false, sortKeys: Int = 0,
        partial: PartialSelection? = nil
    ) throws(StoreError) -> LoadedRows {
        var builder = RowBuilder(root: entity.schema.root, cache: rows, blockSize: 4 << 10)
        var loaded = LoadedRows()
        let isInTree = entity.schema.isInTree
        let (place, layout) = (entity.schema.index, entity.layout)
        let rowColumns = partial?.rowColumns ?? entity.rowColumns
        guard let ownColumns = rowColumns[place] else { incorrectUse("An entity reads its own rows.") }
        let last = hasSources ? sqlite3_column_count(statement.handle) - 1 : -1
        loaded.run = try session.read(
            statement, doing: "Reading \(entity.schema.name)", measuresPages: true
        ) { handle throws(StoreError) in
            if isInTree {
                let (actual, columns) = try self.rowEntity(handle, entity, rowColumns)
                loaded.rows.append(builder.copy(handle, columns, actual.layout, entity: actual.schema.index))
            } else {
                loaded.rows.append(builder.copy(handle, ownColumns, layout, entity: place))
            }
            if last >= 0 { loaded.sources.append(sqlite3_column_int64(handle, last)) }
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

    /// Reads keys only.
    ///
    /// Under the lock.
    ///
    /// - Parameter sortKeys: how many of the last columns say what each row is sorted by.
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
                    Int32(store.schema.place(ofNumber: sqlite3_column_int64(handle, 0)) ?? entity.schema.index))
            }
            if sortKeys > 0 { loaded.sortKeys.append(Self.lastColumns(sortKeys, of: handle)) }
        }
        return loaded
    }

    /// The entity of the row that a statement of a tree's table stands on.
    private func rowEntity(
        _ handle: OpaquePointer, _ entity: EntityRuntime, _ rowColumns: [EntityRuntime.RowColumns?]
    ) throws(StoreError) -> (EntityRuntime, EntityRuntime.RowColumns) {
        let number = sqlite3_column_int64(handle, 0)
        guard let place = store.schema.place(ofNumber: number), let columns = rowColumns[place] else {
            throw StoreError(
                .incompatibleModel,
                "A row of \(entity.schema.table) in '\(sqlite.path)' belongs to entity number \(number), which the model does not have there; open the store with the model that it was made with."
            )
        }
        return (store.entities[place], columns)
    }

    /// Reads the row of one key, as an event of its own.
    ///
    /// Under the lock.
    func loadRowAsEvent(
        _ entity: EntityRuntime, key: Int64, origin: TraceOrigin
    ) throws(StoreError) -> (row: RowPointer, block: RowBlock)? {
        try prepareFaults(of: entity)
        let statement = faultReaders[entity.place]!.statement
        return try session.asEvent(statement, origin: origin) { (run) throws(StoreError) in
            try loadRow(entity, key: key, &run)
        }
    }

    /// Makes what the faults of an entity are read with, unless it is there.
    ///
    /// Under the lock.
    @inline(__always)
    private func prepareFaults(of entity: EntityRuntime) throws(StoreError) {
        guard faultReaders[entity.place] == nil else { return }
        faultReaders[entity.place] = FaultReader(
            try sqlite.statement(entity.faultSQL), root: entity.root, cache: rows)
    }

    /// Reads the row of one key; how that went is told apart from it, since faults have no use for it most often.
    ///
    /// Under the lock. The rows of a burst lie in one block.
    func loadRow(
        _ entity: EntityRuntime, key: Int64, _ run: inout StatementRun
    ) throws(StoreError) -> (row: RowPointer, block: RowBlock)? {
        try prepareFaults(of: entity)
        // The connection holds the one, and it the other.
        unowned(unsafe) let reader = faultReaders[entity.place]!
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
                copied = reader.copyRow(entity.rowColumns[entity.place]!, entity.layout, entity: entity.place)
            }
        }
        return copied.map { rows.insert($0, generation: readGeneration) }
    }

    /// Binds keys to a statement that selects by `_Z_intarray0`.
    ///
    /// Under the lock.
    func bind(_ sql: String, keys: [Int64]) throws(StoreError) -> SQLStatement {
        // A table must be there before a statement that reads it can be prepared.
        try sqlite.integerArray(0).bind(keys)
        return try sqlite.statement(sql)
    }

    /// Binds what a SELECT selects by.
    ///
    /// Under the lock.
    func bind(_ select: SelectStatement) throws(StoreError) -> SQLStatement {
        // A table must be there before a statement that reads it can be prepared.
        for (place, keys) in select.arrays.enumerated() { try sqlite.integerArray(place).bind(keys) }
        for (place, list) in select.lists.enumerated() { try sqlite.valueArray(place).bind(list) }
        let statement = try sqlite.statement(select.sql)
        for (place, value) in select.values.enumerated() { statement.bind(value, at: Int32(place + 1)) }
        return statement
    }
}
