import CSQLite

/// A question of SQLite's planner to a table: by which comparisons it could search, and whether it could return rows in an order.
struct PlannerQuestion: Hashable {
    struct Comparison: Hashable {
        /// The position of the column in its table; -1 for the row ID.
        var column: Int
        /// A constant `SQLITE_INDEX_CONSTRAINT_…`.
        var operation: Int32
        /// Whether the value is known when the table is searched.
        var isUsable: Bool
        /// Whether it is a comparison with a list.
        var isList: Bool
        var collation: String
    }

    struct Order: Hashable {
        var column: Int
        var isDescending: Bool
    }

    /// The position of the table in the schema.
    var table: Int
    var comparisons: [Comparison]
    var order: [Order]
    /// The collation that all columns were declared with, or `nil` if they had their own.
    var collation: String?
}

/// Virtual tables in the place of a schema's tables, which SQLite's planner asks what they could search by.
///
/// SQLite's own `.expert` command does the same (https://sqlite.org/src/file?name=ext/expert/sqlite3expert.c).
final class ListeningTables {
    fileprivate let schema: AdvisedSchema
    fileprivate let expressions: [IndexableExpression]
    fileprivate let collation: String?
    fileprivate var questions: [PlannerQuestion] = []
    private let file: DatabaseFile

    /// - Parameter collation: A collation for all columns. SQLite passes no order by another collation than the column's.
    init(_ schema: AdvisedSchema, _ expressions: [IndexableExpression], collation: String? = nil) throws(ReplayError) {
        (self.schema, self.expressions, self.collation) = (schema, expressions, collation)
        file = try DatabaseFile(inMemory: "the schema")
        sqlite3_create_module_v2(
            file.connection, "listening", Self.module, Unmanaged.passUnretained(self).toOpaque(), nil)
        for database in schema.databases.dropFirst() {
            try file.attach(":memory:", as: database)
        }
        for (number, table) in schema.tables.enumerated() {
            // Other virtual tables need their own modules.
            try? file.run(
                table.isVirtual ? table.sql : "CREATE VIRTUAL TABLE \(table.qualifiedName) USING listening(\(number))")
        }
        for view in schema.views { try? file.run(view) }
    }

    /// The questions about a statement.
    ///
    /// - Throws: ``ReplayError`` with SQLite's message if the statement does not fit the schema.
    func questions(about sql: String) throws(ReplayError) -> [PlannerQuestion] {
        questions = []
        _ = try PreparedQuery(sql, on: file)
        var seen: Set<PlannerQuestion> = []
        return questions.filter { seen.insert($0).inserted }
    }

    /// The declaration of a table for SQLite.
    fileprivate func declaration(of number: Int) -> String {
        let own = schema.tables[number].columns.map { column in
            "\(DatabaseFile.quoted(column.name)) \(column.type) COLLATE \(DatabaseFile.quoted(collation ?? column.collation))"
        }
        let invented = expressions.filter { $0.tables.contains(number) }.map { DatabaseFile.quoted($0.name) }
        return "CREATE TABLE x(\((own + invented).joined(separator: ", ")))"
    }

    fileprivate func note(_ number: Int, _ info: UnsafeMutablePointer<sqlite3_index_info>) {
        var question = PlannerQuestion(table: number, comparisons: [], order: [], collation: collation)
        var (used, argument) = (0, Int32(0))
        for index in 0..<Int(info.pointee.nConstraint) {
            let constraint = info.pointee.aConstraint[index]
            let operation = Int32(constraint.op)
            if operation == SQLITE_INDEX_CONSTRAINT_LIMIT || operation == SQLITE_INDEX_CONSTRAINT_OFFSET { continue }
            let collation = sqlite3_vtab_collation(info, Int32(index)).map { String(cString: $0) } ?? "BINARY"
            let isList = csqlite_vtab_in(info, Int32(index)) != 0
            question.comparisons.append(
                .init(
                    column: Int(constraint.iColumn), operation: operation, isUsable: constraint.usable != 0,
                    isList: isList, collation: collation))
            let isSearch =
                operation < SQLITE_INDEX_CONSTRAINT_FUNCTION && operation != SQLITE_INDEX_CONSTRAINT_NE
                && operation != SQLITE_INDEX_CONSTRAINT_ISNOT
            guard constraint.usable != 0, isSearch else { continue }
            // SQLite asks about other orders of tables only if a table takes what it is offered.
            argument += 1
            info.pointee.aConstraintUsage[index].argvIndex = argument
            used += IndexCandidates.equalities.contains(operation) ? 3 : 1
        }
        for index in 0..<Int(info.pointee.nOrderBy) {
            let order = info.pointee.aOrderBy[index]
            question.order.append(.init(column: Int(order.iColumn), isDescending: order.desc != 0))
        }
        var cost = 1e7
        for _ in 0..<used { cost /= 4 }
        info.pointee.estimatedCost = cost
        info.pointee.estimatedRows = 1_000_000 >> min(18, Int64(used))
        questions.append(question)
    }
}

/// SQLite's view of a listening table.
private struct ListeningTable {
    var base = sqlite3_vtab()
    var tables: Unmanaged<ListeningTables>
    var number: Int
}

extension ListeningTables {
    fileprivate typealias Connect =
        @convention(c) (
            OpaquePointer?, UnsafeMutableRawPointer?, Int32, UnsafePointer<UnsafePointer<CChar>?>?,
            UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?,
            UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        ) -> Int32

    private static let connect: Connect = { connection, context, count, arguments, table, _ in
        guard let context, let arguments, count > 3, let number = arguments[3].flatMap({ Int(String(cString: $0)) })
        else { return SQLITE_ERROR }
        let tables = Unmanaged<ListeningTables>.fromOpaque(context)
        let code = sqlite3_declare_vtab(connection, tables.takeUnretainedValue().declaration(of: number))
        guard code == SQLITE_OK else { return code }
        let made = UnsafeMutablePointer<ListeningTable>.allocate(capacity: 1)
        made.initialize(to: ListeningTable(tables: tables, number: number))
        table?.pointee = UnsafeMutableRawPointer(made).assumingMemoryBound(to: sqlite3_vtab.self)
        return SQLITE_OK
    }

    private static let disconnect: @convention(c) (UnsafeMutablePointer<sqlite3_vtab>?) -> Int32 = { table in
        UnsafeMutableRawPointer(table)?.assumingMemoryBound(to: ListeningTable.self).deallocate()
        return SQLITE_OK
    }

    /// The tables have no rows, because statements on them are prepared and never run.
    ///
    /// SQLite keeps the pointer. Nothing writes to the module once it is made, so threads can share it.
    nonisolated(unsafe) fileprivate static let module: UnsafePointer<sqlite3_module> = {
        var module = sqlite3_module()
        module.iVersion = 1
        module.xCreate = connect
        module.xConnect = connect
        module.xDisconnect = disconnect
        module.xDestroy = disconnect
        module.xBestIndex = { table, info in
            guard let table, let info else { return SQLITE_ERROR }
            let own = UnsafeMutableRawPointer(table).assumingMemoryBound(to: ListeningTable.self).pointee
            own.tables.takeUnretainedValue().note(own.number, info)
            return SQLITE_OK
        }
        module.xOpen = { _, _ in SQLITE_ERROR }
        module.xClose = { _ in SQLITE_OK }
        module.xFilter = { _, _, _, _, _ in SQLITE_ERROR }
        module.xNext = { _ in SQLITE_ERROR }
        module.xEof = { _ in 1 }
        module.xColumn = { _, _, _ in SQLITE_ERROR }
        module.xRowid = { _, _ in SQLITE_ERROR }
        // Without it, SQLite prepares no statement that writes.
        module.xUpdate = { _, _, _, _ in SQLITE_ERROR }
        let kept = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        kept.initialize(to: module)
        return UnsafePointer(kept)
    }()
}
