import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
import Foundation

extension ManagedObjectContext {
    /// Fills an object from the row cache, or else from the store.
    ///
    /// - Returns: what went wrong; the object then reads as its defaults, and the next fetch or save throws.
    @inline(never)
    @discardableResult
    func fire(_ object: ManagedObject) -> StoreError? {
        let failure = fill(object)
        if failure == nil, object.overrides(.awakeFromFetch) {
            object.flags.insert(.isAwaking)
            object.awakeFromFetch()
            object.flags.remove(.isAwaking)
        }
        return failure
    }

    @inline(__always)
    private func fill(_ object: ManagedObject) -> StoreError? {
        let open = recorder.begin()
        // The context holds the store, and the store the entity; the store, or the snapshot that the context is pinned to,
        // holds the pool.
        unowned(unsafe) let entity = object.runtime
        unowned(unsafe) let store = entity.store
        unowned(unsafe) let pool = pool(of: store)
        unowned(unsafe) let schema = entity.schema
        object.flags.remove(.isFault)
        object.partial = nil

        var fault = TraceEvent.Fault()
        var record: StatementRecord?
        var failure: StoreError?
        if open != nil { fault.seenBefore = pool.rows.hasSeen(root: schema.root, key: object.key) }
        if let row = object.row, !row.isSuperseded, isFresh(row.block) {
            fault.source = .rowCache
        } else if let (row, block) = pool.rows.row(root: schema.root, key: object.key), isFresh(block) {
            fault.source = .rowCache
            object.row = row
            object.block = block
        } else {
            fault.source = .store
            if stalenessInterval >= 0 {
                // Neither the row that is here nor the state that a burst of reading holds on to will do.
                store.finishReading()
                pool.rows.remove(root: schema.root, key: object.key)
            }
            do throws(StoreError) {
                let loaded = try load(object, with: pool, isRecording: open != nil, &record)
                object.row = loaded?.row
                object.block = loaded?.block
            } catch {
                object.row = nil
                object.block = nil
                failure = error
            }
        }
        if let row = object.row, Int(row.header.pointee.entity) != schema.index {
            let actual = store.entities[Int(row.header.pointee.entity)]
            if schema.family.contains(actual.schema.index) {
                // Somebody named the object by a parent of its entity, as a URL can. Its columns lie elsewhere.
                object.runtime = actual
                if type(of: object) != actual.objectClass { object.flags.insert(.hasOtherClass) }
            } else {
                object.row = nil
                object.block = nil
            }
        }
        if object.row == nil {
            object.flags.insert(.isGone)
            if failure == nil {
                fault.source = .gone
                failure = StoreError(
                    .objectGone,
                    "\(schema.name) \(object.objectID) is not in the store any more; another writer deleted it, so release the object.",
                    objectID: object.objectID)
            }
            if let failure { observeReadError(failure) }
        }
        if fault.source == .rowCache, log.isOn, object.key > 0 {
            log.print(.annotation, "fault fulfilled from row cache for : \(object.objectID)")
        }
        guard let open else { return failure }
        let isReached = object.trail.relationship >= 0
        fault.type = isReached ? .toOne : .object
        if isReached {
            let owner = store.entities[Int(object.trail.relationshipEntity)]
            if owner.schema.properties[Int(object.trail.relationship)].isToMany { fault.type = .object }
            fault.relationship = owner.nameID(Int(object.trail.relationship), recorder)
            fault.relationshipEntity = owner.traceID(recorder)
        }
        fault.entity = entity.traceID(recorder)
        fault.object = recorder.hash(UInt64(schema.root), UInt64(bitPattern: object.key))
        fault.origin = object.trail.origin
        fault.filled = object.row == nil ? 0 : 1
        fault.bytes = object.row.map { UInt64($0.byteCount(object.runtime.layout)) } ?? 0
        fault.error = failure.map { UInt32(bitPattern: $0.sqliteCode) } ?? 0
        if fault.bytes >= TraceEvent.Release.leastBytes {
            fault.isWatched = true
            object.watchedFault = open.id
        }
        fault.isDeleting = deletionDepth > 0
        recorder.end(open, fault, statement: record, context: traceID, site: 0)
        return failure
    }

    @inline(__always)
    private func isFresh(_ block: RowBlock) -> Bool {
        stalenessInterval < 0 || Double(RowBlock.now &- block.time) < stalenessInterval * 1e9
    }

    private func load(
        _ object: ManagedObject, with pool: ConnectionPool, isRecording: Bool, _ record: inout StatementRecord?
    ) throws(StoreError) -> (row: RowPointer, block: RowBlock)? {
        guard object.key > 0 else { return nil }
        let start = log.isOn ? recorder.now() : 0
        unowned(unsafe) let entity = object.runtime
        var run = StatementRun()
        let loaded = try pool.read(for: faultOrigin(isRecording)) { connection throws(StoreError) in
            try connection.loadRow(entity, key: object.key, isRecording: isRecording, &run)
        }
        if isRecording { record = run.record }
        if log.isOn {
            log.connectionTime(run.duration)
            log.totalTime(recorder.now() - start, rows: loaded == nil ? 0 : 1)
            if loaded != nil {
                log.print(.annotation, "fault fulfilled from database for : \(object.objectID)")
            }
            logPlan(object.runtime.faultSQL, pool)
        }
        return loaded
    }

    private func faultOrigin(_ isRecording: Bool) -> TraceOrigin {
        isRecording ? TraceOrigin(context: traceID) : TraceOrigin()
    }

    func logPlan(_ sql: String, _ pool: ConnectionPool) {
        guard log.level >= 4 else { return }
        let plan = try? pool.read { connection throws(StoreError) in connection.session.plan(sql) }
        log.plan(sql, plan ?? [])
    }

    /// Fills a to-many relationship from what was prefetched, or else from the store.
    @inline(never)
    func fire(_ object: ManagedObject, relationship index: Int, _ state: ToManyState) {
        defer { observeShown(state) }
        if let known = state.identities {
            return state.load(
                known.lazy.map { id in
                    let member = self.object(with: id)
                    member.inherit(from: object, index)
                    return member
                })
        }
        readMembers(of: object, index) { keys, isWhole in
            var members: ContiguousArray<ManagedObject> = []
            members.reserveCapacity(keys.keys.count)
            keys.forEach { entity, key in
                let member = self.object(entity, key: key)
                member.inherit(from: object, index)
                members.append(member)
            }
            state.load(members, isWhole: isWhole)
        }
    }

    /// The identities of the members that a relationship has in the store, in their order.
    ///
    /// Makes no objects.
    func memberIDs(of object: ManagedObject, relationship index: Int) -> [ManagedObjectID] {
        var found: [ManagedObjectID] = []
        readMembers(of: object, index) { keys, _ in
            keys.forEach { found.append(ManagedObjectID(store: $0.store.identity, entity: $0.schema, key: $1)) }
        }
        return found
    }

    /// The members that a relationship has in the store.
    private struct MemberKeys {
        let store: SQLStore
        let property: PropertySchema
        let keys: ContiguousArray<Int64>
        /// Empty where all are of the relationship's destination.
        let places: ContiguousArray<Int32>

        /// In the relationship's order or, if it has none, in that of the keys.
        func forEach(_ body: (EntityRuntime, Int64) -> Void) {
            let destination = store.entities[property.destination]
            for place in property.isOrdered ? Array(keys.indices) : Self.ascending(keys) {
                body(places.isEmpty ? destination : store.entities[Int(places[place])], keys[place])
            }
        }

        /// The places of keys in the order of the keys.
        private static func ascending(_ keys: ContiguousArray<Int64>) -> [Int] {
            let places = Array(keys.indices)
            let isOrdered = zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }
            return isOrdered ? places : places.sorted { keys[$0] < keys[$1] }
        }
    }

    /// Reads the members of a to-many relationship as an event, which lasts as long as `take` does.
    ///
    /// - Parameter take: gets what there is, and whether that is all.
    private func readMembers(of object: ManagedObject, _ index: Int, _ take: (MemberKeys, Bool) -> Void) {
        let store = object.runtime.store
        let open = recorder.begin()
        let property = object.runtime.schema.properties[index]
        let destination = store.entities[property.destination]
        var fault = TraceEvent.Fault()
        fault.type = .toMany
        var record: StatementRecord?
        var keys: ContiguousArray<Int64> = []
        var places: ContiguousArray<Int32> = []
        var failure: StoreError?
        if object.key < 0 {
            // New objects have nothing in the store.
        } else if let list = object.prefetched?.members(property, of: object.key, store) {
            fault.source = .rowCache
            keys = list.keys
            places = list.entities
            fault.seenBefore = true
            if log.isOn {
                log.print(
                    .annotation,
                    "to-many relationship fault \"\(property.name)\" for objectID \(object.objectID) fulfilled from row cache.  Got \(keys.count) rows"
                )
            }
        } else {
            fault.source = .store
            do throws(StoreError) {
                let loaded = try loadMembers(of: object, property, destination, isRecording: open != nil)
                (keys, places, record) = (loaded.keys, loaded.entities, loaded.run.record)
            } catch {
                failure = error
                observeReadError(error)
            }
        }
        take(MemberKeys(store: store, property: property, keys: keys, places: places), failure == nil)
        guard let open else { return }
        fault.entity = object.runtime.traceID(recorder)
        fault.relationship = object.runtime.nameID(index, recorder)
        fault.relationshipEntity = fault.entity
        fault.object = recorder.hash(UInt64(object.runtime.schema.root), UInt64(bitPattern: object.key))
        fault.origin = object.trail.origin
        fault.filled = UInt32(clamping: keys.count)
        fault.bytes = UInt64(keys.count * 8)
        fault.isDeleting = deletionDepth > 0
        fault.error = failure.map { UInt32(bitPattern: $0.sqliteCode) } ?? 0
        recorder.end(open, fault, statement: record, context: traceID, site: 0)
    }

    private func loadMembers(
        of object: ManagedObject, _ property: PropertySchema, _ destination: EntityRuntime, isRecording: Bool
    ) throws(StoreError) -> LoadedKeys {
        let sql = destination.memberSQL(property)
        let start = log.isOn ? recorder.now() : 0
        let pool = pool(of: object.runtime.store)
        let loaded = try pool.read(for: faultOrigin(isRecording)) { connection throws(StoreError) in
            try connection.beginRead()
            let statement = try connection.sqlite.statement(sql)
            statement.bind(.integer(object.key), at: 1)
            log.statement(sql, [.integer(object.key)])
            return try connection.loadKeys(statement, destination, isRecording: isRecording)
        }
        if log.isOn {
            log.connectionTime(loaded.run.duration)
            log.totalTime(recorder.now() - start, rows: loaded.keys.count)
            log.print(
                .annotation,
                "to-many relationship fault \"\(property.name)\" for objectID \(object.objectID) fulfilled from database.  Got \(loaded.keys.count) rows"
            )
            logPlan(sql, pool)
        }
        return loaded
    }

    /// The value of an attribute that allows external storage: behind a first byte of 1 the value, behind a first byte
    /// of 2 the name of its file.
    ///
    /// Where the file is gone because another writer has replaced the value since the row was read, the row is read
    /// anew. An object with unsaved changes keeps its old row all the same, so that saving it is a conflict.
    func externalValue(_ index: Int, of object: ManagedObject) -> Data? {
        guard let (row, offset) = object.place(index), let block = object.block else { return nil }
        let store = object.runtime.store
        do throws(StoreError) {
            return try store.external.value(row.bytes(at: offset))
        } catch {
            let version = row.header.pointee.version
            store.finishReading()
            if !row.isSuperseded { pool(of: store).rows.remove(root: object.runtime.schema.root, key: object.key) }
            (object.row, object.block) = (nil, nil)
            defer {
                if object.pending != nil { (object.row, object.block) = (row, block) }
            }
            guard fire(object) == nil, let (newer, offset) = object.place(index) else { return nil }
            var failure = error
            if newer.header.pointee.version != version {
                do throws(StoreError) {
                    return try store.external.value(newer.bytes(at: offset))
                } catch {
                    failure = error
                }
            }
            observeReadError(failure)
            return nil
        }
    }
}
