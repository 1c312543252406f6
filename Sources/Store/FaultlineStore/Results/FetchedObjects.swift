import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

/// The state behind ``FetchResults``.
@usableFromInline
final class FetchedObjects {
    static let retainedBatches = TraceEvent.Batch.retained

    let context: ManagedObjectContext
    let entity: EntityRuntime
    let terms: FetchTerms
    @usableFromInline let count: Int
    let fetch: EventID
    let shape: DictionaryID
    let site: CallerSite
    /// The summary of the result's use, while recording.
    let use: FetchUse?
    private let found: FetchedRows
    /// The stores that were fetched from.
    private let sources: [FetchSource]
    /// The created objects; `nil` if not created yet, or if their batch was released.
    private let objects: UnsafeMutableBufferPointer<ManagedObject?>
    /// The loaded batches; their rows are indexed within the batch.
    private var batches: [Int: Batch] = [:]
    /// Whether rows of at least 16 KiB were loaded: the trace then records the release of the result.
    private var hasLargeRows = false
    /// The loaded batches, the most recently used last.
    private var recent: [Int] = []

    private struct Batch {
        var rows: [RowPointer?]
        var blocks: [RowBlock]
        /// By the index of the store.
        var prefetched: [PrefetchedObjects?]
    }

    init(_ context: ManagedObjectContext, _ execution: FetchExecution, _ found: FetchedRows) {
        self.context = context
        entity = execution.entity
        terms = execution.terms
        site = execution.site
        count = found.isMerged || found.rows.isEmpty ? found.keys.count : found.rows.count
        fetch = found.fetch
        shape = found.shape
        objects = UnsafeMutableBufferPointer.allocate(capacity: count)
        if found.isMerged { _ = objects.initialize(from: found.known) } else { objects.initialize(repeating: nil) }
        if !found.rows.isEmpty { context.identities.reserve(map: execution.entity.map, count) }
        self.found = found
        sources =
            found.sources.isEmpty ? [FetchSource(entity: execution.entity, partial: found.partial)] : found.sources
        let recorder = execution.store.recorder
        use =
            found.fetch == 0
            ? nil
            : recorder.openUse(
                fetch: found.fetch, entity: entity.traceID(recorder), shape: found.shape,
                batchSize: terms.batchSize, rows: count)
        if use != nil, !found.rows.isEmpty { observeLoad(found.rows, found.partial) }
        for (position, object) in found.known.enumerated() {
            guard let object else { continue }
            track(object, position)
            if !terms.returnsObjectsAsFaults { realize(object) }
        }
        if !terms.returnsObjectsAsFaults, !found.isMerged {
            for position in 0..<(found.rows.isEmpty ? 0 : count) { realize(make(position)) }
        }
    }

    deinit {
        objects.deinitialize()
        objects.deallocate()
        if hasLargeRows { context.recordRelease(ofResult: fetch, of: entity) }
    }

    var objectIDs: [ManagedObjectID] {
        (0..<count).map { position in
            let (key, entity) = identity(position)
            return ManagedObjectID(store: entity.store.identity, entity: entity.schema, key: key)
        }
    }

    func identity(_ position: Int) -> (Int64, EntityRuntime) {
        if found.isMerged, let object = found.known[position] { return (object.key, object.runtime) }
        if !found.isMerged, !found.rows.isEmpty {
            let row = found.rows[position]
            return (row.key, entity.store.entities[Int(row.header.pointee.entity)])
        }
        let entity = sources[source(position)].entity
        return (
            found.keys[position],
            found.entities.isEmpty ? entity : entity.store.entities[Int(found.entities[position])]
        )
    }

    /// The store that a row comes from, as an index into ``sources``.
    private func source(_ position: Int) -> Int { found.sources.isEmpty ? 0 : Int(found.sourceNumbers[position]) }

    // MARK: - Objects

    @usableFromInline
    func object(at position: Int) -> ManagedObject {
        requireCorrectUse(
            position >= 0 && position < count, "Index \(position) is out of range; the fetch found \(count) objects.")
        if let use { touch(position, use) }
        return untouchedObject(at: position)
    }

    @inline(__always)
    private func touch(_ position: Int, _ use: FetchUse) {
        let cost = context.costOfFrequentWork()
        use.touch(row: position)
        if cost != 0 { context.recorder.endCost(cost) }
    }

    /// The object at an index, for the store's own purposes: it does not count as a use by the program.
    func untouchedObject(at position: Int) -> ManagedObject {
        if terms.batchSize > 0 {
            let batch = position / terms.batchSize
            if recent.last != batch { select(batch) }
        }
        return objects[position] ?? make(position)
    }

    private func make(_ position: Int) -> ManagedObject {
        let object: ManagedObject
        if !found.isMerged, !found.rows.isEmpty {
            object = context.object(found.rows[position], besides: entity, found.partial)
            if let prefetched = found.prefetched { object.prefetched = prefetched }
        } else if terms.batchSize > 0, let batch = batches[position / terms.batchSize],
            let row = batch.rows[position % terms.batchSize]
        {
            let source = source(position)
            object = context.object(row, besides: sources[source].entity, sources[source].partial)
            if let prefetched = batch.prefetched[source] { object.prefetched = prefetched }
            if !terms.returnsObjectsAsFaults { realize(object) }
        } else {
            let (key, entity) = identity(position)
            object = context.object(entity, key: key)
        }
        track(object, position)
        objects[position] = object
        return object
    }

    /// Records in an object where it came from.
    private func track(_ object: ManagedObject, _ position: Int) {
        guard let use else { return }
        object.trail = ObjectTrail(use: use, row: Int32(clamping: position), origin: fetch)
        object.flags.insert(.isTracked)
        object.flags.remove(.isChangeNoted)
    }

    /// Realizes an object whose row is in memory.
    ///
    /// Part of the fetch, not a fault of its own.
    private func realize(_ object: ManagedObject) {
        if object.row != nil { object.flags.remove(.isFault) }
    }

    // MARK: - Batches

    private func select(_ batch: Int) {
        if batches[batch] == nil {
            do throws(StoreError) {
                try load(batch)
            } catch {
                context.observeReadError(error)
            }
        }
        observeUse(batch)
    }

    /// Keeps the most recently used batches and releases the others.
    private func observeUse(_ batch: Int) {
        if let position = recent.firstIndex(of: batch) { recent.remove(at: position) }
        recent.append(batch)
        while recent.count > Self.retainedBatches { release(recent.removeFirst()) }
    }

    private func range(of batch: Int) -> Range<Int> {
        batch * terms.batchSize..<min((batch + 1) * terms.batchSize, count)
    }

    private func release(_ batch: Int) {
        batches[batch] = nil
        for position in range(of: batch) { objects[position] = found.isMerged ? found.known[position] : nil }
    }

    /// Loads the rows of a batch in one trip to each store involved, and sorts them in the order of the keys.
    private func load(_ number: Int) throws(StoreError) {
        let recorder = context.recorder
        let span = recorder.begin().map { BatchSpan($0, recorder, context.origin(at: site)) }
        let range = range(of: number)
        span?.update {
            $0.fetch = fetch
            $0.shape = shape
            $0.entity = entity.traceID(recorder)
            $0.firstIndex = UInt32(clamping: range.lowerBound)
        }
        do throws(StoreError) {
            var batch = Batch(
                rows: Array(repeating: nil, count: range.count), blocks: [],
                prefetched: Array(repeating: nil, count: sources.count))
            for source in sources.indices {
                let positions = sources.count == 1 ? Array(range) : range.filter { self.source($0) == source }
                guard !positions.isEmpty else { continue }
                let loaded = try read(positions, from: source, span, &batch)
                if use != nil { observeLoad(loaded.rows, sources[source].partial) }
                span?.update {
                    $0.rows += UInt32(clamping: loaded.rows.count)
                    $0.cacheHits += UInt32(clamping: loaded.cacheHits)
                    $0.bytes += entity.store.bytes(of: loaded.rows)
                }
            }
            use?.loadedBatch()
            batches[number] = batch
            if sources.count > 1 { span?.recordsNoStatement() }
            span?.end()
        } catch {
            span?.end(error)
            throw error
        }
    }

    /// Reads the rows of a batch from one store.
    private func read(
        _ wanted: [Int], from source: Int, _ span: BatchSpan?, _ batch: inout Batch
    ) throws(StoreError) -> LoadedRows {
        let (entity, partial) = (sources[source].entity, sources[source].partial)
        let (log, recorder) = (context.log, context.recorder)
        let sql =
            "\(partial?.selection ?? entity.rowSelection) FROM \(entity.schema.table) t0 WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)   LIMIT \(terms.batchSize)"
        let begin = log.isOn ? recorder.now() : 0
        let keys = wanted.map { found.keys[$0] }
        let pool = context.pool(of: entity.store)
        span?.event.trips += 1
        span?.restart()
        let loaded = try pool.read(for: span.origin()) { connection throws(StoreError) in
            span?.didLock()
            try connection.beginRead()
            let statement = try connection.bind(sql, keys: keys)
            log.statement(sql, arrays: 1)
            let loaded = try connection.session.asEvent(if: sources.count > 1, statement, origin: span.origin()) {
                (run) throws(StoreError) in
                let loaded = try connection.loadRows(statement, entity, partial: partial)
                run = loaded.run
                return loaded
            }
            span?.didRun(loaded.run)
            if log.isOn { log.connectionTime(loaded.run.duration) }
            batch.prefetched[source] = try prefetch(loaded.rows, entity, on: connection, span)
            return loaded
        }
        let start = range(of: wanted[0] / terms.batchSize).lowerBound
        var positions: [Int64: Int] = [:]
        for (position, key) in zip(wanted, keys) { positions[key] = position - start }
        for row in loaded.rows {
            if let position = positions[row.key] { batch.rows[position] = row }
        }
        batch.blocks += loaded.blocks
        if log.isOn {
            log.totalTime(recorder.now() - begin, rows: loaded.rows.count)
            context.logPlan(sql, pool)
        }
        return loaded
    }

    /// Prefetches the request's relationships for the rows of a batch.
    private func prefetch(
        _ rows: ContiguousArray<RowPointer>, _ entity: EntityRuntime, on connection: StoreConnection,
        _ span: BatchSpan?
    ) throws(StoreError) -> PrefetchedObjects? {
        guard !terms.prefetch.isEmpty, !rows.isEmpty else { return nil }
        let prefetch = try Prefetch(terms.prefetch, from: rows, entity, connection, origin: span.origin())
        span?.update {
            $0.trips += UInt32(clamping: prefetch.trips)
            $0.prefetchedRows += UInt32(clamping: prefetch.rows)
            $0.prefetchedBytes += prefetch.bytes
            $0.prefetches += prefetch.paths
        }
        return prefetch.objects
    }

    func loadAll() throws(StoreError) {
        try context.throwReadError()
        guard terms.batchSize > 0, count > 0 else { return }
        for batch in 0...(count - 1) / terms.batchSize where batches[batch] == nil {
            try load(batch)
            observeUse(batch)
        }
    }

    /// Records in the use summary what was loaded, property by property.
    ///
    /// - Parameter partial: The properties that were read for partial faults; the others were not loaded.
    private func observeLoad(_ rows: ContiguousArray<RowPointer>, _ partial: PartialSelection?) {
        guard let use else { return }
        context.recorder.measuringCost { add(rows, partial, to: use) }
    }

    private func add(_ rows: ContiguousArray<RowPointer>, _ partial: PartialSelection?, to use: FetchUse) {
        let store = entity.store
        let properties = entity.schema.properties.count
        var counts = [(rows: Int, bytes: Int, large: Int)](repeating: (0, 0, 0), count: properties)
        var bytes = 0
        for row in rows {
            let layout = store.entities[Int(row.header.pointee.entity)].layout
            let before = bytes
            for slot in layout.columns.indices {
                let size = row.byteCount(layout, slot: slot)
                bytes += size
                let property = layout.columns[slot].property
                // Properties of subentities are not counted; the summary has the properties of the fetch's entity.
                guard property < properties, !layout.columns[slot].isEntityColumn,
                    partial?.contains(property) ?? true
                else { continue }
                counts[property].rows += 1
                counts[property].bytes += size
                if UInt64(size) >= TraceEvent.Release.minimumBytes { counts[property].large += 1 }
            }
            if UInt64(bytes - before) >= TraceEvent.Release.minimumBytes { hasLargeRows = true }
        }
        use.loaded(rows: rows.count, bytes: bytes)
        for (index, count) in counts.enumerated() where count.rows > 0 {
            use.loadedProperty(index, rows: count.rows, bytes: count.bytes, largeRows: count.large)
        }
    }
}
