import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

/// Prefetches relationships, with one trip for each.
///
/// Used under the connection's lock.
struct Prefetch {
    private let connection: StoreConnection
    let origin: TraceOrigin
    /// The loaded blocks and members, which the fetched objects retain.
    let objects = PrefetchedObjects()
    private(set) var trips = 0
    /// The number of rows read.
    private(set) var rows = 0
    /// The bytes of their values; counted only while recording.
    private(set) var bytes: UInt64 = 0
    /// The costs of each key path, even if nothing had to be read; collected only while recording.
    private(set) var paths: [TraceEvent.Prefetch] = []

    private var store: SQLStore { connection.store }

    /// Prefetches key paths from the rows of an entity.
    init(
        _ keyPaths: [String], from rows: ContiguousArray<RowPointer>, _ entity: EntityRuntime,
        _ connection: StoreConnection, origin: TraceOrigin
    ) throws(StoreError) {
        self.connection = connection
        self.origin = origin
        let recorder = connection.recorder
        for (position, keyPath) in keyPaths.enumerated() {
            let isRecorded = recorder.isEnabled && position < TraceEvent.Prefetch.maximumPaths
            let before = (trips, self.rows, bytes, start: isRecorded ? recorder.now() : 0)
            try load(keyPath, from: rows, entity)
            guard isRecorded else { continue }
            paths.append(
                TraceEvent.Prefetch(
                    path: UInt64(position), trips: UInt64(trips - before.0), rows: UInt64(self.rows - before.1),
                    bytes: bytes - before.2, duration: recorder.now() - before.start))
        }
    }

    private mutating func load(
        _ keyPath: String, from rows: ContiguousArray<RowPointer>, _ entity: EntityRuntime
    ) throws(StoreError) {
        var (rows, entity) = (rows, entity)
        var rest = keyPath[...]
        while !rows.isEmpty, !rest.isEmpty {
            let end = rest.utf8.firstIndex(of: UInt8(ascii: ".")) ?? rest.endIndex
            guard let property = entity.schema.property(String(rest[..<end])) else { return }
            rest = rest[end...].dropFirst()
            let destination = store.entities[property.destination]
            let path = keyPath[..<end]
            switch property.kind {
            case .attribute: return
            case .toOne: rows = try toOne(property, rows, destination, path)
            case .toMany: rows = try toMany(property, rows, destination, path)
            case .manyToMany: rows = try manyToMany(property, rows, destination, path)
            }
            entity = destination
        }
    }

    /// Checks that key paths consist of relationships.
    ///
    /// - Throws: ``StoreError`` if one of them does not.
    static func check(_ keyPaths: [String], _ entity: EntityRuntime, _ model: ModelSchema) throws(StoreError) {
        for keyPath in keyPaths {
            guard let (owner, name) = missingRelationship(in: keyPath, from: entity.schema, model) else { continue }
            throw StoreError(
                .invalidRequest,
                "Fetching \(entity.schema.name): '\(keyPath)' cannot be prefetched because \(owner) has no stored relationship '\(name)'; correct the key path."
            )
        }
    }

    /// The first name in a key path that is not a stored relationship, with the entity that lacks it; `nil` if there is none.
    static func missingRelationship(
        in keyPath: String, from entity: EntitySchema, _ model: ModelSchema
    ) -> (owner: String, name: String)? {
        var schema = entity
        for name in keyPath.split(separator: ".").map(String.init) {
            guard let property = schema.property(name), property.isRelationship, !property.isTransient else {
                return (schema.name, name)
            }
            schema = model.entities[property.destination]
        }
        return nil
    }

    /// Loads the rows that foreign keys refer to; rows in the row cache are not read again.
    private mutating func toOne(
        _ property: PropertySchema, _ rows: ContiguousArray<RowPointer>, _ destination: EntityRuntime, _ path: Substring
    ) throws(StoreError) -> ContiguousArray<RowPointer> {
        let (found, blocks, missing) = connection.rows.rows(
            root: destination.schema.root, keys: foreignKeys(property, rows))
        objects.hold(blocks)
        guard !missing.isEmpty else { return found }
        let sql =
            "\(destination.rowSelection) FROM \(destination.schema.table) t0 WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)"
        let loaded = try run(sql, missing, destination, path, hasSources: false)
        return found + loaded.rows
    }

    /// The foreign keys of rows, sorted and unique.
    private func foreignKeys(_ property: PropertySchema, _ rows: ContiguousArray<RowPointer>) -> [Int64] {
        var keys: [Int64] = []
        keys.reserveCapacity(rows.count)
        // Most rows have the same entity.
        var known: (entity: Int32, slot: Int)?
        for row in rows {
            let entity = row.header.pointee.entity
            if known?.entity != entity { known = (entity, store.entities[Int(entity)].slots[property.index]) }
            guard let slot = known?.slot, row.hasValue(slot: slot) else { continue }
            keys.append(row.integer(at: RowLayout.offset(ofSlot: slot)))
        }
        keys.sort()
        var count = 0
        for position in keys.indices where count == 0 || keys[position] != keys[count - 1] {
            keys[count] = keys[position]
            count += 1
        }
        keys.removeLast(keys.count - count)
        return keys
    }

    private mutating func toMany(
        _ property: PropertySchema, _ rows: ContiguousArray<RowPointer>, _ destination: EntityRuntime, _ path: Substring
    ) throws(StoreError) -> ContiguousArray<RowPointer> {
        let inverse = store.schema.memberKey(of: property)
        let key = inverse.column
        let order = property.isOrdered ? ", \(EntityRuntime.memberOrder(property))" : ""
        let sql =
            "\(destination.rowSelection) FROM \(destination.schema.table) t0 WHERE  t0.\(key) IN (SELECT * FROM _Z_intarray0)  ORDER BY t0.\(key)\(order)"
        var loaded = try run(sql, rows.map(\.key), destination, path, hasSources: false)
        loaded.sources = loaded.rows.map { row in
            let entity = store.entities[Int(row.header.pointee.entity)]
            return row.integer(at: entity.offsets[inverse.index])
        }
        keep(property, owners: rows, loaded, destination)
        return loaded.rows
    }

    private mutating func manyToMany(
        _ property: PropertySchema, _ rows: ContiguousArray<RowPointer>, _ destination: EntityRuntime, _ path: Substring
    ) throws(StoreError) -> ContiguousArray<RowPointer> {
        let join = property.joinTable!
        let order = property.isOrdered ? ", \(EntityRuntime.memberOrder(property))" : ""
        let sql =
            "\(destination.rowSelection), t1.\(join.sourceColumn) FROM \(destination.schema.table) t0 JOIN \(join.table) t1 ON t0.Z_PK = t1.\(join.destinationColumn) WHERE  t1.\(join.sourceColumn) IN (SELECT * FROM _Z_intarray0)  ORDER BY t1.\(join.sourceColumn)\(order)"
        let loaded = try run(sql, rows.map(\.key), destination, path, hasSources: true)
        var members = loaded
        members.rows = ContiguousArray(loaded.members.lazy.map { loaded.rows[$0] })
        keep(property, owners: rows, members, destination)
        return loaded.rows
    }

    private mutating func run(
        _ sql: String, _ keys: [Int64], _ destination: EntityRuntime, _ path: Substring, hasSources: Bool
    ) throws(StoreError) -> LoadedRows {
        trips += 1
        let (log, recorder) = (connection.log, connection.recorder)
        let statement = try connection.bind(sql, keys: keys)
        log.statement(sql, arrays: 1)
        let start = log.isOn ? recorder.now() : 0
        let loaded = try connection.session.asEvent(statement, origin: origin) { (run) throws(StoreError) in
            let loaded = try connection.loadRows(statement, destination, hasSources: hasSources)
            run = loaded.run
            return loaded
        }
        rows += loaded.rows.count
        if recorder.isEnabled { bytes += store.bytes(of: loaded.rows) }
        objects.hold(loaded.blocks)
        if log.isOn {
            log.connectionTime(loaded.run.duration)
            let count = hasSources ? loaded.sources.count : loaded.rows.count
            log.totalTime(recorder.now() - start, rows: count)
            log.print(.annotation, "Prefetching with key '\(path)'.  Got \(count) rows.")
        }
        return loaded
    }

    /// Stores the members of each owner; an owner without members gets an empty list, which avoids another trip.
    private func keep(
        _ property: PropertySchema, owners: ContiguousArray<RowPointer>, _ loaded: LoadedRows,
        _ destination: EntityRuntime
    ) {
        var ranges: [Int64: Range<Int>] = [:]
        for owner in owners { ranges[owner.key] = 0..<0 }
        var start = 0
        while start < loaded.sources.count {
            var end = start + 1
            while end < loaded.sources.count, loaded.sources[end] == loaded.sources[start] { end += 1 }
            ranges[loaded.sources[start]] = start..<end
            start = end
        }
        objects.insert(
            PrefetchedObjects.MemberLists(
                ranges: ranges, keys: ContiguousArray(loaded.rows.map(\.key)),
                entities: destination.schema.isInTree ? ContiguousArray(loaded.rows.map(\.header.pointee.entity)) : [],
                generation: store.relationshipGenerations[property.relationshipNumber]),
            for: property.relationshipNumber)
    }
}

/// The relationships that were prefetched with a fetch for its objects.
///
/// The fetched objects retain it, and pass it on to the objects reached through them.
final class PrefetchedObjects {
    /// The members of one to-many relationship of many objects.
    struct MemberLists {
        /// By the owner's key: the range of its members in `keys`.
        var ranges: [Int64: Range<Int>]
        var keys: ContiguousArray<Int64>
        /// Indexes of the members' entities; empty if all members have the same entity.
        var entities: ContiguousArray<Int32>
        /// The relationship's generation when the members were read.
        var generation: UInt64
    }

    /// By relationship number.
    private var lists: [Int: MemberLists] = [:]
    /// Retaining these blocks keeps the destinations' rows in the row cache.
    private var blocks: [RowBlock] = []

    func hold(_ more: [RowBlock]) {
        blocks += more
    }

    func insert(_ list: MemberLists, for relationship: Int) {
        lists[relationship] = list
    }

    /// The members of an object's relationship; `nil` if they were not prefetched, or if a save has changed the
    /// relationship since.
    func members(
        _ property: PropertySchema, of key: Int64, _ store: SQLStore
    ) -> (keys: ContiguousArray<Int64>, entities: ContiguousArray<Int32>)? {
        guard let list = lists[property.relationshipNumber], let range = list.ranges[key] else { return nil }
        guard store.relationshipGenerations[property.relationshipNumber] == list.generation else { return nil }
        return (
            ContiguousArray(list.keys[range]), list.entities.isEmpty ? [] : ContiguousArray(list.entities[range])
        )
    }
}
