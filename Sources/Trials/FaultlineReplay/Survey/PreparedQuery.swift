import CSQLite

/// A value of a store, to be bound to a query.
final class StoredValue {
    fileprivate let value: OpaquePointer?

    init(_ row: OpaquePointer, column: Int32) {
        value = sqlite3_value_dup(sqlite3_column_value(row, column))
    }

    deinit { sqlite3_value_free(value) }
}

/// A query that runs repeatedly, with the values of one row after another.
final class PreparedQuery {
    private let file: DatabaseFile
    private let sql: String
    private let statement: OpaquePointer

    /// - Throws: ``ReplayError`` with SQLite's message.
    init(_ sql: String, on file: DatabaseFile) throws(ReplayError) {
        var prepared: OpaquePointer?
        guard sqlite3_prepare_v3(file.connection, sql, -1, 0x01, &prepared, nil) == SQLITE_OK, let prepared else {
            throw file.failure(sql)
        }
        (self.file, self.sql, statement) = (file, sql, prepared)
    }

    deinit { sqlite3_finalize(statement) }

    /// A counter of SQLite (`SQLITE_STMTSTATUS_…`) since the last call.
    func taken(_ counter: Int32) -> UInt64 { UInt64(UInt32(bitPattern: sqlite3_stmt_status(statement, counter, 1))) }

    /// The lines of an `EXPLAIN QUERY PLAN` for values, at which the planner looks.
    ///
    /// The line of a foreign key's action has no text.
    func details(_ values: [StoredValue]) -> [String] {
        bind(values)
        defer { sqlite3_reset(statement) }
        var details: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            if let text = sqlite3_column_text(statement, 3) { details.append(String(cString: text)) }
        }
        return details
    }

    /// The bytes of each column in the first rows, and the number of these rows.
    ///
    /// - Throws: ``ReplayError`` with SQLite's message.
    func bytes(_ values: [StoredValue], rows most: Int) throws(ReplayError) -> (
        columns: [(name: String, bytes: UInt64)], rows: UInt64
    ) {
        bind(values)
        defer { sqlite3_reset(statement) }
        var columns = (0..<sqlite3_column_count(statement)).map { column in
            (name: sqlite3_column_name(statement, column).map { String(cString: $0) } ?? "", bytes: UInt64(0))
        }
        var (rows, code) = (UInt64(0), SQLITE_DONE)
        while rows < most {
            code = sqlite3_step(statement)
            guard code == SQLITE_ROW else { break }
            rows += 1
            for column in columns.indices {
                columns[column].bytes += UInt64(sqlite3_column_bytes(statement, Int32(column)))
            }
        }
        guard code == SQLITE_DONE || code == SQLITE_ROW else { throw file.failure(sql) }
        return (columns, rows)
    }

    private func bind(_ values: [StoredValue]) {
        for (position, value) in values.enumerated() { sqlite3_bind_value(statement, Int32(position + 1), value.value) }
    }

    /// Whether the query changes the file.
    var writes: Bool { sqlite3_stmt_readonly(statement) == 0 }

    /// Runs the query once for each row of values, and steps through its results.
    ///
    /// - Returns: The number of rows.
    /// - Throws: ``ReplayError`` with SQLite's message.
    @discardableResult
    func run(_ values: [[StoredValue]]) throws(ReplayError) -> UInt64 {
        var rows: UInt64 = 0
        for row in values.isEmpty ? [[]] : values {
            bind(row)
            var code = sqlite3_step(statement)
            while code == SQLITE_ROW {
                // Reads the last column, as a program would, so SQLite decodes the whole row.
                _ = sqlite3_column_bytes(statement, sqlite3_data_count(statement) - 1)
                rows += 1
                code = sqlite3_step(statement)
            }
            sqlite3_reset(statement)
            guard code == SQLITE_DONE else { throw file.failure(sql) }
        }
        return rows
    }
}

extension DatabaseFile {
    /// SQLite's plan for a query, one step per line.
    func plan(_ sql: String) throws(ReplayError) -> String {
        try rows("EXPLAIN QUERY PLAN \(sql)").map { $0[3].text }.joined(separator: "\n")
    }

    /// The rows of a query, as values to bind.
    func values(_ sql: String) throws(ReplayError) -> [[StoredValue]] {
        var rows: [[StoredValue]] = []
        try each(sql) { row in
            rows.append((0..<sqlite3_column_count(row)).map { StoredValue(row, column: $0) })
        }
        return rows
    }
}
