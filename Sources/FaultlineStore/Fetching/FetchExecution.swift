import CSQLite
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

/// What a fetch request found.
struct FetchedRows {
    var keys: ContiguousArray<Int64> = []
    /// Places of entities; empty where all are of one entity.
    var entities: ContiguousArray<Int32> = []
    /// Empty unless the rows were read along.
    var rows: ContiguousArray<RowPointer> = []
    var blocks: [RowBlock] = []
    var prefetched: PrefetchedObjects?
    /// What the rows have; `nil`: everything.
    var partial: PartialSelection?
    /// Whether unsaved changes take part: then ``keys`` are those of the result, and ``rows`` only what was read for it.
    var isMerged = false
    /// Where unsaved changes take part: the objects by place, all of them or, where rows come in batches, those that
    /// have changes.
    var known: ContiguousArray<ManagedObject?> = []
    /// Where several stores have been asked: each of them, and by place which one the row comes from.
    var sources: [FetchSource] = []
    var sourceNumbers: ContiguousArray<UInt16> = []
    /// Of one of several stores: what each place is sorted by.
    var sortKeys: [[SQLValue]] = []
    var dictionaries: [[String: AttributeValue]] = []
    var count = 0
    var fetch: EventID = 0
    var shape: DictionaryID = 0
}

/// Runs a fetch request: one SELECT, and one more for every relationship that is prefetched.
struct FetchExecution {
    let store: SQLStore
    let context: ManagedObjectContext
    let terms: FetchTerms
    let entity: EntityRuntime
    let resultType: TraceEvent.Fetch.ResultType
    let site: (fileID: StaticString, line: UInt, function: StaticString)
    /// Whether rows are read although only identities are asked for.
    var warmsRowCache = false
    /// The stores that are asked as well.
    var otherStores: [SQLStore] = []
    /// Whether this asks one of several stores, so that what was found is part of a whole.
    var isPart = false

    func run() throws(StoreError) -> FetchedRows {
        let recorder = store.recorder
        guard let open = recorder.begin() else {
            var detail = TraceEvent.Fetch()
            return try executeAll(&detail, isRecording: false, origin: TraceOrigin()).0
        }
        let origin = TraceOrigin(
            context: context.traceID,
            site: recorder.site(fileID: site.fileID, line: site.line, function: site.function))
        var detail = TraceEvent.Fetch()
        do {
            var (found, record) = try executeAll(&detail, isRecording: true, origin: origin)
            found.fetch = open.id
            found.shape = detail.shape
            recorder.end(open, detail, statement: record, context: origin.context, site: origin.site)
            return found
        } catch {
            detail.error = UInt32(bitPattern: error.sqliteCode == 0 ? SQLITE_ERROR : error.sqliteCode)
            recorder.end(open, detail, context: origin.context, site: origin.site)
            throw error
        }
    }

    @inline(__always)
    private func executeAll(
        _ detail: inout TraceEvent.Fetch, isRecording: Bool, origin: TraceOrigin
    ) throws(StoreError) -> (FetchedRows, StatementRecord?) {
        guard otherStores.isEmpty else {
            return (try executeEverywhere(&detail, isRecording: isRecording, origin: origin), nil)
        }
        return try execute(&detail, isRecording: isRecording, origin: origin)
    }

    private var form: SQLGenerator.Form {
        switch resultType {
        case .count: .count
        case .objectIDs: warmsRowCache ? .rows : .keys
        case .dictionaries: .expressions
        case .objects: terms.batchSize > 0 || !terms.includesPropertyValues ? .keys : .rows
        }
    }

    // A call would copy the request, which costs more than the text of the function.
    @inline(__always)
    func execute(
        _ detail: inout TraceEvent.Fetch, isRecording: Bool, origin: TraceOrigin
    ) throws(StoreError) -> (FetchedRows, StatementRecord?) {
        let clock = isRecording || store.log.isOn
        let begin = clock ? store.recorder.now() : 0
        let form = form
        let pending = form == .expressions ? nil : PendingObjects(context, terms, entity)
        let timesPending = pending != nil && isRecording
        if timesPending { detail.pending = store.recorder.now() - begin }
        let sortKeys = (pending == nil && !isPart) || form == .count ? 0 : terms.sortDescriptors.count
        var found = FetchedRows()
        if resultType == .objects, !terms.expressions.isEmpty, terms.includesPropertyValues {
            found.partial = try PartialSelection(
                terms.expressions, prefetch: terms.prefetch, of: entity, in: store.schema)
        }
        let select = try SQLGenerator.statement(
            pending?.widened(counting: form == .count) ?? terms, form, entity: entity, model: store.schema,
            store: store.identity, hiding: pending?.hidden ?? [], selectsSortKeys: sortKeys > 0,
            partial: found.partial)
        if isRecording { describe(&detail, select) }
        // Reading may need the store, so that this comes before it is locked.
        let compared = timesPending ? store.recorder.now() : 0
        let matches = pending?.matches() ?? []
        if let pending, timesPending {
            detail.pending += store.recorder.now() - compared
            detail.pendingObjects = UInt32(clamping: pending.comparedCount)
        }
        var record: StatementRecord?
        var times = (prepared: UInt64(0), locked: UInt64(0))
        var run = StatementRun()
        var foundKeys: [[SQLValue]] = []
        let asked = clock ? store.recorder.now() : 0
        try context.pool(of: store).read(for: origin) { connection throws(StoreError) in
            times.locked = isRecording ? store.recorder.now() : 0
            try connection.beginRead()
            let statement = try connection.bind(select)
            times.prepared = isRecording ? store.recorder.now() : 0
            store.log.statement(select.sql, select.values, arrays: select.arrays.count)
            let open = isPart ? store.recorder.begin() : nil
            do throws(StoreError) {
                (run, foundKeys) = try read(
                    form, statement, select, sortKeys, from: connection, &found, &detail, isRecording)
            } catch {
                if let open { store.recorder.cancel(open) }
                throw error
            }
            record = run.record
            if let open {
                if let record {
                    store.recorder.end(open, record.fields, context: origin.context, site: origin.site)
                } else {
                    store.recorder.cancel(open)
                }
            }
            if form != .count, store.log.isOn { store.log.connectionTime(run.duration) }
            detail.trips = 1
            if form == .rows, !terms.prefetch.isEmpty, !found.rows.isEmpty {
                let prefetch = try Prefetch(
                    terms.prefetch, from: found.rows, entity, connection, origin: origin, isRecording: isRecording)
                detail.trips += UInt32(clamping: prefetch.trips)
                detail.prefetchedRows = UInt32(clamping: prefetch.rows)
                detail.prefetchedBytes = prefetch.bytes
                detail.prefetches = prefetch.paths
                found.prefetched = prefetch.objects
            }
            if store.log.level >= 2, form != .count {
                store.log.returned(statement, entity: entity.schema.name, rows: run.rows) { values(found, select) }
            }
        }
        if form != .count { found.count = run.rows }
        if let pending {
            if form == .count {
                found.count = pending.count(found.count, matches.count)
            } else {
                merge(pending.merge(matches, count: run.rows, keys: foundKeys), foundKeys, into: &found)
            }
        } else {
            found.sortKeys = foundKeys
        }
        if store.log.isOn { logTotal(found, store.recorder.now() - begin, select.sql) }
        if isRecording {
            detail.rows = UInt32(clamping: found.count)
            detail.wait = times.locked - asked
            detail.prepare = times.prepared - times.locked
            detail.step = record?.duration ?? 0
            let total = store.recorder.now() - begin
            detail.materialise = total - min(total, detail.wait + detail.prepare + detail.step + detail.pending)
            detail.bytes =
                switch form {
                case .rows: store.bytes(of: found.rows)
                case .keys, .count: UInt64(found.keys.count * 8)
                case .expressions: found.dictionaries.reduce(0) { $0 + Self.bytes($1) }
                }
        }
        return (found, record)
    }

    /// Runs the statement.
    @inline(__always)
    private func read(
        _ form: SQLGenerator.Form, _ statement: SQLStatement, _ select: SelectStatement, _ sortKeys: Int,
        from connection: StoreConnection, _ found: inout FetchedRows, _ detail: inout TraceEvent.Fetch, _ isRecording: Bool
    ) throws(StoreError) -> (StatementRun, [[SQLValue]]) {
        switch form {
        case .count:
            let run = try connection.session.read(
                statement, doing: "Counting \(entity.schema.name)", isRecording: isRecording, measuresPages: true
            ) { found.count = Int(sqlite3_column_int64($0, 0)) }
            return (run, [])
        case .expressions:
            var keys: [[SQLValue]] = []
            let run = try connection.session.read(
                statement, doing: "Reading \(entity.schema.name)", isRecording: isRecording, measuresPages: true
            ) { row in
                found.dictionaries.append(Self.dictionary(row, select.columns))
                if sortKeys > 0 { keys.append(select.sortColumns.map { SQLValue(row, column: $0) }) }
            }
            return (run, keys)
        case .keys:
            let loaded = try connection.loadKeys(statement, entity, isRecording: isRecording, sortKeys: sortKeys)
            (found.keys, found.entities) = (loaded.keys, loaded.entities)
            return (loaded.run, loaded.sortKeys)
        case .rows:
            let loaded = try connection.loadRows(
                statement, entity, isRecording: isRecording, sortKeys: sortKeys, partial: found.partial)
            (found.rows, found.blocks) = (loaded.rows, loaded.blocks)
            detail.cacheHits = UInt32(clamping: loaded.cacheHits)
            detail.cacheMisses = UInt32(clamping: loaded.rows.count - loaded.cacheHits)
            return (loaded.run, loaded.sortKeys)
        }
    }

    // MARK: Unsaved changes

    /// Brings what was found into places among objects with unsaved changes.
    private func merge(_ places: [PendingObjects.Place], _ keys: [[SQLValue]], into found: inout FetchedRows) {
        let isTree = entity.schema.isInTree
        var merged = found
        merged.isMerged = true
        merged.keys = []
        merged.entities = []
        for place in places {
            let key: Int64
            var index = entity.schema.index
            switch place {
            case .object(let object, let keys):
                if isPart { merged.sortKeys.append(keys) }
                merged.known.append(object)
                (key, index) = (object.key, object.runtime.schema.index)
            case .row(let row) where found.rows.isEmpty:
                merged.known.append(nil)
                key = found.keys[row]
                if isTree { index = Int(found.entities[row]) }
                if isPart { merged.sortKeys.append(keys.isEmpty ? [] : keys[row]) }
            case .row(let row):
                let object = context.object(found.rows[row], besides: entity, found.partial)
                if isPart { merged.sortKeys.append(keys.isEmpty ? [] : keys[row]) }
                if let prefetched = found.prefetched { object.prefetched = prefetched }
                merged.known.append(object)
                (key, index) = (object.key, object.runtime.schema.index)
            }
            merged.keys.append(key)
            if isTree { merged.entities.append(Int32(index)) }
        }
        merged.count = places.count
        found = merged
    }

    // MARK: Dictionaries

    private static func dictionary(_ row: OpaquePointer, _ columns: [ExpressionColumn]) -> [String: AttributeValue] {
        var values: [String: AttributeValue] = [:]
        for (place, column) in columns.enumerated() { values[column.name] = column.value(row, Int32(place)) }
        return values
    }

    private static func bytes(_ dictionary: [String: AttributeValue]) -> UInt64 {
        dictionary.values.reduce(0) { $0 + UInt64(SQLValue($1).byteCount) }
    }

    // MARK: The trace and the log

    private func describe(_ detail: inout TraceEvent.Fetch, _ select: SelectStatement) {
        detail.entity = entity.traceID(store.recorder)
        detail.resultType = resultType
        detail.limit = UInt32(clamping: terms.limit)
        detail.offset = UInt32(clamping: terms.offset)
        detail.batchSize = UInt32(clamping: terms.batchSize)
        let shape = ShapeEntry(
            entity: entity.schema.name, predicate: terms.predicate?.shape ?? "",
            sort: terms.sortDescriptors.map(\.text), prefetch: terms.prefetch, isLimited: terms.limit > 0,
            resultType: "\(resultType)",
            expressions: resultType == .dictionaries || resultType == .objects && !terms.expressions.isEmpty
                ? terms.expressions.map { $0.expression.node.text(values: false) } : nil,
            groups: terms.groups.isEmpty ? nil : terms.groups, having: terms.having?.shape,
            terms: terms.predicate?.terms { keyPath in
                store.schema.property(keyPath, of: entity.schema)?.canonicalColumn != nil
            } ?? [],
            includesPropertyValues: resultType == .objects && !terms.includesPropertyValues ? false : nil)
        detail.shape = store.shapes.number(of: shape, in: store.recorder)
        if ValueNumbers.areWanted { detail.values = store.values.number(of: terms.predicate, in: store.recorder) }
        detail.operands = terms.predicate?.operandHashes { store.recorder.hash($0) } ?? []
        var bytes: [UInt8] = []
        for value in select.values { value.append(to: &bytes) }
        for keys in select.arrays { for key in keys { SQLValue.integer(key).append(to: &bytes) } }
        for list in select.lists { for value in list { value.append(to: &bytes) } }
        detail.parameters = bytes.withUnsafeBytes { store.recorder.hash($0) }
    }

    /// What was found, as the log prints it.
    private func values(_ found: FetchedRows, _ select: SelectStatement) -> [String] {
        guard resultType != .dictionaries else {
            return found.dictionaries.map { dictionary in
                let lines = select.columns.compactMap { column in
                    dictionary[column.name].map { "    \(column.name) = \(SQLValue($0).debugText);\n" }
                }
                return "{\n\(lines.joined())}"
            }
        }
        let ids = found.objectIDs(entity)
        return ids.map { "\"<\(entity.schema.name): (entity: \($0.entityName); id: \($0); data: <fault>)\"" }
    }

    private func logTotal(_ found: FetchedRows, _ nanoseconds: UInt64, _ sql: String) {
        if resultType == .count {
            if store.log.level >= 3 {
                let predicate = terms.predicate.map { "(\($0))" } ?? "(null)"
                store.log.print(
                    .annotation,
                    "count request <NSFetchRequest: 0x0> (entity: \(entity.schema.name); predicate: \(predicate); sortDescriptors: ((null)); type: NSCountResultType;) returned \(found.count)"
                )
            }
            store.log.print(
                .annotation,
                "total count request execution time: \(SQLDebugLog.seconds(nanoseconds)) for count of \(found.count).")
        } else {
            store.log.totalTime(nanoseconds, rows: found.count)
        }
        context.logPlan(sql, context.pool(of: store))
    }
}

extension FetchedRows {
    func objectIDs(_ entity: EntityRuntime) -> [ManagedObjectID] {
        let store = entity.store
        if !isMerged, !rows.isEmpty {
            return rows.map { row in
                let schema = store.schema.entities[Int(row.header.pointee.entity)]
                return ManagedObjectID(store: store.identity, entity: schema, key: row.key)
            }
        }
        return keys.indices.map { place in
            let source = sources.isEmpty ? entity : sources[Int(sourceNumbers[place])].entity
            let store = source.store
            let schema = entities.isEmpty ? source.schema : store.schema.entities[Int(entities[place])]
            return ManagedObjectID(store: store.identity, entity: schema, key: keys[place])
        }
    }
}
