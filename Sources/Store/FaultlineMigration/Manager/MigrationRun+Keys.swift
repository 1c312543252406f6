import CSQLite
import FaultlineModel
import FaultlineStore

extension MigrationRun {
    /// Keeps the keys of older objects free in tables whose objects keep their keys.
    func reserveKeys(_ kept: [String: Set<String>]) throws(StoreError) {
        for entity in source.store.schema.entities where entity.parent == nil {
            let last = try source.store.lastKey(of: entity)
            for table in kept[entity.table] ?? [] {
                guard
                    let root = destination.store.schema.entities.first(where: { $0.table == table && $0.parent == nil })
                else { continue }
                let store = destination.store
                try store.writer.locked { () throws(StoreError) in
                    store.writer.endRead()
                    try store.writer.session.run(
                        "UPDATE Z_PRIMARYKEY SET Z_MAX = MAX(Z_MAX, \(last)) WHERE Z_ENT = \(root.number)",
                        doing: "Migrating")
                }
            }
        }
    }
}

extension SQLStore {
    /// Turns the journal off and begins one transaction for all saves, because the store is removed if anything fails.
    ///
    /// Index pages change in each batch, so each save would write most of them again.
    func beginBulk() throws(StoreError) {
        try writer.locked { () throws(StoreError) in
            writer.endRead()
            for pragma in ["locking_mode=exclusive", "journal_mode=off"] {
                try writer.session.run("PRAGMA \(pragma)", doing: StoreMigration.doing, isLogged: false)
            }
            writer.bulk = .running
        }
    }

    /// Ends the transaction for all saves.
    ///
    /// - Throws: `StoreError` if a save failed, whose changes cannot be undone without a journal.
    func endBulk() throws(StoreError) {
        try writer.locked { () throws(StoreError) in
            guard writer.bulk != .damaged else {
                throw StoreError(
                    .entityMigrationPolicy,
                    "\(StoreMigration.doing) failed because a policy ignored a failed save of the newer objects; let the error end the migration."
                )
            }
            writer.bulk = .none
            guard !writer.sqlite.isAutocommit else { return }
            try writer.session.run("COMMIT", doing: StoreMigration.doing, isLogged: false)
        }
    }

    /// The integers in the first column of a query's rows, read outside of any context.
    func integers(_ sql: String, _ values: [SQLValue] = []) throws(StoreError) -> [Int64] {
        var found: [Int64] = []
        try writer.locked { () throws(StoreError) in
            writer.endRead()
            let statement = try writer.sqlite.statement(sql)
            for (position, value) in values.enumerated() { statement.bind(value, at: Int32(position + 1)) }
            try writer.session.readAsEvent(statement, doing: StoreMigration.doing) {
                found.append(sqlite3_column_int64($0, 0))
            }
        }
        return found
    }

    /// The range of the keys of an entity's next own objects after a key; `nil` if there are none.
    func keys(of entity: EntitySchema, after key: Int64, limit: Int) throws(StoreError) -> ClosedRange<Int64>? {
        let last = try integers(
            "SELECT IFNULL(MAX(Z_PK), 0) FROM (SELECT Z_PK FROM \(entity.table) NOT INDEXED WHERE Z_ENT = \(entity.number) AND Z_PK > ? ORDER BY Z_PK LIMIT \(limit))",
            [.integer(key)]
        ).first
        return last.flatMap { $0 > key ? key + 1...$0 : nil }
    }

    /// The largest key that a tree's table has or had.
    func lastKey(of root: EntitySchema) throws(StoreError) -> Int64 {
        try integers(
            "SELECT MAX(Z_PK) FROM \(root.table) UNION ALL SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(root.number)"
        ).max() ?? 0
    }
}
