import CSQLite
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
import Foundation

/// Writes a context's changes in two transactions: one reserves primary keys for new objects, the other writes rows.
///
/// Used under the store's lock. The context and the row cache do not change before the second commit, so a failed save
/// leaves them as they were; only rows that proved stale are removed from the row cache.
struct SaveExecution: StoreTransaction {
    static let task = "Saving"

    let store: SQLStore
    let changes: ChangeSet
    var span: SaveSpan?
    /// The objects whose members changed or moved, if the save is recorded.
    var rearranged: [ManagedObject] = []
    /// The inserted and updated objects; `rows` has their new rows.
    var objects: [ManagedObject] = []
    var rows: ContiguousArray<RowPointer> = []
    /// Rows that triggers changed, as they are in the store now, with the blocks that hold them.
    var refreshed: [(root: Int, row: RowPointer, blocks: [RowBlock])] = []
    /// Whether objects give up unique values before others take them.
    var clearsUniqueValues = false
    var builders: [Int: RowBuilder] = [:]
    /// Blocks with rows that another connection read into the row cache before this save published them.
    private var published: [RowBlock] = []
    /// Objects whose version was raised by an update of their columns; only filled if `changes.related` is not empty.
    private var versioned: Set<ManagedObject> = []
    /// The version of the metadata that was written, if any.
    var metadata: Int?
    /// Who saves, for the store's history.
    var author = HistoryAuthor()
    var files: ExternalWrites

    init(_ store: SQLStore, _ changes: ChangeSet, _ span: SaveSpan?) {
        self.store = store
        files = ExternalWrites(store.external)
        self.changes = changes
        self.span = span
    }

    mutating func write() throws(StoreError) {
        // Its COMMIT belongs to the reads before the save. It also comes by itself, when the burst has been idle.
        store.writer.endRead()
        try checkObstacles()
        _ = store.writer.sqlite.effects.take()
        try reserveKeys()
        try begin()
        do throws(StoreError) {
            if clearsUniqueValues { try clearUniqueValues() }
            for object in changes.revived { try revive(object) }
            try insert(changes.inserted)
            for object in changes.updated { try update(object) }
            for object in changes.related where !versioned.contains(object) { try touch(object) }
            for join in changes.joins { try write(join) }
            if !clearsUniqueValues { for object in changes.deleted { try delete(object) } }
            for order in changes.orders { try write(order) }
            countRearranged()
            try writeMetadata()
            if let history = store.history { try record(historyChanges(history), of: history, by: author) }
        } catch {
            rollBack()
            throw error
        }
    }

    mutating func finish() {
        files.finish()
        if let metadata { store.identity.withMetadata { $0.wasSaved(metadata) } }
        publish()
        refreshAffectedRows()
    }

    var origin: TraceOrigin { span.origin() }

    mutating func step(_ sql: String, _ values: [SQLValue] = [], isTimed: Bool = true) throws(StoreError) {
        span?.event.trips += 1
        try store.writer.session.run(sql, values, doing: Self.task, isTimed: isTimed, origin: origin)
    }

    mutating func control(_ sql: String) throws(StoreError) { try step(sql, isTimed: false) }

    // MARK: - Keys

    /// Only reserves keys, for objects that are not being saved.
    mutating func obtainKeys() throws(StoreError) {
        store.writer.endRead()
        try reserveKeys()
    }

    /// Assigns a key to every new object by raising `Z_MAX` of its tree's root entity.
    private mutating func reserveKeys() throws(StoreError) {
        // Objects may have obtained keys earlier, or in a previous attempt of this save.
        changes.inserted.forEachHeld { if $0.key > 0 { $0.pending!.newKey = $0.key } }
        var rest = changes.inserted.keeping { $0.key < 0 && $0.pending!.newKey == 0 }[...]
        guard !rest.isEmpty else { return }
        try begin()
        do throws(StoreError) {
            // The objects are sorted by entity, and the entities of a tree are adjacent.
            while let first = rest.first {
                let root = first.runtime.root
                let objects = rest.prefix { $0.runtime.root == root }
                try reserve(objects, root: store.schema.entities[root])
                rest = rest.dropFirst(objects.count)
            }
            try end()
        } catch {
            undo()
            throw error
        }
    }

    private mutating func reserve(_ objects: ArraySlice<ManagedObject>, root: EntitySchema) throws(StoreError) {
        var last: Int64 = 0
        let sql = "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?"
        let statement = try store.writer.sqlite.statement(sql)
        statement.bind(.integer(root.number), at: 1)
        store.log.statement(sql, [.integer(root.number)])
        try read(statement) { last = sqlite3_column_int64($0, 0) }
        span?.event.trips += 1
        let changed = try store.writer.session.run(
            "UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ? AND Z_MAX = ?",
            [.integer(last + Int64(objects.count)), .integer(root.number), .integer(last)], doing: Self.task,
            origin: origin)
        guard changed == 1 else {
            throw StoreError(
                .database,
                "Saving in '\(store.path)' failed because the table Z_PRIMARYKEY has no row for \(root.name); restore the store from a copy."
            )
        }
        objects.forEachHeld { object in
            last += 1
            object.pending!.newKey = last
        }
    }

    // MARK: - Rows

    private mutating func update(_ object: ManagedObject) throws(StoreError) {
        let entity = object.runtime
        let slots = object.changedSlots()
        guard !slots.isEmpty else {
            if object.hasSetValues { span?.event.unchanged += 1 }
            return
        }
        guard let old = object.row else { throw gone(object) }
        let version = old.header.pointee.version
        var written: [SQLValue] = []
        var values = [SQLValue?](repeating: nil, count: entity.schema.columns.count)
        for slot in slots {
            let value = try value(of: object, slot)
            values[slot] = value
            written.append(value)
            if let file = externalFile(object, slot) { files.replace(file) }
        }
        written += [.integer(version + 1), .integer(object.key), .integer(version)]
        try write(try updateStatement(entity, slots), written, object)
        guard store.writer.sqlite.changes == 1 else { throw conflict(object, version) }
        span?.event.updated += 1
        span?.event.changedColumns += UInt32(slots.count)
        build(object, key: object.key, version: version + 1, changed: values, old: old)
        if !changes.related.isEmpty { versioned.insert(object) }
    }

    /// Raises the version of an object to which others were added, but none of whose columns change.
    ///
    /// This detects that another writer deleted the object, and lets a writer that deletes it later detect the new
    /// members. Two writers that both add members to the object do not conflict.
    private mutating func touch(_ object: ManagedObject) throws(StoreError) {
        let entity = object.runtime
        let root = entity.schema.root
        let known = object.row.map { ($0, $0.block) } ?? store.rows.row(root: root, key: object.key)
        if let (row, block) = known, Int(row.header.pointee.entity) == entity.schema.index {
            let version = row.header.pointee.version
            try write(
                try updateStatement(entity, []), [.integer(version + 1), .integer(object.key), .integer(version)],
                object)
            if store.writer.sqlite.changes == 1 {
                span?.event.updated += 1
                return withExtendedLifetime(block) {
                    build(object, key: object.key, version: version + 1, old: row)
                }
            }
        }
        let statement = try store.writer.sqlite.statement(
            "UPDATE OR FAIL \(entity.schema.table) SET Z_OPT = Z_OPT + 1 WHERE Z_PK=?")
        try write(statement, [.integer(object.key)], object)
        guard store.writer.sqlite.changes == 1 else { throw gone(object) }
        span?.event.updated += 1
        store.rows.remove(root: root, key: object.key)
    }

    private func updateStatement(_ entity: EntityRuntime, _ slots: [Int]) throws(StoreError) -> SQLStatement {
        let shape = UpdateShape(entity: entity.schema.index, slots: slots)
        if let known = store.writer.updateStatements[shape] { return known }
        var sets = slots.map { "\(entity.schema.columns[$0].name) = ?" } + ["Z_OPT = ?"]
        // An object that moves to another owner has no order number there yet.
        for column in slots.map({ entity.schema.columns[$0] }) where !column.isEntityColumn {
            let property = entity.schema.properties[column.property]
            guard property.kind == .toOne, let inverse = store.schema.inverse(of: property) else { continue }
            if inverse.kind == .toMany, let order = inverse.orderColumn { sets.append("\(order) = NULL") }
        }
        let statement = try store.writer.sqlite.prepare(
            "UPDATE OR FAIL \(entity.schema.table) SET \(sets.joined(separator: ", ")) WHERE Z_PK=? AND Z_OPT=?")
        // Every set of columns is a shape, but most programs repeat a few.
        if store.writer.updateStatements.count >= 64 { store.writer.updateStatements.removeAll() }
        store.writer.updateStatements[shape] = statement
        return statement
    }

    mutating func delete(_ object: ManagedObject) throws(StoreError) {
        let entity = object.runtime
        guard let old = object.row else { throw gone(object) }
        for slot in entity.schema.columns.indices {
            if let file = externalFile(object, slot) { files.replace(file) }
        }
        let statement = try store.writer.sqlite.statement(
            "DELETE FROM \(entity.schema.table) WHERE Z_PK = ? AND Z_OPT = ?")
        let version = old.header.pointee.version
        try write(statement, [.integer(object.key), .integer(version)], object)
        guard store.writer.sqlite.changes == 1 else { throw conflict(object, version) }
        span?.event.deleted += 1
    }

    private mutating func write(_ join: ChangeSet.Join) throws(StoreError) {
        let table = join.table
        for end in [join.source, join.destination] where join.isAdded && end.flags.contains(.isDetached) {
            throw lost(end, join.source, join.name)
        }
        let sql =
            switch (join.isAdded, table.isOfMembers) {
            case (true, false):
                "INSERT OR REPLACE INTO \(table.table)(\(table.sourceColumn), \(table.destinationColumn)) VALUES (?, ?)"
            case (false, false):
                "DELETE FROM \(table.table) WHERE \(table.sourceColumn) = ? AND \(table.destinationColumn) = ?"
            case (true, true): "UPDATE \(table.table) SET \(table.sourceColumn) = ? WHERE Z_PK = ?"
            // The member may have another owner by now.
            case (false, true):
                "UPDATE \(table.table) SET \(table.sourceColumn) = NULL WHERE \(table.sourceColumn) = ? AND Z_PK = ?"
            }
        try step(sql, [.integer(join.source.finalKey), .integer(join.destination.finalKey)])
        if span != nil { rearranged.append(join.source) }
    }

    /// Counts the objects whose members changed or moved, but whose own rows were not written, as updated.
    private mutating func countRearranged() {
        guard let span, !rearranged.isEmpty else { return }
        var seen = Set(objects.map(ObjectIdentifier.init))
        rearranged.removeAll { $0.isInserted || $0.isDeleted || !seen.insert(ObjectIdentifier($0)).inserted }
        span.event.updated += UInt32(clamping: rearranged.count)
    }

    mutating func write(
        _ statement: SQLStatement, _ values: [SQLValue], _ object: ManagedObject
    ) throws(StoreError) {
        span?.event.trips += 1
        span?.writes(values)
        do {
            try store.writer.session.run(statement, values, doing: "Saving \(object.entityName)", origin: origin)
        } catch {
            var error = error
            error.objectID = object.objectID
            throw error
        }
    }

    // MARK: - Values

    /// The value to write to a column that was set.
    mutating func value(of object: ManagedObject, _ slot: Int) throws(StoreError) -> SQLValue {
        let column = object.runtime.schema.columns[slot]
        switch object.pending![column.property] {
        case .unchanged, .null: return .null
        // A reference to an object that is being deleted becomes NULL.
        case .object(let other) where other.isDeleted: return .null
        case .object(let other):
            guard !other.flags.contains(.isDetached) else {
                throw lost(other, object, object.runtime.schema.properties[column.property].name)
            }
            return .integer(column.isEntityColumn ? other.runtime.schema.number : other.finalKey)
        case .value(let value):
            let property = object.runtime.schema.properties[column.property]
            guard property.isExternal, case .binary(let data) = value else { return SQLValue(value) }
            return .blob(try files.column(data))
        }
    }

    private func externalFile(_ object: ManagedObject, _ slot: Int) -> URL? {
        let entity = object.runtime
        guard entity.schema.properties[entity.schema.columns[slot].property].isExternal, let row = object.row,
            row.hasValue(slot: slot)
        else { return nil }
        return store.external.file(row.bytes(at: RowLayout.offset(ofSlot: slot)))
    }

    // MARK: - Failures

    private mutating func conflict(_ object: ManagedObject, _ version: Int64) -> StoreError {
        span?.event.conflicts += 1
        store.rows.remove(root: object.runtime.schema.root, key: object.key)
        return StoreError(
            .conflict,
            "Saving \(object.entityName) \(object.objectID): another writer changed or deleted it since it was read (version \(version)); refresh it and make the change again.",
            objectID: object.objectID)
    }

    private mutating func gone(_ object: ManagedObject) -> StoreError {
        span?.event.conflicts += 1
        store.rows.remove(root: object.runtime.schema.root, key: object.key)
        return StoreError(
            .conflict,
            "Saving \(object.entityName) \(object.objectID): another writer deleted it; release it and everything that refers to it.",
            objectID: object.objectID)
    }

    private func lost(_ other: ManagedObject, _ object: ManagedObject, _ name: String) -> StoreError {
        StoreError(
            .validation,
            "Saving \(object.entityName) \(object.objectID): '\(name)' refers to a \(other.entityName) that is no longer in its context, because it was deleted, rolled back or reset; set it to an object that exists.",
            objectID: object.objectID)
    }

    // MARK: - The row cache

    /// Builds the row as it is in the store now, from the written values and the old row.
    mutating func build(
        _ object: ManagedObject, key: Int64, version: Int64, written: [SQLValue] = [], changed: [SQLValue?] = [],
        old: RowPointer?
    ) {
        let entity = object.runtime
        let root = entity.schema.root
        var builder = takeBuilder(root)
        builder.begin(entity.layout, key: key, version: version, entity: entity.schema.index)
        for slot in entity.schema.columns.indices {
            guard let old else {
                builder.set(entity.layout, slot: slot, written[slot])
                continue
            }
            if !changed.isEmpty, let value = changed[slot] {
                builder.set(entity.layout, slot: slot, value)
            } else if old.hasValue(slot: slot) {
                builder.copy(entity.layout, slot: slot, from: old)
            }
        }
        objects.append(object)
        rows.append(builder.finish())
        builders[root] = builder
    }

    mutating func takeBuilder(_ root: Int) -> RowBuilder {
        builders.removeValue(forKey: root)
            ?? RowBuilder(
                root: root, cache: store.rows,
                blockSize: changes.inserted.count + changes.updated.count + changes.related.count > 8 ? 64 << 10 : 1024)
    }

    /// Publishes the new rows to other contexts.
    private mutating func publish() {
        // First, so that a reader that started before the commit cannot bring back the removed rows.
        store.rows.advance()
        for object in changes.deleted { store.rows.remove(root: object.runtime.schema.root, key: object.key) }
        for (root, builder) in builders {
            // Another connection may have read one of the rows since the commit.
            if builders.count == 1 {
                published += store.rows.insert(&rows, builder.blocks).held
                continue
            }
            let positions = rows.indices.filter { rows[$0].block.root == root }
            var written = ContiguousArray(positions.map { rows[$0] })
            let (hits, held) = store.rows.insert(&written, builder.blocks)
            guard hits > 0 else { continue }
            published += held
            for (position, row) in zip(positions, written) { rows[position] = row }
        }
        for relationship in changes.relationships { store.relationshipGenerations[relationship] &+= 1 }
    }
}

/// The columns that an UPDATE writes.
struct UpdateShape: Hashable {
    var entity: Int
    var slots: [Int]
}

extension RowBuilder {
    mutating func set(_ layout: RowLayout, slot: Int, _ value: SQLValue) {
        let storage = layout.columns[slot].storage
        switch value {
        case .null: break
        case .integer(let value) where storage == .decimal: set(slot: slot, text: String(value))
        case .real(let value) where storage == .decimal: set(slot: slot, text: String(format: "%.15g", value))
        case .integer(let value): set(slot: slot, integer: value)
        case .real(let value): set(slot: slot, real: value)
        case .text(let value): set(slot: slot, text: value)
        case .blob(let value): value.withUnsafeBytes { set(slot: slot, bytes: $0.baseAddress, count: $0.count) }
        }
    }

    /// Sets a property's unsaved value directly, if the row stores it as ``SQLValue`` does.
    ///
    /// - Returns: Whether it was set.
    @inline(__always)
    mutating func set(slot: Int, _ position: UnsafePointer<PendingValue>) -> Bool {
        switch position.pointee {
        case .unchanged, .null: break
        case .value(.integer(let value)): set(slot: slot, integer: value)
        case .value(.boolean(let value)): set(slot: slot, integer: value ? 1 : 0)
        case .value(.double(let value)): if let kept = SQLValue.kept(value) { set(slot: slot, real: kept) }
        case .value(.date(let value)):
            if let kept = SQLValue.kept(value.timeIntervalSinceReferenceDate) { set(slot: slot, real: kept) }
        case .value(.string(let value)): set(slot: slot, text: value)
        case .value, .object: return false
        }
        return true
    }

    private mutating func set(slot: Int, text: String) {
        // Avoids the copy that making a string contiguous would need.
        let isSet: Void? = text.utf8.withContiguousStorageIfAvailable {
            set(slot: slot, bytes: $0.baseAddress, count: $0.count)
        }
        if isSet == nil { Array(text.utf8).withUnsafeBytes { set(slot: slot, bytes: $0.baseAddress, count: $0.count) } }
    }

    mutating func copy(_ layout: RowLayout, slot: Int, from old: RowPointer) {
        let offset = RowLayout.offset(ofSlot: slot)
        switch layout.columns[slot].storage {
        case .integer: set(slot: slot, integer: old.integer(at: offset))
        case .real: set(slot: slot, real: old.real(at: offset))
        case .text, .blob, .decimal:
            let bytes = old.bytes(at: offset)
            set(slot: slot, bytes: bytes.baseAddress, count: bytes.count)
        }
    }
}
