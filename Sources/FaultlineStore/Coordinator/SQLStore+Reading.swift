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

extension SQLStore {
    /// The bytes of the column values of rows.
    func bytes(of rows: some Sequence<RowPointer>) -> UInt64 {
        rows.reduce(0) { $0 + UInt64($1.byteCount(entities[Int($1.header.pointee.entity)].layout)) }
    }

    /// Reads rows into the row cache.
    ///
    /// The statement's values are bound. Under the lock.
    ///
    /// - Parameters:
    ///   - hasSources: whether a last column says to whom each row is related.
    ///   - sortKeys: how many of the last columns say what each row is sorted by.
    func loadRows(
        _ statement: SQLStatement, _ entity: EntityRuntime, isRecording: Bool, isSingle: Bool = false,
        hasSources: Bool = false, sortKeys: Int = 0
    ) throws(StoreError) -> LoadedRows {
        var builder = RowBuilder(root: entity.schema.root, cache: rows, blockSize: isSingle ? 512 : 4 << 10)
        var loaded = LoadedRows()
        let isInTree = entity.schema.isInTree
        let place = entity.schema.index
        let ownSources = entity.sources[place] ?? []
        let last = hasSources ? sqlite3_column_count(statement.handle) - 1 : -1
        loaded.run = try session.read(
            statement, doing: "Reading \(entity.schema.name)", isRecording: isRecording, measuresPages: !isSingle
        ) { handle throws(StoreError) in
            var rowPlace = place
            var sources = ownSources
            if isInTree {
                let number = sqlite3_column_int64(handle, 0)
                guard let known = schema.place(ofNumber: number), let found = entity.sources[known] else {
                    throw StoreError(
                        .incompatibleModel,
                        "A row of \(entity.schema.table) in '\(path)' belongs to entity number \(number), which the model does not have there; open the store with the model that it was made with."
                    )
                }
                rowPlace = known
                sources = found
            }
            loaded.rows.append(
                Self.copyRow(handle, entities[rowPlace].layout, sources, rowPlace, &builder))
            if last >= 0 { loaded.sources.append(sqlite3_column_int64(handle, last)) }
            if sortKeys > 0 { loaded.sortKeys.append(Self.lastColumns(sortKeys, of: handle)) }
        }
        guard !loaded.rows.isEmpty else { return loaded }
        let (hits, held) = rows.insert(&loaded.rows, builder.blocks, isRecording: isRecording)
        loaded.cacheHits = hits
        loaded.blocks = hits == loaded.rows.count ? held : builder.blocks + held
        return loaded
    }

    @inline(__always)
    private static func copyRow(
        _ handle: OpaquePointer, _ layout: RowLayout, _ sources: [EntityRuntime.ColumnSource], _ place: Int,
        _ builder: inout RowBuilder
    ) -> RowPointer {
        builder.begin(
            layout, key: sqlite3_column_int64(handle, 1), version: sqlite3_column_int64(handle, 2), entity: place)
        for slot in 0..<sources.count {
            let column = sources[slot].column
            if sqlite3_column_type(handle, column) == SQLITE_NULL { continue }
            switch sources[slot].storage {
            case .integer: builder.set(layout, slot: slot, integer: sqlite3_column_int64(handle, column))
            case .real: builder.set(layout, slot: slot, real: sqlite3_column_double(handle, column))
            case .text, .decimal:
                let text = UnsafeRawPointer(sqlite3_column_text(handle, column))
                builder.set(layout, slot: slot, bytes: text, count: Int(sqlite3_column_bytes(handle, column)))
            case .blob:
                let bytes = sqlite3_column_blob(handle, column)
                builder.set(layout, slot: slot, bytes: bytes, count: Int(sqlite3_column_bytes(handle, column)))
            }
        }
        return builder.finish()
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
        _ statement: SQLStatement, _ entity: EntityRuntime, isRecording: Bool, sortKeys: Int = 0
    ) throws(StoreError) -> LoadedKeys {
        var loaded = LoadedKeys()
        let isInTree = entity.schema.isInTree
        loaded.run = try session.read(
            statement, doing: "Reading \(entity.schema.name)", isRecording: isRecording, measuresPages: true
        ) { handle throws(StoreError) in
            loaded.keys.append(sqlite3_column_int64(handle, 1))
            if isInTree {
                loaded.entities.append(
                    Int32(schema.place(ofNumber: sqlite3_column_int64(handle, 0)) ?? entity.schema.index))
            }
            if sortKeys > 0 { loaded.sortKeys.append(Self.lastColumns(sortKeys, of: handle)) }
        }
        return loaded
    }

    /// Reads the row of one key.
    ///
    /// Under the lock.
    func loadRow(
        _ entity: EntityRuntime, key: Int64, isRecording: Bool
    ) throws(StoreError) -> LoadedRows {
        let place = entity.schema.index
        if faultStatements[place] == nil { faultStatements[place] = try connection.statement(entity.faultSQL) }
        let statement = faultStatements[place]!
        sqlite3_bind_int64(statement.handle, 1, key)
        log.statement(statement.sql, [.integer(key)])
        try beginRead()
        return try loadRows(statement, entity, isRecording: isRecording, isSingle: true)
    }

    /// Binds what a SELECT selects by.
    ///
    /// Under the lock.
    func bind(_ select: SelectStatement) throws(StoreError) -> SQLStatement {
        // A table must be there before a statement that reads it can be prepared.
        for (place, keys) in select.arrays.enumerated() { try connection.integerArray(place).bind(keys) }
        for (place, list) in select.lists.enumerated() { try connection.valueArray(place).bind(list) }
        let statement = try connection.statement(select.sql)
        for (place, value) in select.values.enumerated() { statement.bind(value, at: Int32(place + 1)) }
        return statement
    }
}
