import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
import Foundation

extension ManagedObjectContext {
    /// Fills an object from the row cache, or else from the store; in a child, first from unsaved changes of an
    /// ancestor.
    ///
    /// - Returns: The error, if any. The object then reads as its defaults, and the next fetch or save throws.
    @inline(never)
    @discardableResult
    func fire(_ object: ManagedObject, isThrowing: Bool = false) -> StoreError? {
        let failure = fill(object, isThrowing)
        if failure == nil, object.overrides(.awakeFromFetch) {
            object.flags.insert(.isAwaking)
            object.awakeFromFetch()
            object.flags.remove(.isAwaking)
        }
        return failure
    }

    @inline(__always)
    private func fill(_ object: ManagedObject, _ isThrowing: Bool) -> StoreError? {
        var span = beginSingleFault()
        let started = span == nil ? startOfHit() : 0
        let inherited = parent == nil ? .unchanged : inheritedValues(of: object)
        // The context retains the store, and the store retains the entity. The pool is retained by the store, or by the
        // snapshot that the context is pinned to.
        unowned(unsafe) let entity = object.runtime
        unowned(unsafe) let store = entity.store
        unowned(unsafe) let pool = pool(of: store)
        let root = entity.root
        object.flags.remove(.isFault)
        object.partial = nil

        var source = TraceEvent.Fault.Source.rowCache
        var failure: StoreError?
        if case .row(let row, let block) = inherited {
            (object.row, object.block) = (row, block)
        } else if case .gone = inherited {
            (object.row, object.block) = (nil, nil)
        } else if let row = object.row, !row.isSuperseded, !row.isInherited, isFresh(row.block) {
            // The object already has its row.
        } else if let (row, block) = pool.rows.row(root: root, key: object.key), isFresh(block) {
            object.row = row
            object.block = block
        } else {
            source = .store
            span = span ?? faultSpan()
            if let span { span.didFind(pool.rows.past(root: root, key: object.key, at: span.start)) }
            if stalenessInterval >= 0 {
                // The row in memory is too old, and the snapshot of a read burst may be as well.
                store.finishReading()
                pool.rows.remove(root: root, key: object.key)
            }
            do throws(StoreError) {
                let loaded = try load(object, with: pool, span)
                object.row = loaded?.row
                object.block = loaded?.block
            } catch {
                object.row = nil
                object.block = nil
                failure = error
            }
        }
        adoptEntityOfRow(object, store)
        if object.row == nil {
            object.flags.insert(.isGone)
            if failure == nil {
                source = .gone
                failure = gone(object, inherited)
            }
            if let failure { observeReadError(failure) }
        }
        if source == .rowCache, log.isOn, object.key > 0 {
            log.print(.annotation, "fault fulfilled from row cache for : \(object.objectID)")
        }
        if span == nil, recorder.isEnabled { span = count(object, entity, source, started) }
        if let span {
            span.event.isThrowing = isThrowing
            if source == .rowCache { span.event.seenBefore = true }
            span.describe(object, entity, source, failure, isDeleting: deletionDepth > 0)
            span.end()
        }
        return failure
    }

    /// Counts a fault that the row cache filled.
    ///
    /// - Returns: A span if the fault needs an event of its own: its object is gone, or so large that its release will be
    ///   recorded.
    private func count(
        _ object: ManagedObject, _ entity: EntityRuntime, _ source: TraceEvent.Fault.Source, _ started: UInt64
    ) -> FaultSpan? {
        guard source == .rowCache, let row = object.row, row.header.pointee.size < Self.largeRow else {
            return faultSpan()
        }
        // Firing the fault may have changed the object's entity.
        var hit = hit(object, row, started, layoutID: entity.layoutID)
        if !recorder.count(&hit) { recorder.open(hit, FaultSubject(object, entity, recorder).hits(from: object)) }
        return nil
    }

    /// Counts the fault of an object that already has its row.
    ///
    /// - Returns: Whether it was counted; otherwise it needs an event of its own.
    @inline(never)
    func count(_ object: ManagedObject, _ row: RowPointer) -> Bool {
        guard !recorder.recordsEachFault, row.header.pointee.size < Self.largeRow else { return false }
        var hit = hit(object, row, startOfHit(), layoutID: object.layoutID)
        if !recorder.count(&hit) { recorder.open(hit, firstHits(object)) }
        return true
    }

    /// Separate, so that counting a further hit retains nothing.
    @inline(never)
    private func firstHits(_ object: ManagedObject) -> TraceEvent.CacheHits {
        FaultSubject(object, object.runtime, recorder).hits(from: object)
    }

    private static let largeRow = UInt32(TraceEvent.Release.minimumBytes)

    @inline(__always)
    private func hit(_ object: ManagedObject, _ row: RowPointer, _ started: UInt64, layoutID: UInt32) -> CacheHit {
        let place =
            UInt64(layoutID) << 34 | UInt64(UInt16(bitPattern: object.trail.relationshipEntity)) << 18
            | UInt64(UInt16(bitPattern: object.trail.relationship)) << 2
        return CacheHit(
            place: place, origin: object.trail.origin, bytes: row.header.pointee.size, context: traceID,
            started: started)
    }

    private func gone(_ object: ManagedObject, _ inherited: InheritedValues) -> StoreError {
        var reason = "is no longer in the store, because this context or another writer deleted it"
        if case .gone = inherited, let parent {
            reason = "is no longer in the parent context '\(parent.name)', because it was deleted there or never saved"
        }
        return StoreError(
            .objectGone, "\(object.entityName) \(object.objectID) \(reason); release the object.",
            objectID: object.objectID)
    }

    /// Begins a fault event; returns `nil` if nothing is recorded.
    @inline(__always)
    private func faultSpan() -> FaultSpan? {
        recorder.begin().map { FaultSpan($0, recorder, TraceOrigin(context: traceID)) }
    }

    /// Begins the event of a fault that may be a hit, if each of those is recorded.
    @inline(__always)
    private func beginSingleFault() -> FaultSpan? {
        recorder.isEnabled && recorder.recordsEachFault ? faultSpan() : nil
    }

    /// The time if the next hit of an object is to be timed; otherwise 0.
    @inline(__always)
    private func startOfHit() -> UInt64 {
        recorder.isEnabled && timedHits.next() ? recorder.now() : 0
    }

    /// Begins a piece of work that only recording needs and that is done for each row or value; see
    /// ``Recorder/beginCost()``.
    @inline(__always)
    func costOfFrequentWork() -> UInt64 {
        timedWork.next() ? recorder.now() : 0
    }

    /// Gives an object the entity of its row, if it was named by a parent of that entity, as a URL can do.
    @inline(__always)
    private func adoptEntityOfRow(_ object: ManagedObject, _ store: SQLStore) {
        guard let row = object.row else { return }
        unowned(unsafe) let schema = object.runtime.schema
        guard Int(row.header.pointee.entity) != schema.index else { return }
        let actual = store.entities[Int(row.header.pointee.entity)]
        if schema.family.contains(actual.schema.index) {
            // Its columns are at other offsets.
            object.runtime = actual
            if type(of: object) != actual.objectClass { object.flags.insert(.hasOtherClass) }
        } else {
            object.row = nil
            object.block = nil
        }
    }

    @inline(__always)
    private func isFresh(_ block: RowBlock) -> Bool {
        stalenessInterval < 0 || Double(RowBlock.now &- block.time) < stalenessInterval * 1e9
    }

    private func load(
        _ object: ManagedObject, with pool: ConnectionPool, _ span: FaultSpan?
    ) throws(StoreError) -> (row: RowPointer, block: RowBlock)? {
        guard object.key > 0 else { return nil }
        let start = log.isOn ? recorder.now() : 0
        unowned(unsafe) let entity = object.runtime
        var run = StatementRun()
        span?.restart()
        let loaded = try pool.read(for: span.origin()) { connection throws(StoreError) in
            span?.didLock()
            return try connection.loadRow(entity, key: object.key, &run)
        }
        span?.didRun(run)
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

    func logPlan(_ sql: String, _ pool: ConnectionPool) {
        guard log.level >= 4 else { return }
        let plan = try? pool.read { connection throws(StoreError) in connection.session.plan(sql) }
        log.plan(sql, plan ?? [])
    }

    /// Fills a to-many relationship from prefetched members, or else from the store.
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

    /// The IDs of a relationship's saved or inherited members, in their order.
    ///
    /// Creates no objects.
    func memberIDs(of object: ManagedObject, relationship index: Int) -> [ManagedObjectID] {
        var found: [ManagedObjectID] = []
        readMembers(of: object, index) { keys, _ in
            keys.forEach { found.append(ManagedObjectID(store: $0.store.identity, entity: $0.schema, key: $1)) }
        }
        return found
    }

    /// The keys of a relationship's saved or inherited members.
    private struct MemberKeys {
        let store: SQLStore
        let property: PropertySchema
        let keys: ContiguousArray<Int64>
        /// The members' entities; empty if all are of the relationship's destination.
        let positions: ContiguousArray<Int32>
        /// Whether the keys are already in the order of the members.
        var isInOrder = false

        /// Visits the members in the relationship's order or, if it has none, in the order of the keys.
        func forEach(_ body: (EntityRuntime, Int64) -> Void) {
            let destination = store.entities[property.destination]
            for position in property.isOrdered || isInOrder ? Array(keys.indices) : Self.ascending(keys) {
                body(positions.isEmpty ? destination : store.entities[Int(positions[position])], keys[position])
            }
        }

        /// The indices of the keys in ascending order of the keys.
        private static func ascending(_ keys: ContiguousArray<Int64>) -> [Int] {
            let positions = Array(keys.indices)
            let isOrdered = zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }
            return isOrdered ? positions : positions.sorted { keys[$0] < keys[$1] }
        }
    }

    /// Reads the members of a to-many relationship, and records an event that ends when `take` returns.
    ///
    /// - Parameter take: Gets the members that were found, and whether they are complete.
    private func readMembers(of object: ManagedObject, _ index: Int, _ take: (MemberKeys, Bool) -> Void) {
        let store = object.runtime.store
        var span = beginSingleFault()
        let started = span == nil ? recorder.nowIfEnabled : 0
        let property = object.runtime.schema.properties[index]
        let destination = store.entities[property.destination]
        var source = TraceEvent.Fault.Source.rowCache
        var keys: ContiguousArray<Int64> = []
        var positions: ContiguousArray<Int32> = []
        var failure: StoreError?
        let inherited = parent == nil ? nil : inheritedMembers(of: object, index)
        if let inherited {
            keys = ContiguousArray(inherited.map(\.key))
            positions = ContiguousArray(inherited.map { Int32($0.entity.index) })
        } else if object.key < 0 {
            // A new object has no members in the store.
        } else if let list = object.prefetched?.members(property, of: object.key, store) {
            keys = list.keys
            positions = list.entities
            span?.event.seenBefore = true
            if log.isOn {
                log.print(
                    .annotation,
                    "to-many relationship fault \"\(property.name)\" for objectID \(object.objectID) fulfilled from row cache.  Got \(keys.count) rows"
                )
            }
        } else {
            source = .store
            span = span ?? faultSpan()
            do throws(StoreError) {
                let loaded = try loadMembers(of: object, property, destination, span)
                (keys, positions) = (loaded.keys, loaded.entities)
            } catch {
                failure = error
                observeReadError(error)
            }
        }
        let found = MemberKeys(
            store: store, property: property, keys: keys, positions: positions, isInOrder: inherited != nil)
        take(found, failure == nil)
        if let span {
            span.describe(
                object, relationship: index, members: keys.count, source, failure, isDeleting: deletionDepth > 0)
            span.end()
        } else if started != 0 {
            count(object, relationship: index, members: keys.count, started)
        }
    }

    /// Counts a to-many fault that needed no trip.
    private func count(_ object: ManagedObject, relationship index: Int, members: Int, _ started: UInt64) {
        let place = UInt64(object.layoutID) << 34 | UInt64(index) << 2 | 1
        var hit = CacheHit(
            place: place, origin: object.trail.origin, members: members, context: traceID, started: started)
        if recorder.count(&hit) { return }
        recorder.open(hit, FaultSubject(object, relationship: index, recorder).hits(from: object))
    }

    private func loadMembers(
        of object: ManagedObject, _ property: PropertySchema, _ destination: EntityRuntime, _ span: FaultSpan?
    ) throws(StoreError) -> LoadedKeys {
        let sql = destination.memberSQL(property)
        let start = log.isOn ? recorder.now() : 0
        let pool = pool(of: object.runtime.store)
        span?.restart()
        let loaded = try pool.read(for: span.origin()) { connection throws(StoreError) in
            span?.didLock()
            try connection.beginRead()
            let statement = try connection.sqlite.statement(sql)
            statement.bind(.integer(object.key), at: 1)
            log.statement(sql, [.integer(object.key)])
            return try connection.loadKeys(statement, destination)
        }
        span?.didRun(loaded.run)
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

    /// The value of an attribute that allows external storage.
    ///
    /// In the row, a first byte of 1 precedes the value, and a first byte of 2 the name of the value's file. If the
    /// file is gone because another writer has replaced the value since the row was read, the row is read again. An
    /// object with unsaved changes keeps its old row even then, so saving it is a conflict.
    func externalValue(_ index: Int, of object: ManagedObject) -> Data? {
        guard let (row, offset) = object.location(index), let block = object.block else { return nil }
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
            guard fire(object) == nil, let (newer, offset) = object.location(index) else { return nil }
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
