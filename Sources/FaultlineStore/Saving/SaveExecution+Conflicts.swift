import FaultlineModel
import FaultlineTrace
import Foundation

extension SaveExecution {
    /// Inserts a row that another writer deleted, with the same key, the values as read and the changes since.
    mutating func revive(_ object: ManagedObject) throws(StoreError) {
        let entity = object.runtime
        let statement = try store.writer.sqlite.statement(Self.insertText(entity))
        let version = (object.row?.header.pointee.version ?? 0) + 1
        let changed = Set(object.changedSlots())
        var written: [SQLValue] = []
        for slot in entity.schema.columns.indices {
            written.append(changed.contains(slot) ? try value(of: object, slot) : object.rowValue(slot))
        }
        try write(
            statement, [.integer(object.key), .integer(entity.schema.number), .integer(version)] + written, object)
        build(object, key: object.key, version: version, written: written, old: nil)
        span?.event.updated += 1
    }

    /// Performs the deletions, and clears unique values that are about to change, before other rows take them.
    ///
    /// SQLite checks each row as it is written (https://www.sqlite.org/lang_createtable.html#uniqueconst), and two
    /// objects may exchange their values.
    mutating func clearUniqueValues() throws(StoreError) {
        for object in changes.deleted { try delete(object) }
        for object in changes.updated {
            let entity = object.runtime
            let unique = Set(entity.schema.uniqueProperties(in: store.schema).flatMap(\.constraint))
            let columns = object.changedSlots().map { entity.schema.columns[$0] }.filter {
                unique.contains($0.property)
            }
            guard !columns.isEmpty, let row = object.row else { continue }
            let sets = columns.map { "\($0.name) = NULL" }.joined(separator: ", ")
            try step(
                "UPDATE \(entity.schema.table) SET \(sets) WHERE Z_PK = ? AND Z_OPT = ?",
                [.integer(object.key), .integer(row.header.pointee.version)])
        }
    }
}

extension ManagedObject {
    /// The row's value of a column, in the form that a statement binds.
    fileprivate func rowValue(_ slot: Int) -> SQLValue {
        guard let row, row.hasValue(slot: slot) else { return .null }
        let column = runtime.schema.columns[slot]
        let property = runtime.schema.properties[column.property]
        let offset = RowLayout.offset(ofSlot: slot)
        if property.isRelationship { return .integer(row.integer(at: offset)) }
        // For a value in a file, the column contains the file's name.
        if property.isExternal { return .blob(Data(row.bytes(at: offset))) }
        return storedValue(property.index).map { SQLValue($0) } ?? .null
    }
}
