import CSQLite
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

/// Runs a fetch request: one SELECT, and another for each prefetched relationship.
///
/// A class, because the closures of a fetch would otherwise each copy the request.
final class FetchExecution {
    let store: SQLStore
    let context: ManagedObjectContext
    let terms: FetchTerms
    let entity: EntityRuntime
    let resultType: TraceEvent.Fetch.ResultType
    let site: CallerSite
    /// Whether rows are read although the request only returns IDs.
    var warmsRowCache = false
    /// The other stores to fetch from.
    var otherStores: [SQLStore] = []
    /// Whether this fetches from one of several stores, whose results are merged.
    var isPart = false

    init(
        store: SQLStore, context: ManagedObjectContext, terms: FetchTerms, entity: EntityRuntime,
        resultType: TraceEvent.Fetch.ResultType, site: CallerSite
    ) {
        self.store = store
        self.context = context
        self.terms = terms
        self.entity = entity
        self.resultType = resultType
        self.site = site
    }

    func run() throws(StoreError) -> FetchedRows {
        let span = store.recorder.begin().map { FetchSpan($0, store.recorder, context.origin(at: site)) }
        guard span != nil else { return try executeAll(span) }
        do {
            var found = try executeAll(span)
            if let span { (found.fetch, found.shape) = (span.id, span.event.shape) }
            span?.end()
            return found
        } catch {
            span?.end(error)
            throw error
        }
    }

    private func executeAll(_ span: FetchSpan?) throws(StoreError) -> FetchedRows {
        guard otherStores.isEmpty else { return try executeEverywhere(span) }
        return try execute(span)
    }

    var form: SQLGenerator.Form {
        switch resultType {
        case .count: .count
        case .objectIDs: warmsRowCache ? .rows : .keys
        case .dictionaries: .expressions
        case .objects: terms.batchSize > 0 || !terms.includesPropertyValues ? .keys : .rows
        }
    }

    func execute(_ span: FetchSpan?) throws(StoreError) -> FetchedRows {
        let start = span != nil || store.log.isOn ? store.recorder.now() : 0
        let form = form
        span?.restart()
        let pending = form == .expressions ? nil : PendingObjects(context, terms, entity)
        if pending != nil { span?.didCompare() }
        let sortKeys = (pending == nil && !isPart) || form == .count ? 0 : terms.sortDescriptors.count
        var found = FetchedRows()
        found.partial = try partialSelection()
        let select = try SQLGenerator.statement(
            pending?.widened(counting: form == .count) ?? terms, form, entity: entity, model: store.schema,
            store: store.identity, hiding: pending?.hidden ?? [], selectsSortKeys: sortKeys > 0,
            partial: found.partial)
        span?.describe { describe(&$0, select) }
        span?.restart()
        // Evaluating predicates may read from the store, so it comes before taking the connection.
        var matches = pending?.matches() ?? []
        if let pending { span?.didCompare(pending.comparedCount) }
        span?.restart()
        let (run, keys) = try context.pool(of: store).read(for: span.origin()) { connection throws(StoreError) in
            span?.didLock()
            return try read(form, select, sortKeys, on: connection, &found, span)
        }
        if form != .count {
            found.count = run.rows
            if context.parent != nil { matches = unsaved(matches, besides: found) }
        }
        if let pending {
            if form == .count {
                found.count = pending.count(found.count, matches.count)
            } else {
                merge(pending.merge(matches, count: run.rows, keys: keys), keys, into: &found)
            }
        } else {
            found.sortKeys = keys
        }
        if store.log.isOn { logTotal(found, store.recorder.now() - start, select.sql) }
        span?.finish(rows: found.count, bytes: bytes(of: found, form), since: start)
        return found
    }

    /// The columns of partial objects; `nil` for all.
    func partialSelection() throws(StoreError) -> PartialSelection? {
        guard resultType == .objects, !terms.expressions.isEmpty, terms.includesPropertyValues else { return nil }
        return try PartialSelection(terms.expressions, prefetch: terms.prefetch, of: entity, in: store.schema)
    }

    /// Leaves out objects that an ancestor had inserted and saved before the statement ran, because the statement returned
    /// them as well.
    private func unsaved(
        _ matches: [(object: ManagedObject, keys: [SQLValue])], besides found: FetchedRows
    ) -> [(object: ManagedObject, keys: [SQLValue])] {
        guard matches.contains(where: { $0.object.key < 0 }) else { return matches }
        context.awaitAncestors()
        let keys = found.rows.isEmpty ? Set(found.keys) : Set(found.rows.map(\.key))
        return matches.filter { !keys.contains($0.object.key) }
    }

    /// Reads the rows, and prefetches relationships.
    @inline(__always)
    func read(
        _ form: SQLGenerator.Form, _ select: SelectStatement, _ sortKeys: Int, on connection: StoreConnection,
        _ found: inout FetchedRows, _ span: FetchSpan?
    ) throws(StoreError) -> (StatementRun, [[SQLValue]]) {
        let log = store.log
        try connection.beginRead()
        let statement = try connection.bind(select)
        log.request(form == .count ? "count" : "fetch", site)
        log.statement(select.sql, select.values, arrays: select.arrays.count)
        let (run, keys) = try connection.session.asEvent(if: isPart, statement, origin: span.origin()) {
            (run) throws(StoreError) in
            let result = try step(form, statement, select, sortKeys, on: connection, &found, span)
            run = result.0
            return result
        }
        span?.didRun(run)
        span?.event.trips = 1
        if form != .count, log.isOn { log.connectionTime(run.duration) }
        if form == .rows, !terms.prefetch.isEmpty, !found.rows.isEmpty {
            let prefetch = try Prefetch(terms.prefetch, from: found.rows, entity, connection, origin: span.origin())
            found.prefetched = prefetch.objects
            span?.update {
                $0.trips += UInt32(clamping: prefetch.trips)
                $0.prefetchedRows = UInt32(clamping: prefetch.rows)
                $0.prefetchedBytes = prefetch.bytes
                $0.prefetches = prefetch.paths
            }
        }
        if log.level >= 2, form != .count {
            log.returned(statement, entity: entity.schema.name, rows: run.rows) { values(found, select) }
        }
        return (run, keys)
    }

    /// Runs the statement.
    @inline(__always)
    private func step(
        _ form: SQLGenerator.Form, _ statement: SQLStatement, _ select: SelectStatement, _ sortKeys: Int,
        on connection: StoreConnection, _ found: inout FetchedRows, _ span: FetchSpan?
    ) throws(StoreError) -> (StatementRun, [[SQLValue]]) {
        switch form {
        case .count:
            let run = try connection.session.read(
                statement, doing: "Counting \(entity.schema.name)", measuresPages: true
            ) { found.count = Int(sqlite3_column_int64($0, 0)) }
            return (run, [])
        case .expressions:
            var keys: [[SQLValue]] = []
            let run = try connection.session.read(
                statement, doing: "Reading \(entity.schema.name)", measuresPages: true
            ) { row in
                found.dictionaries.append(Self.dictionary(row, select.columns))
                if sortKeys > 0 { keys.append(select.sortColumns.map { SQLValue(row, column: $0) }) }
            }
            return (run, keys)
        case .keys:
            let loaded = try connection.loadKeys(statement, entity, sortKeys: sortKeys)
            (found.keys, found.entities) = (loaded.keys, loaded.entities)
            return (loaded.run, loaded.sortKeys)
        case .rows:
            let loaded = try connection.loadRows(statement, entity, sortKeys: sortKeys, partial: found.partial)
            (found.rows, found.blocks) = (loaded.rows, loaded.blocks)
            span?.event.cacheHits = UInt32(clamping: loaded.cacheHits)
            span?.event.cacheMisses = UInt32(clamping: loaded.rows.count - loaded.cacheHits)
            return (loaded.run, loaded.sortKeys)
        }
    }

    /// The bytes of the column values that were read.
    func bytes(of found: FetchedRows, _ form: SQLGenerator.Form) -> UInt64 {
        switch form {
        case .rows: store.bytes(of: found.rows)
        case .keys, .count: UInt64(found.keys.count * 8)
        case .expressions: found.dictionaries.reduce(0) { $0 + Self.bytes($1) }
        }
    }

    // MARK: - Unsaved changes

    /// Merges the rows with the objects that have unsaved changes.
    func merge(_ positions: [PendingObjects.Position], _ keys: [[SQLValue]], into found: inout FetchedRows) {
        let isTree = entity.schema.isInTree
        var merged = found
        merged.isMerged = true
        merged.keys = []
        merged.entities = []
        for position in positions {
            let key: Int64
            var index = entity.schema.index
            switch position {
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
        merged.count = positions.count
        found = merged
    }

    // MARK: - Dictionaries

    private static func dictionary(_ row: OpaquePointer, _ columns: [ExpressionColumn]) -> [String: AttributeValue] {
        var values: [String: AttributeValue] = [:]
        for (position, column) in columns.enumerated() { values[column.name] = column.value(row, Int32(position)) }
        return values
    }

    private static func bytes(_ dictionary: [String: AttributeValue]) -> UInt64 {
        dictionary.values.reduce(0) { $0 + UInt64(SQLValue($1).byteCount) }
    }

    // MARK: - The trace and the log

    func describe(_ detail: inout TraceEvent.Fetch, _ select: SelectStatement) {
        detail.entity = entity.traceID(store.recorder)
        detail.resultType = resultType
        detail.limit = UInt32(clamping: terms.limit)
        detail.offset = UInt32(clamping: terms.offset)
        detail.batchSize = UInt32(clamping: terms.batchSize)
        let expressions =
            resultType == .dictionaries || resultType == .objects && !terms.expressions.isEmpty
            ? terms.expressions.map { $0.expression.node.text(values: false) } : nil
        let key = ShapeNumbers.Key(
            sql: select.sql, entity: entity.position, resultType: resultType, prefetch: terms.prefetch,
            expressions: expressions, includesPropertyValues: terms.includesPropertyValues,
            isLimited: terms.limit > 0)
        detail.shape = store.shapes.number(for: key, in: store.recorder) { shape(expressions) }
        if ValueNumbers.areWanted { detail.values = store.values.number(of: terms.predicate, in: store.recorder) }
        detail.operands = terms.predicate?.operandHashes { store.recorder.hash($0) } ?? []
        var bytes: [UInt8] = []
        for value in select.values { value.append(to: &bytes) }
        for keys in select.arrays { for key in keys { SQLValue.integer(key).append(to: &bytes) } }
        for list in select.lists { for value in list { value.append(to: &bytes) } }
        detail.parameters = bytes.withUnsafeBytes { store.recorder.hash($0) }
    }

    private func shape(_ expressions: [String]?) -> ShapeEntry {
        ShapeEntry(
            entity: entity.schema.name, predicate: terms.predicate?.shape ?? "",
            sort: terms.sortDescriptors.map(\.text), prefetch: terms.prefetch, isLimited: terms.limit > 0,
            resultType: "\(resultType)", expressions: expressions, groups: terms.groups.isEmpty ? nil : terms.groups,
            having: terms.having?.shape,
            terms: terms.predicate?.terms { keyPath in
                store.schema.property(keyPath, of: entity.schema)?.canonicalColumn != nil
            } ?? [],
            includesPropertyValues: resultType == .objects && !terms.includesPropertyValues ? false : nil)
    }

    /// Formats the result for the log.
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

    func logTotal(_ found: FetchedRows, _ nanoseconds: UInt64, _ sql: String) {
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

/// The result of a fetch request.
struct FetchedRows {
    var keys: ContiguousArray<Int64> = []
    /// Indexes of the rows' entities; empty if all rows have the same entity.
    var entities: ContiguousArray<Int32> = []
    /// Empty unless the fetch read the rows.
    var rows: ContiguousArray<RowPointer> = []
    var blocks: [RowBlock] = []
    var prefetched: PrefetchedObjects?
    /// The columns that the rows contain; `nil` for all.
    var partial: PartialSelection?
    /// Whether unsaved changes were merged.
    ///
    /// If so, ``keys`` is the merged result, and ``rows`` has only the rows that were read for it.
    var isMerged = false
    /// The merged objects by index: all of them or, with a batch size, those with changes.
    var known: ContiguousArray<ManagedObject?> = []
    /// With several stores: the stores, and for each result row the index of its store.
    var sources: [FetchSource] = []
    var sourceNumbers: ContiguousArray<UInt16> = []
    /// For a part of a result from several stores: the sort keys of each row.
    var sortKeys: [[SQLValue]] = []
    var dictionaries: [[String: AttributeValue]] = []
    var count = 0
    var fetch: EventID = 0
    var shape: DictionaryID = 0
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
        return keys.indices.map { position in
            let source = sources.isEmpty ? entity : sources[Int(sourceNumbers[position])].entity
            let store = source.store
            let schema = entities.isEmpty ? source.schema : store.schema.entities[Int(entities[position])]
            return ManagedObjectID(store: store.identity, entity: schema, key: keys[position])
        }
    }
}
