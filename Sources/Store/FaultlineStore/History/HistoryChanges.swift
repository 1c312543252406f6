import FaultlineModel
import FaultlineTrace
import Foundation

/// The changes of one transaction, for the store's history.
struct HistoryChanges {
    /// An object, by its entity's index and its key.
    struct Key: Hashable {
        var entity: Int
        var key: Int64
    }

    private enum Change {
        case insertion
        /// The properties that were set, as indexes.
        case update(Set<Int>)
        /// The values that the history keeps of the object.
        case deletion([SQLValue])
    }

    /// The objects in the order of their first change.
    private var order: [Key] = []
    private var changes: [Key: Change] = [:]

    mutating func insert(_ key: Key) {
        if changes.updateValue(.insertion, forKey: key) == nil { order.append(key) }
    }

    /// Adds an update.
    ///
    /// An object that the transaction inserted stays an insertion.
    mutating func update(_ key: Key, _ properties: Set<Int>) {
        switch changes[key] {
        case nil:
            order.append(key)
            changes[key] = .update(properties)
        case .update(let others): changes[key] = .update(others.union(properties))
        case .insertion, .deletion: break
        }
    }

    mutating func delete(_ key: Key, _ values: [SQLValue] = []) {
        switch changes.updateValue(.deletion(values), forKey: key) {
        case nil: order.append(key)
        // The values were read before.
        case .deletion(let known) where values.isEmpty: changes[key] = .deletion(known)
        default: break
        }
    }
}

extension StoreTransaction {
    /// Writes changes to the history of the store, in the transaction that makes them.
    ///
    /// Costs four statements, and one for each changed object and each new name.
    mutating func record(
        _ changes: HistoryChanges, of history: StoreHistory, by author: HistoryAuthor
    ) throws(StoreError) {
        guard !changes.isEmpty else { return }
        let transaction = try reserve(1, HistoryTables.transaction, history)
        let names = [author.author, HistoryAuthor.bundleID, author.contextName, HistoryAuthor.processName]
        var keys: [SQLValue] = []
        for name in names { keys.append(try key(of: name, history)) }
        try run(
            "INSERT INTO ATRANSACTION(Z_PK, Z_ENT, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS, ZTIMESTAMP) VALUES(?, ?, ?, ?, ?, ?, ?)",
            [.integer(transaction), .integer(history.tables.numbers[HistoryTables.transaction]!)] + keys
                + [.real(Date().timeIntervalSinceReferenceDate)])
        var last = try reserve(changes.count, HistoryTables.change, history) - Int64(changes.count)
        let number = SQLValue.integer(history.tables.numbers[HistoryTables.change]!)
        for row in changes.rows(history, store.schema) {
            last += 1
            let marks = Array(repeating: "?", count: 7 + row.tombstones.count).joined(separator: ", ")
            let columns = row.tombstones.indices.map { ", " + HistoryTables.tombstoneColumn($0) }.joined()
            try run(
                "INSERT INTO ACHANGE(Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS\(columns)) VALUES(\(marks))",
                [
                    .integer(last), number, .integer(Int64(row.type.rawValue)), .integer(row.entity), .integer(row.key),
                    .integer(transaction), row.columns,
                ] + row.tombstones)
        }
    }

    /// Takes keys of a table, and returns the last of them.
    private mutating func reserve(
        _ count: Int, _ name: String, _ history: StoreHistory
    ) throws(StoreError) -> Int64 {
        let number = SQLValue.integer(history.tables.numbers[name]!)
        let last = try first("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [number]) ?? 0
        try run(
            "UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?", [.integer(last + Int64(count)), number])
        return last + Int64(count)
    }

    /// The key of a name, which is added if the store does not have it.
    private mutating func key(of name: String?, _ history: StoreHistory) throws(StoreError) -> SQLValue {
        guard let name else { return .null }
        if let known = history.key(of: name) { return .integer(known) }
        var key = try first("SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?", [.text(name)])
        if key == nil {
            let new = try reserve(1, HistoryTables.string, history)
            try run(
                "INSERT INTO ATRANSACTIONSTRING(Z_PK, Z_ENT, ZNAME) VALUES(?, ?, ?)",
                [.integer(new), .integer(history.tables.numbers[HistoryTables.string]!), .text(name)])
            key = new
        }
        history.remember(name, key!)
        return .integer(key!)
    }
}

extension HistoryChanges {
    fileprivate struct Row {
        var type: PersistentHistoryChange.ChangeType
        var entity: Int64
        var key: Int64
        var columns = SQLValue.null
        var tombstones: [SQLValue] = []
    }

    var isEmpty: Bool { order.isEmpty }
    fileprivate var count: Int { order.count }

    /// The rows of `ACHANGE`.
    fileprivate func rows(_ history: StoreHistory, _ schema: ModelSchema) -> [Row] {
        order.map { key in
            let entity = schema.entities[key.entity]
            switch changes[key]! {
            case .insertion: return Row(type: .insert, entity: entity.number, key: key.key)
            case .update(let properties):
                return Row(
                    type: .update, entity: entity.number, key: key.key,
                    columns: .blob(history.columns(properties, of: entity)))
            case .deletion(let values):
                return Row(type: .delete, entity: entity.number, key: key.key, tombstones: values)
            }
        }
    }
}

extension SaveExecution {
    /// The changes of the save, once all rows are written.
    func historyChanges(_ history: StoreHistory) -> HistoryChanges {
        func key(_ object: ManagedObject) -> HistoryChanges.Key {
            HistoryChanges.Key(entity: object.runtime.schema.index, key: object.finalKey)
        }
        func members(_ object: ManagedObject) -> Set<Int> {
            Set(object.toMany.filter { $0.value.hasChanges }.keys)
        }
        var found = HistoryChanges()
        for object in changes.inserted + changes.revived { found.insert(key(object)) }
        // Objects that were set to the values that they had wrote no row.
        for object in objects where !object.isInserted {
            found.update(key(object), object.changedProperties().union(members(object)))
        }
        for object in changes.regrouped { found.update(key(object), members(object)) }
        for object in changes.deleted {
            let kept = history.tombstones[object.runtime.schema.index]
            found.delete(key(object), kept.map { object.storedValue($0.index).map { SQLValue($0) } ?? .null })
        }
        return found
    }
}

extension ManagedObjectContext {
    /// The author of this context's transactions.
    var historyAuthor: HistoryAuthor {
        HistoryAuthor(author: transactionAuthor, contextName: isNamed ? name : nil)
    }
}
