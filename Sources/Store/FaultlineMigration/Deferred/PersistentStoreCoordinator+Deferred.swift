import FaultlineModel
public import FaultlineStore

extension PersistentStoreCoordinator {
    /// The metadata key whose value is `true` while work of a deferred migration remains in a store.
    ///
    /// Core Data's stores have the same key.
    public static let deferredLightweightMigrationKey = DeferredDrop.marker

    /// Removes everything that migrations left behind in the stores.
    ///
    /// - Throws: The errors of `finishDeferredLightweightMigrationTask()`.
    public func finishDeferredLightweightMigration() throws(StoreError) {
        while try finishDeferredLightweightMigrationTask() {}
    }

    /// Removes one table or column that a migration left behind because of
    /// `PersistentStoreDescription.defersLightweightMigration`.
    ///
    /// Contexts can be used in the meantime, but their saves wait. Call this method in the background while the program is idle. It
    /// can be called again if the program is killed.
    ///
    ///     while try coordinator.finishDeferredLightweightMigrationTask(), hasTime {}
    ///
    /// - Returns: Whether there was such a task; if not, nothing is left to do.
    /// - Throws: `StoreError` if a store cannot be written, or if another connection keeps it locked for longer than the
    ///   description's `busyTimeout`. The task is then still to be done.
    /// - Complexity: Rewrites the rows of the column's table.
    @discardableResult
    public func finishDeferredLightweightMigrationTask() throws(StoreError) -> Bool {
        for store in stores where !store.description.isReadOnly && !store.description.isInMemory {
            if try store.finishDeferredTask() { return true }
        }
        return false
    }
}

extension SQLStore {
    /// Removes the first table or column that was left behind.
    ///
    /// - Returns: Whether there was one.
    fileprivate func finishDeferredTask() throws(StoreError) -> Bool {
        guard identity.withMetadata({ !$0.deferredDrops.isEmpty }) else { return false }
        let rest = try writer.locked { () throws(StoreError) -> [DeferredDrop]? in
            writer.endRead()
            let setup = StoreSetup(writer.session, path: path, doing: "Finishing the migration of the store")
            return try setup.inTransaction("BEGIN IMMEDIATE", isLogged: true) {
                () throws(StoreError) -> [DeferredDrop]? in
                // Another process may have done a part.
                var drops = try setup.readMetadata().1.deferredDrops
                guard !drops.isEmpty else { return nil }
                let drop = drops.removeFirst()
                if try isLeft(drop, setup) {
                    let start = ContinuousClock.now
                    _ = try writer.session.run(drop.sql, doing: setup.doing)
                    log.migration("Removed '\(drop.text)' in \(SQLDebugLog.seconds(since: start))")
                }
                try setup.changeMetadata { $0.setDeferredDrops(drops) }
                return drops
            }
        }
        identity.withMetadata { $0.setDeferredDrops(rest ?? []) }
        return rest != nil
    }
}

extension SQLStore {
    /// Whether the store has a table or column and the model does not; the metadata could be damaged.
    private func isLeft(_ drop: DeferredDrop, _ setup: StoreSetup) throws(StoreError) -> Bool {
        guard let table = try StoreStructure(setup).tables[drop.table] else { return false }
        guard let column = drop.column else { return true }
        guard let wanted = try StoreStructure(creating: schema.statements).tables[drop.table] else { return false }
        return table.columns.contains { $0.name == column } && !wanted.columns.contains { $0.name == column }
    }
}

extension DeferredDrop {
    /// The statement that removes it.
    var sql: String {
        let table = StoreSetup.quoted(table)
        return column.map { "ALTER TABLE \(table) DROP COLUMN \(StoreSetup.quoted($0))" }
            ?? "DROP TABLE IF EXISTS \(table)"
    }
}
