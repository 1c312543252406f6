import CSQLite
import FaultlineModel
import FaultlineRecorder
import FaultlineStore

/// The associations between a migration's newer objects and the older ones they were created from.
///
/// Those of the current batch are in memory. Those of earlier batches are ranges of keys if the objects kept their keys; the
/// rest are in a temporary database that SQLite removes by itself.
final class MigrationAssociations {
    /// An object at the other end of an association.
    struct End {
        let entity: Int
        let key: Int64
        /// The object itself, if its key is not known yet.
        var object: ManagedObject?
    }

    /// An association of the current batch.
    struct Pending {
        let mapping: Int
        let source: ManagedObject
        let destination: ManagedObject
        /// The position of the previous association of the same older object, and of the same newer one, or -1.
        fileprivate let previousOfSource: Int
        fileprivate let previousOfDestination: Int
    }

    /// The keys that a mapping's older and newer objects have in common.
    private struct Kept {
        let sourceEntity: Int
        let destinationEntity: Int
        var keys = KeyRanges()
    }

    /// The maximum number of ranges, which take 16 bytes each.
    private static let rangeLimit = 500_000

    private let connection: SQLConnection
    private let insertion: SQLStatement
    private let bySource: SQLStatement
    private let byDestination: SQLStatement
    private(set) var pending: [Pending] = []
    /// The position of the last association in `pending`, by object.
    private var pendingSources: [ObjectIdentifier: Int] = [:]
    private var pendingDestinations: [ObjectIdentifier: Int] = [:]
    /// The keys of older objects that objects of this batch already have.
    private var taken: Set<Int64> = []
    /// By mapping.
    private var kept: [Kept?] = []
    private var rangeCount = 0
    /// The mappings that have associations in the database.
    private var stored: Set<Int> = []

    init() throws(StoreError) {
        // SQLite keeps a database without a name in a file that it removes (https://www.sqlite.org/inmemorydb.html#temp_db).
        connection = try SQLConnection(
            path: "the temporary database of a migration", opening: "", isReadOnly: false, busyTimeout: 0)
        let session = SQLSession(connection, recorder: .off(), log: SQLDebugLog(level: 0))
        for statement in [
            "PRAGMA journal_mode=off", "PRAGMA cache_size=-4096",
            "CREATE TABLE a (m INTEGER, s INTEGER, se INTEGER, d INTEGER, de INTEGER, PRIMARY KEY (m, s, d, de)) WITHOUT ROWID",
            "CREATE INDEX b ON a (m, d, de)", "BEGIN",
        ] {
            try session.run(statement, doing: "Migrating", isLogged: false)
        }
        insertion = try connection.prepare("INSERT OR IGNORE INTO a (m, s, se, d, de) VALUES (?, ?, ?, ?, ?)")
        bySource = try connection.prepare("SELECT de, d FROM a WHERE m = ? AND s = ? AND se = ? ORDER BY d")
        // Without the hint, SQLite would read all associations of the mapping by the primary key, because of the order.
        byDestination = try connection.prepare(
            "SELECT se, s FROM a INDEXED BY b WHERE m = ? AND d = ? AND de = ? ORDER BY s")
    }

    // MARK: - Adding

    func add(_ source: ManagedObject, _ destination: ManagedObject, under mapping: Int) {
        let position = pending.count
        pending.append(
            Pending(
                mapping: mapping, source: source, destination: destination,
                previousOfSource: pendingSources.updateValue(position, forKey: ObjectIdentifier(source)) ?? -1,
                previousOfDestination: pendingDestinations.updateValue(position, forKey: ObjectIdentifier(destination))
                    ?? -1))
    }

    /// Whether an association is the first of its newer object under its mapping.
    func isFirst(_ association: Pending) -> Bool {
        let (source, destination) = (association.source, association.destination)
        if association.previousOfDestination < 0, destination.key <= 0 { return true }
        guard let first = sources(of: destination, under: association.mapping).first else { return true }
        return first.object === source || (first.object == nil && first.key == source.key)
    }

    /// Claims the key of an older object, and returns whether no other object of the batch has it.
    func take(key: Int64) -> Bool { taken.insert(key).inserted }

    /// Keeps the associations of a batch, after its objects were saved.
    func flush() throws(StoreError) {
        // A policy may have deleted the object that it created.
        for association in pending where association.destination.key > 0 {
            if !keep(association) { try store(association) }
        }
        pending.removeAll(keepingCapacity: true)
        pendingSources.removeAll(keepingCapacity: true)
        pendingDestinations.removeAll(keepingCapacity: true)
        taken.removeAll(keepingCapacity: true)
    }

    /// Adds an association to the ranges of its mapping, if both objects have the same key.
    private func keep(_ association: Pending) -> Bool {
        let (source, destination) = (association.source, association.destination)
        guard source.key == destination.key, rangeCount < Self.rangeLimit else { return false }
        let new = Kept(
            sourceEntity: source.runtime.schema.index, destinationEntity: destination.runtime.schema.index)
        let mapping = association.mapping
        while kept.count <= mapping { kept.append(nil) }
        guard kept[mapping]?.sourceEntity ?? new.sourceEntity == new.sourceEntity,
            kept[mapping]?.destinationEntity ?? new.destinationEntity == new.destinationEntity
        else { return false }
        if kept[mapping] == nil { kept[mapping] = new }
        let before = kept[mapping]?.keys.rangeCount ?? 0
        kept[mapping]?.keys.insert(source.key)
        rangeCount += (kept[mapping]?.keys.rangeCount ?? 0) - before
        return true
    }

    private func kept(under mapping: Int) -> Kept? { mapping < kept.count ? kept[mapping] : nil }

    private func store(_ association: Pending) throws(StoreError) {
        let (source, destination) = (association.source, association.destination)
        stored.insert(association.mapping)
        for (position, value) in [
            Int64(association.mapping), source.key, Int64(source.runtime.schema.index), destination.key,
            Int64(destination.runtime.schema.index),
        ].enumerated() {
            insertion.bind(.integer(value), at: Int32(position + 1))
        }
        let result = sqlite3_step(insertion.handle)
        insertion.reset()
        guard result == SQLITE_DONE else { throw connection.error(result, doing: "Migrating") }
    }

    // MARK: - Reading

    func destinations(of source: ManagedObject, under mapping: Int) -> [End] {
        destinations(entity: source.runtime.schema.index, key: source.key, under: mapping)
            + ends(pendingSources[ObjectIdentifier(source)], mapping) { ($0.previousOfSource, $0.destination) }
    }

    /// The newer objects of an older object, without those of the current batch.
    func destinations(entity: Int, key: Int64, under mapping: Int) -> [End] {
        guard key > 0 else { return [] }
        var found: [End] = []
        if let kept = kept(under: mapping), kept.sourceEntity == entity, kept.keys.contains(key) {
            found.append(End(entity: kept.destinationEntity, key: key))
        }
        if stored.contains(mapping) { found += ends(bySource, mapping, key, entity) }
        return found
    }

    func sources(of destination: ManagedObject, under mapping: Int) -> [End] {
        sources(entity: destination.runtime.schema.index, key: destination.key, under: mapping)
            + ends(pendingDestinations[ObjectIdentifier(destination)], mapping) {
                ($0.previousOfDestination, $0.source)
            }
    }

    /// The older objects of a newer object in the order of their keys, without those of the current batch.
    func sources(entity: Int, key: Int64, under mapping: Int) -> [End] {
        guard key > 0 else { return [] }
        var found: [End] = []
        if let kept = kept(under: mapping), kept.destinationEntity == entity, kept.keys.contains(key) {
            found.append(End(entity: kept.sourceEntity, key: key))
        }
        if stored.contains(mapping) {
            found += ends(byDestination, mapping, key, entity)
            found.sort { $0.key < $1.key }
        }
        return found
    }

    /// The objects at the other ends of an object's associations in the current batch, in the order in which they were added.
    ///
    /// - Parameters:
    ///   - last: The position of the last association.
    ///   - side: Returns the position of the association before, and the object at the other end.
    @inline(__always)
    private func ends(
        _ last: Int?, _ mapping: Int, _ side: (Pending) -> (previous: Int, other: ManagedObject)
    ) -> [End] {
        var found: [End] = []
        var position = last ?? -1
        while position >= 0 {
            let (previous, object) = side(pending[position])
            if pending[position].mapping == mapping {
                found.append(End(entity: object.runtime.schema.index, key: 0, object: object))
            }
            position = previous
        }
        return found.reversed()
    }

    private func ends(_ statement: SQLStatement, _ mapping: Int, _ key: Int64, _ entity: Int) -> [End] {
        statement.bind(.integer(Int64(mapping)), at: 1)
        statement.bind(.integer(key), at: 2)
        statement.bind(.integer(Int64(entity)), at: 3)
        return Self.read(statement)
    }

    /// The newer objects of a mapping, in the order of their keys.
    func destinations(under mapping: Int, after last: End?, limit: Int) throws(StoreError) -> [End] {
        let (key, entity) = (last?.key ?? 0, last?.entity ?? -1)
        var ends: [End] = []
        if let kept = kept(under: mapping) {
            // An object of another entity can have the last one's key.
            ends = kept.keys.keys(after: kept.destinationEntity > entity ? key - 1 : key, limit: limit)
                .map { End(entity: kept.destinationEntity, key: $0) }
        }
        guard stored.contains(mapping) else { return ends }
        let statement = try connection.statement(
            "SELECT DISTINCT de, d FROM a WHERE m = ? AND (d, de) > (?, ?) ORDER BY d, de LIMIT \(limit)")
        statement.bind(.integer(Int64(mapping)), at: 1)
        statement.bind(.integer(key), at: 2)
        statement.bind(.integer(Int64(entity)), at: 3)
        ends += Self.read(statement)
        ends.sort { ($0.key, $0.entity) < ($1.key, $1.entity) }
        // A newer object can be in both places: it kept the key of one older object and is associated with another, too.
        var distinct: [End] = []
        for end in ends where distinct.last.map({ $0.key != end.key || $0.entity != end.entity }) ?? true {
            distinct.append(end)
            if distinct.count == limit { break }
        }
        return distinct
    }

    /// Reads the rows of a statement: an entity and a key each.
    private static func read(_ statement: SQLStatement) -> [End] {
        defer { statement.reset() }
        var ends: [End] = []
        while sqlite3_step(statement.handle) == SQLITE_ROW {
            ends.append(
                End(
                    entity: Int(sqlite3_column_int64(statement.handle, 0)),
                    key: sqlite3_column_int64(statement.handle, 1)))
        }
        return ends
    }
}

/// A set of keys, as ranges.
///
/// Keys are mostly added in ascending order, with few gaps, so a million of them take little memory.
struct KeyRanges {
    private var ranges: [ClosedRange<Int64>] = []

    var rangeCount: Int { ranges.count }

    mutating func insert(_ key: Int64) {
        guard let last = ranges.last, key <= last.upperBound else {
            if let last = ranges.last, last.upperBound + 1 == key {
                ranges[ranges.count - 1] = last.lowerBound...key
            } else {
                ranges.append(key...key)
            }
            return
        }
        let position = position(endingAtOrAfter: key)
        if ranges[position].contains(key) { return }
        let joinsNext = ranges[position].lowerBound == key + 1
        let joinsPrevious = position > 0 && ranges[position - 1].upperBound == key - 1
        switch (joinsPrevious, joinsNext) {
        case (true, true):
            ranges[position - 1] = ranges[position - 1].lowerBound...ranges[position].upperBound
            ranges.remove(at: position)
        case (true, false): ranges[position - 1] = ranges[position - 1].lowerBound...key
        case (false, true): ranges[position] = key...ranges[position].upperBound
        case (false, false): ranges.insert(key...key, at: position)
        }
    }

    func contains(_ key: Int64) -> Bool {
        let position = position(endingAtOrAfter: key)
        return position < ranges.count && ranges[position].lowerBound <= key
    }

    /// The first keys after one, in ascending order.
    func keys(after key: Int64, limit: Int) -> [Int64] {
        var found: [Int64] = []
        for range in ranges[position(endingAtOrAfter: key)...] {
            guard range.upperBound > key else { continue }
            found += range.clamped(to: (key + 1)...range.upperBound).prefix(limit - found.count)
            if found.count == limit { break }
        }
        return found
    }

    /// The position of the first range that does not end before a key.
    private func position(endingAtOrAfter key: Int64) -> Int {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < key { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
