import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

extension SaveExecution {
    /// Checks that the save violates nothing that only Core Data could maintain.
    func checkObstacles() throws(StoreError) {
        guard store.isForeign else { return }
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
