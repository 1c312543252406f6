package import CTraceSchema

/// The way from the vocabulary to the schema's records, which is the recorder's.
extension TraceEvent.Fetch {
    package var record: fl_fetch {
        var fields = fl_fetch()
        fields.entity = entity
        fields.shape = shape
        fields.parameters = parameters
        fields.values = values
        fields.limit = limit
        fields.offset = offset
        fields.batchSize = batchSize
        fields.resultType = resultType.rawValue
        fields.rows = rows
        fields.trips = trips
        fields.bytes = bytes
        fields.prefetchedRows = prefetchedRows
        fields.prefetchedBytes = prefetchedBytes
        fields.wait = wait
        fields.prepare = prepare
        fields.step = step
        fields.materialise = materialise
        fields.pending = pending
        fields.cacheHits = cacheHits
        fields.cacheMisses = cacheMisses
        fields.pendingObjects = pendingObjects
        fields.error = error
        fields.operands = UInt32(clamping: operands.count)
        fields.prefetches = UInt32(clamping: prefetches.count)
        return fields
    }
}

extension TraceEvent.Batch {
    package var record: fl_batch {
        var fields = fl_batch()
        fields.fetch = fetch
        fields.entity = entity
        fields.shape = shape
        fields.firstIndex = firstIndex
        fields.rows = rows
        fields.trips = trips
        fields.bytes = bytes
        fields.prefetchedRows = prefetchedRows
        fields.prefetchedBytes = prefetchedBytes
        fields.cacheHits = cacheHits
        fields.error = error
        fields.prefetches = UInt32(clamping: prefetches.count)
        return fields
    }
}

extension TraceEvent.Fault {
    package var record: fl_fault {
        var fields = fl_fault()
        fields.type = type.rawValue
        fields.source = source.rawValue
        fields.entity = entity
        fields.relationship = relationship
        fields.relationshipEntity = relationshipEntity
        fields.object = object
        fields.origin = origin
        fields.filled = filled
        fields.bytes = bytes
        fields.seenBefore = seenBefore ? 1 : 0
        fields.error = error
        fields.isWatched = isWatched ? 1 : 0
        fields.isDeleting = isDeleting ? 1 : 0
        return fields
    }
}

extension TraceEvent.Save {
    package var record: fl_save {
        var fields = fl_save()
        fields.inserted = inserted
        fields.updated = updated
        fields.deleted = deleted
        fields.changedColumns = changedColumns
        fields.conflicts = conflicts
        fields.trips = trips
        fields.bytes = bytes
        fields.lockWait = lockWait
        fields.commit = commit
        fields.error = error
        fields.entities = UInt32(clamping: entities.count)
        fields.unchanged = unchanged
        fields.unread = UInt32(clamping: unread.count)
        return fields
    }
}

extension TraceEvent.Statement {
    package var record: fl_sql {
        var fields = fl_sql()
        fields.statement = statement
        fields.plan = plan
        fields.type = type.rawValue
        fields.rows = rows
        fields.fullScanSteps = fullScanSteps
        fields.sorts = sorts
        fields.automaticIndexes = automaticIndexes
        fields.virtualMachineSteps = virtualMachineSteps
        fields.preparations = preparations
        fields.pageHits = pageHits
        fields.pageMisses = pageMisses
        fields.error = error
        fields.textComparisons = textComparisons
        fields.textMatches = textMatches
        return fields
    }
}

extension TraceEvent.Merge {
    package var record: fl_merge {
        var fields = fl_merge()
        fields.trigger = trigger.rawValue
        fields.saver = saver
        fields.inserted = inserted
        fields.updated = updated
        fields.deleted = deleted
        fields.refreshed = refreshed
        fields.conflicts = conflicts
        fields.entities = UInt32(clamping: entities.count)
        return fields
    }
}

extension TraceEvent.Refresh {
    package var record: fl_refresh {
        var fields = fl_refresh()
        fields.entity = entity
        fields.objects = objects
        fields.changed = changed
        fields.keepsChanges = keepsChanges ? 1 : 0
        return fields
    }
}

extension TraceEvent.Wait {
    package var record: fl_wait {
        var fields = fl_wait()
        fields.resource = resource.rawValue
        fields.isBlocking = isBlocking ? 1 : 0
        fields.holder = holder
        fields.holderSite = holderSite
        fields.holderThread = holderThread
        fields.holderProcess = holderProcess
        fields.tries = tries
        fields.error = error
        return fields
    }
}

extension TraceEvent.Release {
    package var record: fl_release {
        var fields = fl_release()
        fields.fetch = fetch
        fields.fault = fault
        fields.object = object
        fields.bytes = bytes
        fields.entity = entity
        return fields
    }
}
