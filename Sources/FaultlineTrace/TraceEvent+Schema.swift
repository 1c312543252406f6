public import CTraceSchema

/// The one place where the schema's records in C and the vocabulary in Swift meet.
extension TraceEvent {
    /// The event that a record of the schema holds, or `nil` for a kind that this version does not know.
    ///
    /// - Complexity: O(lists). No allocation for kinds without lists.
    public init?(_ record: UnsafePointer<fl_event>) {
        let header = record.pointee.header
        guard let kind = EventKind(rawValue: header.kind) else { return nil }
        self.init(
            id: header.id, parent: header.parent, scope: header.scope, start: header.start, duration: header.duration,
            thread: header.thread, isMainThread: header.flags & UInt8(FL_ON_MAIN_THREAD) != 0,
            process: record.pointee.process,
            context: header.context, site: header.site, stack: header.stack, overhead: header.overhead,
            runDelay: header.runDelay,
            Detail(kind, record))
    }
}

extension TraceEvent.Detail {
    init(_ kind: EventKind, _ record: UnsafePointer<fl_event>) {
        switch kind {
        case .fetch: self = .fetch(TraceEvent.Fetch(record.pointee.fields.fetch, record))
        case .batch: self = .batch(TraceEvent.Batch(record.pointee.fields.batch, record))
        case .fault: self = .fault(TraceEvent.Fault(record.pointee.fields.fault))
        case .cacheMiss: self = .cacheMiss(TraceEvent.CacheMiss(record.pointee.fields.cacheMiss))
        case .save: self = .save(TraceEvent.Save(record.pointee.fields.save, ListReader(record)))
        case .sql: self = .sql(TraceEvent.Statement(record.pointee.fields.sql))
        case .use: self = .use(TraceEvent.Use(record.pointee.fields.use, ListReader(record)))
        case .scope: self = .scope(TraceEvent.Scope(record.pointee.fields.scope))
        case .merge: self = .merge(TraceEvent.Merge(record.pointee.fields.merge, ListReader(record)))
        case .refresh: self = .refresh(TraceEvent.Refresh(record.pointee.fields.refresh))
        case .wait: self = .wait(TraceEvent.Wait(record.pointee.fields.wait))
        case .release: self = .release(TraceEvent.Release(record.pointee.fields.release))
        }
    }
}

extension TraceEvent.Fetch {
    init(_ fields: fl_fetch, _ record: UnsafePointer<fl_event>) {
        entity = fields.entity
        shape = fields.shape
        parameters = fields.parameters
        values = fields.values
        limit = fields.limit
        offset = fields.offset
        batchSize = fields.batchSize
        resultType = ResultType(rawValue: fields.resultType) ?? .objects
        rows = fields.rows
        trips = fields.trips
        bytes = fields.bytes
        prefetchedRows = fields.prefetchedRows
        prefetchedBytes = fields.prefetchedBytes
        wait = fields.wait
        prepare = fields.prepare
        step = fields.step
        materialise = fields.materialise
        pending = fields.pending
        cacheHits = fields.cacheHits
        cacheMisses = fields.cacheMisses
        pendingObjects = fields.pendingObjects
        error = fields.error
        guard fields.operands > 0 || fields.prefetches > 0 else { return }
        var lists = ListReader(record)
        operands = lists.take(fields.operands, words: 1) { $0[0] }
        prefetches = lists.takePrefetches(fields.prefetches)
    }
}

extension TraceEvent.Batch {
    init(_ fields: fl_batch, _ record: UnsafePointer<fl_event>) {
        fetch = fields.fetch
        entity = fields.entity
        shape = fields.shape
        firstIndex = fields.firstIndex
        rows = fields.rows
        trips = fields.trips
        bytes = fields.bytes
        prefetchedRows = fields.prefetchedRows
        prefetchedBytes = fields.prefetchedBytes
        cacheHits = fields.cacheHits
        error = fields.error
        guard fields.prefetches > 0 else { return }
        var lists = ListReader(record)
        prefetches = lists.takePrefetches(fields.prefetches)
    }
}

extension TraceEvent.Fault {
    init(_ fields: fl_fault) {
        type = FaultType(rawValue: fields.type) ?? .object
        source = Source(rawValue: fields.source) ?? .rowCache
        entity = fields.entity
        relationship = fields.relationship
        relationshipEntity = fields.relationshipEntity
        object = fields.object
        origin = fields.origin
        filled = fields.filled
        bytes = fields.bytes
        seenBefore = fields.seenBefore != 0
        error = fields.error
        isWatched = fields.isWatched != 0
        isDeleting = fields.isDeleting != 0
    }
}

extension TraceEvent.CacheMiss {
    init(_ fields: fl_cache_miss) {
        fault = fields.fault
        entity = fields.entity
        seenBefore = fields.seenBefore != 0
    }
}

extension TraceEvent.Save {
    init(_ fields: fl_save, _ lists: ListReader) {
        inserted = fields.inserted
        updated = fields.updated
        deleted = fields.deleted
        changedColumns = fields.changedColumns
        conflicts = fields.conflicts
        trips = fields.trips
        bytes = fields.bytes
        lockWait = fields.lockWait
        commit = fields.commit
        error = fields.error
        unchanged = fields.unchanged
        var lists = lists
        entities = lists.takeChanges(fields.entities)
        unread = lists.take(fields.unread, words: 5) {
            Unread(fetch: $0[0], deleted: $0[1], updated: $0[2], properties: $0[3], values: $0[4])
        }
    }
}

extension TraceEvent.Merge {
    init(_ fields: fl_merge, _ lists: ListReader) {
        trigger = Trigger(rawValue: fields.trigger) ?? .call
        saver = fields.saver
        inserted = fields.inserted
        updated = fields.updated
        deleted = fields.deleted
        refreshed = fields.refreshed
        conflicts = fields.conflicts
        var lists = lists
        entities = lists.takeChanges(fields.entities)
    }
}

extension TraceEvent.Refresh {
    init(_ fields: fl_refresh) {
        entity = fields.entity
        objects = fields.objects
        changed = fields.changed
        keepsChanges = fields.keepsChanges != 0
    }
}

extension TraceEvent.Wait {
    init(_ fields: fl_wait) {
        resource = Resource(rawValue: fields.resource) ?? .contextQueue
        isBlocking = fields.isBlocking != 0
        holder = fields.holder
        holderSite = fields.holderSite
        holderThread = fields.holderThread
        holderProcess = fields.holderProcess
        tries = fields.tries
        error = fields.error
    }
}

extension TraceEvent.Statement {
    init(_ fields: fl_sql) {
        statement = fields.statement
        plan = fields.plan
        type = StatementType(rawValue: fields.type) ?? .read
        rows = fields.rows
        fullScanSteps = fields.fullScanSteps
        sorts = fields.sorts
        automaticIndexes = fields.automaticIndexes
        virtualMachineSteps = fields.virtualMachineSteps
        preparations = fields.preparations
        pageHits = fields.pageHits
        pageMisses = fields.pageMisses
        error = fields.error
        textComparisons = fields.textComparisons
        textMatches = fields.textMatches
    }
}

extension TraceEvent.Use {
    init(_ fields: fl_use, _ lists: ListReader) {
        fetch = fields.fetch
        entity = fields.entity
        shape = fields.shape
        state = State(rawValue: fields.state) ?? .closed
        batchSize = fields.batchSize
        rows = fields.rows
        loadedRows = fields.loadedRows
        bytes = fields.bytes
        touchedRows = fields.touchedRows
        touches = fields.touches
        batchesLoaded = fields.batchesLoaded
        countAsked = fields.countAsked
        emptinessAsked = fields.emptinessAsked
        identitiesAsked = fields.identitiesAsked
        modifiedRows = fields.modifiedRows
        firstUse = fields.firstUse
        lastUse = fields.lastUse
        runsLost = fields.runsLost
        var lists = lists
        runs = lists.take(fields.runs, words: 2) { Run(first: $0[0], rows: $0[1]) }
        windows = lists.take(fields.windows, words: 3) {
            let kind = $0[0] == 0 ? nil : TraceEvent.Scope.Kind(rawValue: UInt32(truncatingIfNeeded: $0[0] &- 1))
            return Window(scope: kind, rows: $0[1], times: $0[2])
        }
        properties = lists.take(fields.properties, words: 5) {
            Property(index: $0[0], rowsRead: $0[1], rowsLoaded: $0[2], bytes: $0[3], largeRows: $0[4])
        }
    }
}

extension TraceEvent.Scope {
    init(_ fields: fl_scope) {
        name = fields.name
        kind = Kind(rawValue: fields.kind) ?? .other
        phase = Phase(rawValue: fields.phase) ?? .begin
    }
}

extension TraceEvent.Release {
    init(_ fields: fl_release) {
        fetch = fields.fetch
        fault = fields.fault
        object = fields.object
        bytes = fields.bytes
        entity = fields.entity
    }
}

/// Takes the lists that follow an event's fields, one after the other, and stops where the record's words end.
struct ListReader {
    private var words: ArraySlice<UInt64>

    init(_ record: UnsafePointer<fl_event>) {
        let count = min(Int(record.pointee.listWords), Int(FL_MAXIMUM_LIST_WORDS))
        let offset = MemoryLayout<fl_event>.offset(of: \.lists)!
        let first = UnsafeRawPointer(record).advanced(by: offset).assumingMemoryBound(to: UInt64.self)
        words = Array(UnsafeBufferPointer(start: first, count: count))[...]
    }

    /// What a save did, entity by entity.
    mutating func takeChanges(_ count: UInt32) -> [TraceEvent.Save.Change] {
        take(count, words: 4) {
            TraceEvent.Save.Change(
                entity: DictionaryID(truncatingIfNeeded: $0[0]), inserted: $0[1], updated: $0[2], deleted: $0[3])
        }
    }

    /// What prefetching took, key path by key path.
    mutating func takePrefetches(_ count: UInt32) -> [TraceEvent.Prefetch] {
        take(count, words: 5) {
            TraceEvent.Prefetch(path: $0[0], trips: $0[1], rows: $0[2], bytes: $0[3], duration: $0[4])
        }
    }

    mutating func take<Entry>(
        _ count: UInt32, words width: Int, _ entry: (UnsafeBufferPointer<UInt64>) -> Entry
    ) -> [Entry] {
        let entries = min(Int(count), words.count / width)
        defer { words = words.dropFirst(entries * width) }
        return words.withUnsafeBufferPointer { buffer in
            (0..<entries).map { entry(UnsafeBufferPointer(rebasing: buffer[($0 * width)..<(($0 + 1) * width)])) }
        }
    }
}
