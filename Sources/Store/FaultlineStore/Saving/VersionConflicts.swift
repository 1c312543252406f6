import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
import Foundation

/// Objects of a save that another writer has changed or deleted since they were read.
struct VersionConflicts {
    struct Conflict {
        var object: ManagedObject
        /// The row that is in the store now; `nil` if there is none.
        var row: RowPointer?
        /// The block that holds the row.
        var block: RowBlock?
    }

    private(set) var conflicts: [Conflict] = []

    /// Compares the objects that a save changes with the store.
    ///
    /// - Complexity: One lookup in the store for each object that the save changes.
    init(_ changes: ChangeSet, in store: SQLStore) throws(StoreError) {
        store.finishReading()
        let found = try store.writer.locked { () throws(StoreError) in
            var found: [Conflict] = []
            for object in changes.updated + changes.deleted {
                let conflict = try Self.look(for: object, in: store)
                if conflict.row?.header.pointee.version != object.row?.header.pointee.version { found.append(conflict) }
            }
            for object in changes.related where !found.contains(where: { $0.object === object }) {
                let conflict = try Self.look(for: object, in: store)
                if conflict.row == nil { found.append(conflict) }
            }
            return found
        }
        conflicts = found
    }

    private static func look(for object: ManagedObject, in store: SQLStore) throws(StoreError) -> Conflict {
        let loaded = try store.writer.loadRowAsEvent(
            object.runtime, key: object.key, origin: TraceOrigin(context: object.managedObjectContext.traceID))
        return Conflict(object: object, row: loaded?.row, block: loaded?.block)
    }

    var isEmpty: Bool { conflicts.isEmpty }

    /// The conflicts in their public form.
    func described() -> [MergeConflict] {
        conflicts.map { conflict in
            let object = conflict.object
            let persisted = conflict.row.flatMap { row in
                conflict.block.map { object.reader(of: row, $0) }
            }
            return MergeConflict(
                objectID: object.objectID, objectSnapshot: object.isDeleted ? nil : object.snapshot(),
                cachedSnapshot: object.storedSnapshot(), persistedSnapshot: persisted?.storedSnapshot(),
                oldVersionNumber: Int(object.row?.header.pointee.version ?? 0),
                newVersionNumber: Int(conflict.row?.header.pointee.version ?? 0))
        }
    }

    /// The error to throw under the policy ``MergePolicy/error``.
    func error(_ first: StoreError) -> StoreError {
        var error = first
        error.conflicts = described()
        if let lead = conflicts.first, conflicts.count > 1 {
            let others = conflicts.count == 2 ? "another object" : "\(conflicts.count - 1) other objects"
            error.message =
                "Saving \(lead.object.entityName) \(lead.object.objectID) and \(others): other writers changed or deleted them since they were read; refresh them and make the changes again."
            error.objectID = lead.object.objectID
        }
        return error
    }
}

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
