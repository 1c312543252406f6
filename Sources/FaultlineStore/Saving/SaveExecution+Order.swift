import CSQLite
import FaultlineModel

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
        for (member, number) in MemberOrder.changes(wanted, known: numbers) {
            let keys: [SQLValue] = property.joinTable == nil ? [] : [.integer(owner)]
            try step(
                "UPDATE \(table) SET \(column) = ? WHERE \(condition)",
                [.integer(number)] + keys + [.integer(member)])
        }
    }
}
