import CSQLite
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
import Foundation

/// Runs a batch request in SQL.
///
/// Used under the store's lock. Removes the rows that it changes from the row cache.
struct BatchExecution: StoreTransaction {
    typealias Key = HistoryChanges.Key

    static let task = "Running a batch request"

    let store: SQLStore
    var span: SaveSpan?
    private var counts: [Int: TraceEvent.Save.Change] = [:]
    /// Rows to remove from the row cache after the commit.
    private var stale: Set<Key> = []
    var files: ExternalWrites
    private let resultType: BatchResultType
    private let author: HistoryAuthor
    /// The changes for the store's history; only filled if it has one.
    private var recorded = HistoryChanges()
    private let body: (inout BatchExecution) throws(StoreError) -> BatchResult
    /// The result so far.
    private(set) var result = BatchResult(count: 0, objectIDs: [])

    /// Creates the transaction.
    ///
    /// - Parameter body: Does the work.
    init(
        _ store: SQLStore, _ resultType: BatchResultType, _ span: SaveSpan?, _ author: HistoryAuthor,
        _ body: @escaping (inout BatchExecution) throws(StoreError) -> BatchResult
    ) {
        self.store = store
        self.resultType = resultType
        self.author = author
        files = ExternalWrites(store.external)
        self.body = body
        self.span = span
    }

    /// The event with the work so far; `nil` while not recording.
    var event: TraceEvent.Save? {
        var event = span?.event
        event?.entities = counts.sorted { $0.key < $1.key }.map(\.value)
        return event
    }

    mutating func write() throws(StoreError) {
        store.writer.endRead()
        try begin()
        do throws(StoreError) {
            result = try body(&self)
            if let history = store.history { try record(recorded, of: history, by: author) }
        } catch {
            rollBack()
            throw error
        }
    }

    mutating func finish() {
        files.finish()
        // First, so that a reader that started before the commit cannot bring back the removed rows.
        store.rows.advance()
        for row in stale { store.rows.remove(root: store.schema.entities[row.entity].root, key: row.key) }
        // The members of any relationship may have changed.
        for relationship in store.relationshipGenerations.indices { store.relationshipGenerations[relationship] &+= 1 }
    }

    // MARK: - Statements

    mutating func control(_ sql: String) throws(StoreError) { try run(sql) }

    /// Runs a statement on the rows whose keys are in `_Z_intarray0`.
    @discardableResult
    private mutating func run(
        _ sql: String, _ values: [SQLValue] = [], keys: [Int64]
    ) throws(StoreError) -> Int {
        try store.writer.sqlite.integerArray(0).bind(keys)
        return try run(sql, values)
    }

    /// The keys of the rows that a request selects, in its order.
    ///
    /// - Parameter doing: The operation, as the start of errors.
    mutating func keys(_ terms: FetchTerms, _ entity: EntityRuntime, doing: String) throws(StoreError) -> [Key] {
        let select = try SQLGenerator.statement(
            terms, .keys, entity: entity, model: store.schema, store: store.identity, doing: doing)
        return try keys(select, entity.schema)
    }

    private mutating func keys(_ select: SelectStatement, _ entity: EntitySchema) throws(StoreError) -> [Key] {
        var found: [Key] = []
        let schema = store.schema
        try read(select) { row in
            let position = entity.isInTree ? schema.position(ofNumber: sqlite3_column_int64(row, 0)) : entity.index
            found.append(Key(entity: position ?? entity.index, key: sqlite3_column_int64(row, 1)))
        }
        return found
    }

    /// Counts changed rows, which the row cache must not keep.
    ///
    /// - Parameter properties: Returns the properties that an update sets, as indexes. Only called for a store with history.
    mutating func observe(
        _ keys: [Key], _ path: WritableKeyPath<TraceEvent.Save.Change, UInt64>,
        setting properties: (Key) -> Set<Int> = { _ in [] }
    ) {
        stale.formUnion(keys)
        if store.history != nil {
            for key in keys {
                switch path {
                case \.inserted: recorded.insert(key)
                case \.deleted: recorded.delete(key)
                default: recorded.update(key, properties(key))
                }
            }
        }
        guard span != nil else { return }
        for (position, keys) in Dictionary(grouping: keys, by: \.entity) {
            let id = store.entities[position].traceID(store.recorder)
            counts[position, default: TraceEvent.Save.Change(entity: id)][keyPath: path] += UInt64(keys.count)
        }
    }

    func result(_ keys: [Key], count: Int) -> BatchResult {
        BatchResult(
            count: count,
            objectIDs: resultType != .objectIDs
                ? []
                : keys.map {
                    ManagedObjectID(store: store.identity, entity: store.schema.entities[$0.entity], key: $0.key)
                })
    }

    // MARK: - Updates

    mutating func update(
        _ keys: [Key], _ entity: EntityRuntime, _ request: BatchUpdateRequest
    ) throws(StoreError) -> BatchResult {
        let (sets, values) = try SQLGenerator.assignments(
            request.propertiesToUpdate, terms: request.terms, entity: entity, model: store.schema,
            store: store.identity)
        guard !keys.isEmpty else { return result([], count: 0) }
        try checkTables([entity.schema.table])
        let list = (sets + ["Z_OPT = Z_OPT + 1"]).joined(separator: ", ")
        try run(
            "UPDATE OR FAIL \(entity.schema.table) AS t0 SET \(list) WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)",
            values, keys: keys.map(\.key))
        span?.event.updated = UInt32(clamping: keys.count)
        let properties = Set(request.propertiesToUpdate.keys.compactMap { entity.schema.index(of: $0) })
        observe(keys, \.updated) { _ in properties }
        return result(keys, count: keys.count)
    }

    func checkTables(_ tables: [String]) throws(StoreError) {
        guard store.isForeign || store.hasUntrackedHistory else { return }
        if store.saveObstacles == nil { store.saveObstacles = try SaveObstacles(store) }
        try store.saveObstacles?.check(tables)
    }

    // MARK: - Deletions

    /// Deletes rows and applies their delete rules.
    mutating func delete(_ keys: [Key], _ entity: EntityRuntime) throws(StoreError) -> BatchResult {
        var deleted: [Key] = []
        var known: Set<Key> = []
        // Cascades are followed before their owners are deleted.
        var waiting = keys.filter { known.insert($0).inserted }
        while !waiting.isEmpty {
            deleted += waiting
            var next: [Key] = []
            for (position, keys) in Dictionary(grouping: waiting, by: \.entity).sorted(by: { $0.key < $1.key }) {
                for property in store.schema.entities[position].properties
                where property.isRelationship && !property.isTransient && property.deleteRule == .cascade {
                    next += try destinations(property, of: keys.map(\.key), store.schema.entities[position])
                }
            }
            waiting = next.filter { known.insert($0).inserted }
        }
        let groups = Dictionary(grouping: deleted, by: \.entity).sorted { $0.key < $1.key }
        try checkTables(groups.map { store.schema.entities[$0.key].table })
        for (position, keys) in groups {
            let schema = store.schema.entities[position]
            let list = keys.map(\.key)
            for property in schema.properties where property.isRelationship && !property.isTransient {
                try release(property, of: list, schema, known)
            }
            try collectFiles(schema, list)
            try collectTombstones(schema, list)
        }
        for (position, keys) in groups {
            try run(
                "DELETE FROM \(store.schema.entities[position].table) WHERE Z_PK IN (SELECT * FROM _Z_intarray0)",
                keys: keys.map(\.key))
        }
        span?.event.deleted = UInt32(clamping: deleted.count)
        observe(deleted, \.deleted)
        return result(deleted, count: keys.count)
    }

    /// The destinations of a relationship of several rows.
    private mutating func destinations(
        _ property: PropertySchema, of keys: [Int64], _ owner: EntitySchema
    ) throws(StoreError) -> [Key] {
        let destination = store.schema.entities[property.destination]
        let runtime = store.entities[property.destination]
        let from: String
        switch property.kind {
        case .attribute: return []
        case .toOne:
            from =
                "\(destination.table) t0 WHERE  t0.Z_PK IN (SELECT \(property.column) FROM \(owner.table) WHERE Z_PK IN (SELECT * FROM _Z_intarray0))"
        case .toMany:
            let column = store.schema.memberKey(of: property).column
            from = "\(destination.table) t0 WHERE  t0.\(column) IN (SELECT * FROM _Z_intarray0)"
        case .manyToMany:
            let join = property.joinTable!
            from =
                "\(destination.table) t0 WHERE  t0.Z_PK IN (SELECT \(join.destinationColumn) FROM \(join.table) WHERE \(join.sourceColumn) IN (SELECT * FROM _Z_intarray0))"
        }
        return try self.keys(
            SelectStatement(sql: "\(runtime.keySelection) FROM \(from)", arrays: [keys]),
            destination)
    }

    /// Removes references to rows that are about to be deleted, or throws if a delete rule denies the deletion.
    private mutating func release(
        _ property: PropertySchema, of keys: [Int64], _ owner: EntitySchema, _ deleted: Set<Key>
    ) throws(StoreError) {
        if property.deleteRule == .deny {
            let others = try destinations(property, of: keys, owner).filter { !deleted.contains($0) }
            guard others.isEmpty else {
                throw StoreError(
                    .deleteDenied,
                    "Deleting \(owner.name): the delete rule of '\(property.name)' denies the deletion while related objects exist (\(others.count)); delete those first."
                )
            }
        }
        if let join = property.joinTable {
            try checkTables([join.table])
            let change =
                join.isOfMembers
                ? "UPDATE \(join.table) SET \(join.sourceColumn) = NULL" : "DELETE FROM \(join.table)"
            try run("\(change) WHERE \(join.sourceColumn) IN (SELECT * FROM _Z_intarray0)", keys: keys)
            return
        }
        guard property.deleteRule == .nullify, let inverse = store.schema.inverse(of: property), inverse.kind == .toOne,
            !inverse.isTransient
        else { return }
        let destination = store.schema.entities[property.destination]
        let others = try self.keys(
            SelectStatement(
                sql:
                    "\(store.entities[property.destination].keySelection) FROM \(destination.table) t0 WHERE  t0.\(inverse.column) IN (SELECT * FROM _Z_intarray0)",
                values: [], arrays: [keys], lists: []), destination
        ).filter { !deleted.contains($0) }
        guard !others.isEmpty else { return }
        try checkTables([destination.table])
        var sets = ["\(inverse.column) = NULL"]
        if let column = inverse.entityColumn { sets.append("\(column) = NULL") }
        if let order = property.orderColumn { sets.append("\(order) = NULL") }
        try run(
            "UPDATE OR FAIL \(destination.table) SET \(sets.joined(separator: ", ")), Z_OPT = Z_OPT + 1 WHERE Z_PK IN (SELECT * FROM _Z_intarray0)",
            keys: others.map(\.key))
        span?.event.updated += UInt32(clamping: others.count)
        observe(others, \.updated) { _ in [inverse.index] }
    }

    /// Registers the files of large values that are deleted with their rows.
    private mutating func collectFiles(_ schema: EntitySchema, _ keys: [Int64]) throws(StoreError) {
        let columns = schema.columns.filter { schema.properties[$0.property].isExternal }.map(\.name)
        guard !columns.isEmpty else { return }
        let external = store.external
        var old: [URL] = []
        let sql =
            "SELECT \(columns.joined(separator: ", ")) FROM \(schema.table) WHERE Z_PK IN (SELECT * FROM _Z_intarray0)"
        try read(SelectStatement(sql: sql, arrays: [keys])) { row in
            for column in 0..<Int32(columns.count) {
                let bytes = UnsafeRawBufferPointer(
                    start: sqlite3_column_blob(row, column), count: Int(sqlite3_column_bytes(row, column)))
                if let file = external.file(bytes) { old.append(file) }
            }
        }
        for file in old { files.replace(file) }
    }

    /// Reads the values that the store's history keeps of rows that are about to be deleted.
    private mutating func collectTombstones(_ schema: EntitySchema, _ keys: [Int64]) throws(StoreError) {
        guard let history = store.history, !history.tombstones[schema.index].isEmpty else { return }
        let columns = history.tombstones[schema.index].map(\.column)
        var found: [(Int64, [SQLValue])] = []
        let sql =
            "SELECT Z_PK, \(columns.joined(separator: ", ")) FROM \(schema.table) WHERE Z_PK IN (SELECT * FROM _Z_intarray0)"
        try read(SelectStatement(sql: sql, arrays: [keys])) { row in
            found.append(
                (sqlite3_column_int64(row, 0), columns.indices.map { SQLValue(row, column: Int32($0 + 1)) }))
        }
        for (key, values) in found { recorded.delete(Key(entity: schema.index, key: key), values) }
    }
}
