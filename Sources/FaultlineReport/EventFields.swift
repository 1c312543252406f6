internal import FaultlineTrace

/// The fields of an event's kind, under the names of the schema, with names beside numbers.
struct EventFields {
    typealias Members = [(String, JSONValue)]

    let dictionary: TraceDictionary

    func members(of detail: TraceEvent.Detail) -> Members {
        switch detail {
        case .fetch(let fetch): members(fetch)
        case .batch(let batch): members(batch)
        case .fault(let fault): members(fault)
        case .cacheMiss(let miss):
            [("fault", .unsigned(miss.fault))] + entity(miss.entity) + [("seenBefore", .bool(miss.seenBefore))]
        case .save(let save): members(save)
        case .sql(let statement): members(statement)
        case .use(let use): members(use)
        case .scope(let scope):
            Self.reference("name", scope.name, dictionary.name(scope.name)).map {
                $0.0 == "nameName" ? ("scopeName", $0.1) : $0
            }
                + [("scopeKind", .string("\(scope.kind)")), ("phase", .string("\(scope.phase)"))]
        case .merge(let merge): members(merge)
        case .release(let release):
            [("fetch", .unsigned(release.fetch)), ("fault", .unsigned(release.fault))] + entity(release.entity)
                + [("object", Self.hash(release.object)), count("bytes", release.bytes)]
        case .refresh(let refresh):
            entity(refresh.entity)
                + [
                    count("objects", refresh.objects), count("changed", refresh.changed),
                    ("keepsChanges", .bool(refresh.keepsChanges)),
                ]
        case .wait(let wait): members(wait)
        }
    }

    /// A number that refers to the dictionary, and the name behind it if there is one.
    static func reference(_ key: String, _ id: DictionaryID, _ name: String?) -> Members {
        let number: Members = [(key, .unsigned(UInt64(id)))]
        return name.map { number + [(key + "Name", .string($0))] } ?? number
    }

    private func entity(_ id: DictionaryID, _ key: String = "entity") -> Members {
        Self.reference(key, id, dictionary.entity(id)?.name)
    }

    private func shape(_ id: DictionaryID) -> Members {
        Self.reference("shape", id, dictionary.shape(id).map(GroupText.shape))
    }

    private func count(_ name: String, _ value: some BinaryInteger) -> (String, JSONValue) {
        (name, .unsigned(UInt64(truncatingIfNeeded: value)))
    }

    private static func hash(_ value: UInt64) -> JSONValue {
        let digits = String(value, radix: 16)
        return .string(String(repeating: "0", count: 16 - digits.count) + digits)
    }

    private func members(_ fetch: TraceEvent.Fetch) -> Members {
        entity(fetch.entity) + shape(fetch.shape)
            + Self.reference("values", fetch.values, dictionary.name(fetch.values))
            + [("parameters", Self.hash(fetch.parameters)), ("resultType", .string("\(fetch.resultType)"))]
            + [
                count("limit", fetch.limit), count("offset", fetch.offset), count("batchSize", fetch.batchSize),
                count("rows", fetch.rows),
                count("trips", fetch.trips), count("bytes", fetch.bytes), count("prefetchedRows", fetch.prefetchedRows),
                count("prefetchedBytes", fetch.prefetchedBytes), count("wait", fetch.wait),
                count("prepare", fetch.prepare),
                count("step", fetch.step), count("materialise", fetch.materialise), count("pending", fetch.pending),
                count("cacheHits", fetch.cacheHits), count("cacheMisses", fetch.cacheMisses),
                count("pendingObjects", fetch.pendingObjects), count("error", fetch.error),
            ] + [
                ("operands", .array(fetch.operands.map { .unsigned($0) })),
                ("prefetches", prefetches(fetch.prefetches, fetch.shape)),
            ]
    }

    private func members(_ batch: TraceEvent.Batch) -> Members {
        [("fetch", .unsigned(batch.fetch))] + entity(batch.entity) + shape(batch.shape)
            + [
                count("firstIndex", batch.firstIndex), count("rows", batch.rows), count("trips", batch.trips),
                count("bytes", batch.bytes), count("prefetchedRows", batch.prefetchedRows),
                count("prefetchedBytes", batch.prefetchedBytes),
                count("cacheHits", batch.cacheHits), count("error", batch.error),
                ("prefetches", prefetches(batch.prefetches, batch.shape)),
            ]
    }

    /// What prefetching took, with the key paths.
    private func prefetches(_ prefetches: [TraceEvent.Prefetch], _ shape: DictionaryID) -> JSONValue {
        let paths = dictionary.shape(shape)?.prefetch ?? []
        return .array(
            prefetches.map { prefetch in
                let path = prefetch.path < UInt64(paths.count) ? paths[Int(prefetch.path)] : "?"
                return .object([
                    (key: "path", value: .string(path)), (key: "trips", value: .unsigned(prefetch.trips)),
                    (key: "rows", value: .unsigned(prefetch.rows)), (key: "bytes", value: .unsigned(prefetch.bytes)),
                    (key: "duration", value: .unsigned(prefetch.duration)),
                ])
            })
    }

    private func members(_ fault: TraceEvent.Fault) -> Members {
        [("type", .string("\(fault.type)")), ("source", .string("\(fault.source)"))] + entity(fault.entity)
            + Self.reference("relationship", fault.relationship, dictionary.name(fault.relationship))
            + entity(fault.relationshipEntity, "relationshipEntity")
            + [("object", Self.hash(fault.object)), ("seenBefore", .bool(fault.seenBefore))]
            + [
                count("origin", fault.origin), count("filled", fault.filled), count("bytes", fault.bytes),
                count("error", fault.error), ("isWatched", .bool(fault.isWatched)),
                ("isDeleting", .bool(fault.isDeleting)),
            ]
    }

    private func changes(_ entities: [TraceEvent.Save.Change]) -> JSONValue {
        .array(
            entities.map { change in
                .object(
                    (entity(change.entity)
                        + [
                            count("inserted", change.inserted), count("updated", change.updated),
                            count("deleted", change.deleted),
                        ]).map { (key: $0.0, value: $0.1) })
            })
    }

    private func members(_ merge: TraceEvent.Merge) -> Members {
        [("trigger", .string("\(merge.trigger)"))]
            + Self.reference("saver", merge.saver, dictionary.context(merge.saver)?.name)
            + [
                count("inserted", merge.inserted), count("updated", merge.updated), count("deleted", merge.deleted),
                count("refreshed", merge.refreshed), count("conflicts", merge.conflicts),
                ("entities", changes(merge.entities)),
            ]
    }

    private func members(_ wait: TraceEvent.Wait) -> Members {
        [("resource", .string("\(wait.resource)")), ("isBlocking", .bool(wait.isBlocking))]
            + Self.reference("holder", wait.holder, dictionary.context(wait.holder)?.name)
            + Self.reference(
                "holderSite", wait.holderSite,
                dictionary.site(wait.holderSite).map { CallSite(file: $0.file, line: $0.line).description })
            + [
                count("holderThread", wait.holderThread), count("holderProcess", wait.holderProcess),
                count("tries", wait.tries), count("error", wait.error),
            ]
    }

    private func members(_ save: TraceEvent.Save) -> Members {
        [
            count("inserted", save.inserted), count("updated", save.updated), count("deleted", save.deleted),
            count("changedColumns", save.changedColumns), count("conflicts", save.conflicts),
            count("trips", save.trips),
            count("bytes", save.bytes), count("lockWait", save.lockWait), count("commit", save.commit),
            count("error", save.error), count("unchanged", save.unchanged),
        ] + [("entities", changes(save.entities)), ("unread", unread(save.unread))]
    }

    private func unread(_ objects: [TraceEvent.Save.Unread]) -> JSONValue {
        .array(
            objects.map { part in
                .object([
                    (key: "fetch", value: .unsigned(part.fetch)), (key: "deleted", value: .unsigned(part.deleted)),
                    (key: "updated", value: .unsigned(part.updated)),
                    (key: "properties", value: .unsigned(part.properties)),
                    (key: "values", value: .unsigned(part.values)),
                ])
            })
    }

    private func members(_ sql: TraceEvent.Statement) -> Members {
        let plan = dictionary.plan(sql.plan)?.rows.map(\.detail).joined(separator: "; ")
        return Self.reference("statement", sql.statement, nil)
            + (dictionary.statement(sql.statement).map { [("sql", .string($0.sql))] } ?? [])
            + Self.reference("plan", sql.plan, nil) + (plan.map { [("planText", .string($0))] } ?? [])
            + [("type", .string("\(sql.type)"))]
            + [
                count("rows", sql.rows), count("fullScanSteps", sql.fullScanSteps), count("sorts", sql.sorts),
                count("automaticIndexes", sql.automaticIndexes), count("virtualMachineSteps", sql.virtualMachineSteps),
                count("preparations", sql.preparations), count("pageHits", sql.pageHits),
                count("pageMisses", sql.pageMisses), count("error", sql.error),
                count("textComparisons", sql.textComparisons), count("textMatches", sql.textMatches),
            ]
    }

    private func members(_ use: TraceEvent.Use) -> Members {
        let list = { (entries: [Members]) in
            JSONValue.array(entries.map { .object($0.map { (key: $0.0, value: $0.1) }) })
        }
        let names = dictionary.entity(use.entity)?.properties ?? []
        return [("fetch", .unsigned(use.fetch))] + entity(use.entity) + shape(use.shape)
            + [("state", .string("\(use.state)"))]
            + [
                count("batchSize", use.batchSize), count("rows", use.rows), count("loadedRows", use.loadedRows),
                count("bytes", use.bytes),
                count("touchedRows", use.touchedRows), count("touches", use.touches),
                count("batchesLoaded", use.batchesLoaded),
                count("countAsked", use.countAsked), count("emptinessAsked", use.emptinessAsked),
                count("identitiesAsked", use.identitiesAsked), count("modifiedRows", use.modifiedRows),
                count("firstUse", use.firstUse), count("lastUse", use.lastUse), count("runsLost", use.runsLost),
            ]
            + [
                ("runs", list(use.runs.map { [count("first", $0.first), count("rows", $0.rows)] })),
                (
                    "windows",
                    list(
                        use.windows.map { window in
                            [("scopeKind", .optional(window.scope.map { "\($0)" }))]
                                + [count("rows", window.rows), count("times", window.times)]
                        })
                ),
                (
                    "properties",
                    list(
                        use.properties.map { property in
                            let name = property.index < UInt64(names.count) ? names[Int(property.index)].name : nil
                            return [count("index", property.index)] + [("name", .optional(name))]
                                + [
                                    count("rowsRead", property.rowsRead), count("rowsLoaded", property.rowsLoaded),
                                    count("bytes", property.bytes), count("largeRows", property.largeRows),
                                ]
                        })
                ),
            ]
    }
}
