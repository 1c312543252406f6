internal import FaultlineTrace

extension ProcessContext {
    /// Opens a fetch, so its batches, faults and use summary can refer to it.
    mutating func open(_ fetch: TraceEvent.Fetch, _ event: TraceEvent, in tables: inout ProfileTables) {
        let shape = shape(fetch.shape, entity: fetch.entity)
        let index = tables.fetch(FetchProfile.Key(shape: shape, site: callSite(of: event)))
        current = CurrentFetch(index: index)
        let isBatched = fetch.batchSize > 0
        let open = OpenFetch(
            index: index, rows: UInt64(fetch.rows), limit: UInt64(fetch.limit), offset: UInt64(fetch.offset),
            batchSize: fetch.batchSize,
            scope: event.scope, start: event.start, loadedRows: isBatched ? 0 : UInt64(fetch.rows),
            time: event.duration, hasPending: fetch.pendingObjects > 0)
        _ = fetches.insert(open, for: event.id)
        claimTrips(UInt64(fetch.trips), scope: event.scope, in: &tables)
        addRows(UInt64(fetch.prefetchedRows), scope: event.scope, in: &tables)
        summary.counts.bytesRead &+= fetch.bytes &+ fetch.prefetchedBytes
        count(fetch, event, at: index, in: &tables)
        guard fetch.resultType == .objects, fetch.error == 0 else { return }
        if !isBatched {
            addRows(UInt64(fetch.rows), scope: event.scope, in: &tables)
            observeLoad(event, fetch: index, batchSize: 0, rows: UInt64(fetch.rows), in: &tables)
        }
        guard fetch.rows > 0, fetch.trips > 0, event.hasLoad else { return }
        let load = Load(rows: UInt64(fetch.rows), bytes: fetch.bytes, duration: event.duration)
        let hash = StableHash.event(process: event.process, id: event.id)
        let position = shapeIndex(fetch.shape, entity: fetch.entity, in: &tables)
        tables.changeShape(position) {
            if isBatched { $0.identities.insert(load, hash: hash) } else { $0.rows.insert(load, hash: hash) }
        }
        if !isBatched, fetch.trips == 1, !tables.shapes[position].isSearch { tables.insert(load, hash: hash) }
    }

    /// Adds a batch to its fetch.
    mutating func add(_ batch: TraceEvent.Batch, _ event: TraceEvent, to tables: inout ProfileTables) {
        addRows(UInt64(batch.rows) &+ UInt64(batch.prefetchedRows), scope: event.scope, in: &tables)
        summary.counts.bytesRead &+= batch.bytes &+ batch.prefetchedBytes
        claimTrips(UInt64(batch.trips), scope: event.scope, in: &tables)
        let load = Load(rows: UInt64(batch.rows), bytes: batch.bytes, duration: event.duration)
        let hash = StableHash.event(process: event.process, id: event.id)
        if batch.rows > 0, batch.trips > 0, batch.error == 0, event.hasLoad {
            tables.changeShape(shapeIndex(batch.shape, entity: batch.entity, in: &tables)) {
                $0.rows.insert(load, hash: hash)
            }
            if batch.trips == 1 { tables.insert(load, hash: hash) }
        }
        let found = fetches.update(batch.fetch) {
            $0.time &+= event.duration
            $0.batches &+= 1
            $0.loadedRows = min($0.rows, $0.loadedRows + UInt64(batch.rows))
            return ($0.index, $0.batchSize)
        }
        guard let (index, size) = found else { return }
        current = CurrentFetch(index: index)
        observeLoad(event, fetch: index, batchSize: size, rows: UInt64(batch.rows), in: &tables)
        if !isSetup(event.scope) {
            tables.changeFetch(index) {
                $0.counts.batchTime &+= event.duration
                $0.add(batch.prefetches, loadTime: event.duration)
            }
        }
    }

    private mutating func count(
        _ fetch: TraceEvent.Fetch, _ event: TraceEvent, at index: Int, in tables: inout ProfileTables
    ) {
        guard !isSetup(event.scope) else { return }
        let scope = scopes.peek(unit(of: event.scope).id)?.key
        let values = fetch.values == 0 ? nil : dictionary.name(fetch.values)
        tables.changeFetch(index) { profile in
            profile.counts.executions &+= 1
            profile.counts.rows &+= UInt64(fetch.rows)
            profile.counts.time &+= event.duration
            profile.counts.prepareTime &+= fetch.prepare
            profile.counts.waitTime &+= fetch.wait
            profile.counts.stepTime &+= min(fetch.step, event.duration)
            profile.counts.unsplitTime &+= fetch.step > 0 ? 0 : fetch.unsplitTime(of: event)
            profile.add(fetch.prefetches, loadTime: event.duration)
            profile.counts.mainThreadTime &+= event.isMainThread ? event.duration : 0
            if let scope { profile.counts.scopes[scope, default: 0] &+= 1 }
            guard fetch.error == 0 else { return }
            profile.speeds.add(event.duration)
            profile.counts.addOffset(of: fetch)
            profile.counts.addPending(of: fetch)
            let hash = StableHash.event(process: event.process, id: event.id)
            if fetch.limit > 0 {
                profile.pages.insert(
                    Load(
                        rows: UInt64(fetch.offset), bytes: 0,
                        duration: event.duration - min(event.duration, fetch.prepare)),
                    hash: hash)
            }
            profile.sample.insert(
                FetchSample.Execution(
                    rows: UInt64(fetch.rows), limit: UInt64(fetch.limit), offset: UInt64(fetch.offset),
                    batchSize: UInt64(fetch.batchSize), values: values),
                hash: hash)
        }
    }

    /// Adds a fetch's own statement to its profile: the first statement that refers to the fetch.
    ///
    /// A recorder writes the statements of prefetching before their fetch. In time order, they follow the fetch's own
    /// statement.
    private mutating func addOwn(
        _ statement: TraceEvent.Statement, _ event: TraceEvent, to tables: inout ProfileTables
    ) {
        // Every fetch has a statement, so this does not show that the fetch is still in use.
        let found = fetches.update(event.parent, isUse: false) {
            fetch -> (index: Int, scope: EventID, isCut: Bool)? in
            guard !fetch.hasStatement else { return nil }
            fetch.hasStatement = true
            return (fetch.index, fetch.scope, fetch.limit > 0 || fetch.offset > 0)
        }
        guard let fetch = found.flatMap(\.self) else { return }
        let plan = plan(statement.plan)
        current = CurrentFetch(index: fetch.index, isCut: fetch.isCut, plan: plan)
        guard !isSetup(fetch.scope) else { return }
        let sorts = statement.isCounted || plan?.sortsRows != true ? UInt64(statement.sorts) : 1
        let text = dictionary.statement(statement.statement)?.sql
        var runs = StatementTable.Runs()
        (runs.count, runs.time, runs.rows) = (1, event.duration, UInt64(statement.rows))
        runs.virtualMachineSteps = statement.virtualMachineSteps
        (runs.automaticIndexRows, runs.indexes) = (UInt64(statement.automaticIndexes), plan?.access?.indexes ?? [])
        if let plan, plan.access?.expectedRows != nil {
            let shape = tables.fetches[fetch.index].key.shape
            runs.expectation = plan.expectation(of: statement, shape, isCut: fetch.isCut) ?? runs.expectation
        }
        tables.changeFetch(fetch.index) { profile in
            profile.counts.statements &+= 1
            profile.counts.fullScanSteps &+= UInt64(statement.fullScanSteps)
            profile.counts.virtualMachineSteps &+= statement.virtualMachineSteps
            profile.counts.pageMisses &+= UInt64(statement.pageMisses)
            profile.counts.textComparisons &+= UInt64(statement.textComparisons)
            profile.counts.textMatches &+= UInt64(statement.textMatches)
            profile.counts.preparations &+= UInt64(statement.preparations)
            if let text { profile.statements.add(runs, of: text, plan: plan?.text ?? "") }
            guard sorts > 0 else { return }
            profile.counts.sorts &+= sorts
            // With a limit, SQLite returns few of the rows it sorted. Rows that a predicate rejected were not sorted.
            let isCut = profile.key.shape.isLimited && profile.key.shape.predicate.isEmpty
            guard !isCut || statement.isCounted else { return }
            profile.counts.sortedRows &+= UInt64(isCut ? max(statement.rows, statement.fullScanSteps) : statement.rows)
        }
    }

    /// Counts the rows that a fault read from the store.
    mutating func add(_ fault: TraceEvent.Fault, _ event: TraceEvent, to tables: inout ProfileTables) {
        // Rows in the row cache were counted when the cache was filled.
        guard fault.source != .rowCache else { return }
        summary.counts.bytesRead &+= fault.bytes
        summary.counts.faultTrips &+= 1
        addRows(UInt64(fault.filled), scope: event.scope, in: &tables)
        claimTrips(1, scope: event.scope, in: &tables)
        guard fault.source == .store, fault.error == 0 else { return }
        let load = Load(rows: max(1, UInt64(fault.filled)), bytes: fault.bytes, duration: event.duration)
        if event.hasLoad { tables.insert(load, hash: StableHash.event(process: event.process, id: event.id)) }
    }

    /// Counts a statement, and adds it to its fetch if it is the fetch's own.
    mutating func add(_ statement: TraceEvent.Statement, _ event: TraceEvent, to tables: inout ProfileTables) {
        switch statement.type {
        case .read:
            summary.counts.reads &+= 1
            if event.parent == 0 {
                summary.counts.outermostReads &+= 1
                // Otherwise the fetches and faults count their rows.
                let isAlone = summary.gaps.contains { $0.kind == .operations }
                if isAlone { addRows(UInt64(statement.rows), scope: event.scope, in: &tables) }
            }
            addTrip(scope: event.scope, isStatement: true, to: &tables)
            addOwn(statement, event, to: &tables)
            let load = Load(rows: max(1, UInt64(statement.rows)), bytes: 0, duration: event.duration)
            guard event.hasLoad else { break }
            tables.statements.insert(load, hash: StableHash.event(process: event.process, id: event.id))
        case .write:
            summary.counts.writes &+= 1
            if event.parent == 0 { summary.counts.outermostWrites &+= 1 }
        case .transaction: summary.counts.transactions &+= 1
        case .schema: summary.counts.schemaStatements &+= 1
        case .other: summary.counts.otherCalls &+= 1
        }
    }

    /// Records where and in which scope rows were loaded.
    private mutating func observeLoad(
        _ event: TraceEvent, fetch index: Int, batchSize: UInt32, rows: UInt64, in tables: inout ProfileTables
    ) {
        guard !isSetup(event.scope) else { return }
        let site = causeSite(of: event)
        let scope = scopes.peek(unit(of: event.scope).id)?.key
        tables.changeFetch(index) { profile in
            var use = profile.uses.removeValue(forKey: batchSize) ?? ResultUse()
            use.loads &+= 1
            use.mainThreadLoads &+= event.isMainThread ? 1 : 0
            use.loadSites[site, default: 0] &+= rows
            if let scope { use.loadScopes[scope, default: 0] &+= 1 }
            profile.uses[batchSize] = use
        }
    }

    /// Counts rows that SQLite returned.
    mutating func addRows(_ rows: UInt64, scope: EventID, in tables: inout ProfileTables) {
        guard rows > 0 else { return }
        summary.counts.rowsLoaded &+= rows
        changeScope(scope, in: &tables) { $0.own.rows &+= rows }
    }

    /// Counts the round trips that an event reports.
    mutating func claimTrips(_ trips: UInt64, scope: EventID, in tables: inout ProfileTables) {
        summary.counts.claimedTrips &+= trips
        addTrip(scope: scope, isStatement: false, count: trips, to: &tables)
    }
}

extension FetchCounts {
    fileprivate mutating func addOffset(of fetch: TraceEvent.Fetch) {
        guard fetch.offset > 0 else { return }
        offsetFetches &+= 1
        skippedRows &+= UInt64(fetch.offset)
        largestOffset = max(largestOffset, UInt64(fetch.offset))
    }

    fileprivate mutating func addPending(of fetch: TraceEvent.Fetch) {
        guard fetch.pendingObjects > 0 else { return }
        pendingFetches &+= 1
        pendingObjects &+= UInt64(fetch.pendingObjects)
        pendingTime &+= fetch.pending
    }
}

extension TraceEvent.Fetch {
    /// The fetch's time without waiting, preparing, prefetching and making objects, in nanoseconds.
    fileprivate func unsplitTime(of event: TraceEvent) -> UInt64 {
        let others = prefetches.reduce(wait &+ prepare &+ materialise &+ pending) { $0 &+ $1.duration }
        return event.duration - min(event.duration, others)
    }
}

extension FetchProfile {
    /// Adds the prefetching of a fetch or a batch.
    fileprivate mutating func add(_ prefetched: [TraceEvent.Prefetch], loadTime: UInt64) {
        for prefetch in prefetched where prefetch.path < UInt64(key.shape.prefetch.count) {
            var use = PrefetchUse()
            if prefetch.trips > 0 {
                (use.loads, use.trips, use.rows, use.bytes) = (1, prefetch.trips, prefetch.rows, prefetch.bytes)
                (use.time, use.loadTime) = (prefetch.duration, loadTime)
            } else {
                use.cachedTime = prefetch.duration
            }
            prefetches[key.shape.prefetch[Int(prefetch.path)], default: PrefetchUse()].merge(use)
        }
    }
}

extension ProcessContext {
    /// Adds the use of a result to the fetch that returned it.
    mutating func add(_ use: TraceEvent.Use, _ event: TraceEvent, to tables: inout ProfileTables) {
        if use.state == .open { summary.counts.openUses &+= 1 }
        let fetch = fetches.update(use.fetch) {
            if use.state == .closed { $0.isClosed = true }
            return $0
        }
        guard !isSetup(fetch?.scope ?? event.scope) else { return }
        let index =
            fetch?.index
            ?? tables.fetch(FetchProfile.Key(shape: shape(use.shape, entity: use.entity), site: callSite(of: event)))
        let entity = dictionary.entity(use.entity)
        let shape = tables.fetches[index].key.shape
        let isLimited = fetch.map { $0.limit > 0 } ?? shape.isLimited
        let unread = fetch.flatMap { $0.hasPending ? nil : $0.unread }
        let need =
            unread.flatMap { ResultNeed(use, entity: entity, unread: $0) }
            ?? ResultNeed(use, entity: entity, showsModifications: shape.terms != nil)
        current = CurrentFetch(index: index, isUnused: need == .nothing && use.state == .closed)
        tables.changeFetch(index) { profile in
            profile.uses[use.batchSize, default: ResultUse()].add(use, isLimited: isLimited)
            profile.uses[use.batchSize]?.add(need, of: use, time: fetch?.time ?? 0, unread)
            profile.sample.add(use.runs, to: StableHash.event(process: event.process, id: use.fetch))
            guard let entity else { return }
            for property in use.properties where property.index < UInt64(entity.properties.count) {
                let name = entity.properties[Int(property.index)].name
                var values = PropertyUse()
                (values.rowsLoaded, values.rowsRead) = (property.rowsLoaded, property.rowsRead)
                (values.bytes, values.largeRows) = (property.bytes, property.largeRows)
                profile.properties[entity.name, default: [:]][name, default: PropertyUse()].merge(values)
            }
        }
    }
}
