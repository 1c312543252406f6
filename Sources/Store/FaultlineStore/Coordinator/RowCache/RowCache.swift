import CStore
import FaultlineRecorder
import FaultlineTrace
import Foundation
import Synchronization

/// The rows of a store in memory, shared by all contexts.
///
/// A row stays while an object retains its block. In addition, the cache retains the youngest blocks up to a limit in
/// bytes, so memory use follows the live objects.
final class RowCache: Sendable {
    private struct State: ~Copyable {
        /// Rows by primary key, with one table for each root entity.
        var maps: UnsafeMutableBufferPointer<KeyMap>
        /// The youngest blocks, oldest first.
        var young: [RowBlock] = []
        var bytes = 0
        /// Bytes of all blocks that have entered the cache.
        var loaded: UInt64 = 0
        var history: RowHistory

        deinit {
            maps.deinitialize()
            maps.deallocate()
        }

        /// Inserts a row, unless the cache has it in the same version.
        ///
        /// - Parameters:
        ///   - listed: The block of the previous row, because rows of a block are consecutive.
        ///   - isWritten: Whether the row was just written and is therefore the store's current version, rather than
        ///     read.
        ///   - recordedAt: The time in nanoseconds of `CLOCK_MONOTONIC`, or 0 while not recording.
        /// - Returns: The cached copy, whose block is added to `held`.
        @inline(__always)
        mutating func insert(
            _ row: RowPointer, _ root: Int, _ listed: inout UnsafeMutableRawPointer?, _ held: inout [RowBlock],
            isWritten: Bool, recordedAt: UInt64
        ) -> RowPointer? {
            var (isNew, isOlder) = (true, false)
            let address = maps[root].insert(row.key, row.address) { old in
                let old = RowPointer(address: old)
                let version = old.header.pointee.version
                // Another connection has read a newer version, written by another process since this connection began
                // to read.
                isOlder = !isWritten && version > row.header.pointee.version
                isNew = !isOlder && (version != row.header.pointee.version || !Self.hold(old, &held))
                return isNew
            }
            if let address {
                let old = RowPointer(address: address)
                if isOlder {
                    row.markSuperseded()
                    return nil
                }
                guard isNew else { return old }
                if old.header.pointee.version != row.header.pointee.version { old.markSuperseded() }
            }
            if row.raw.pointee.block != listed {
                listed = row.raw.pointee.block
                row.unmanagedBlock._withUnsafeGuaranteedRef { block in
                    if !block.isListed { list(block) }
                }
            }
            if recordedAt != 0 { history.insert(row.key, root: root, time: recordedAt, loaded: loaded) }
            return nil
        }

        /// Returns the cached copy of a row in the same version, with its block added to `held`; marks `row` if it is
        /// older.
        func counterpart(of row: RowPointer, _ root: Int, _ held: inout [RowBlock]) -> RowPointer? {
            guard let address = maps[root].address(row.key) else { return nil }
            let known = RowPointer(address: address)
            if known.header.pointee.version > row.header.pointee.version { row.markSuperseded() }
            guard known.header.pointee.version == row.header.pointee.version, Self.hold(known, &held) else {
                return nil
            }
            return known
        }

        private mutating func list(_ block: RowBlock) {
            block.isListed = true
            young.append(block)
            bytes += block.capacity
            loaded &+= UInt64(block.capacity)
        }

        /// Removes the oldest blocks beyond the limit.
        mutating func trim(to limit: Int) -> [RowBlock] {
            guard bytes > limit, young.count > 1 else { return [] }
            var count = 0
            while bytes > limit, count < young.count - 1 {
                bytes -= young[count].capacity
                count += 1
            }
            let evicted = Array(young[..<count])
            young.removeFirst(count)
            return evicted
        }

        /// Retains a row's block, unless it is being deallocated.
        ///
        /// Rows that were read together are often in the same block.
        fileprivate static func hold(_ row: RowPointer, _ held: inout [RowBlock]) -> Bool {
            let block = row.raw.pointee.block
            if let last = held.last, Unmanaged.passUnretained(last).toOpaque() == block { return true }
            guard let retained = swift_tryRetain(block) else { return false }
            held.append(Unmanaged<RowBlock>.fromOpaque(retained).takeRetainedValue())
            return true
        }
    }

    private let state: Mutex<State>
    /// Changed under the lock.
    private let saves = Atomic<UInt64>(0)
    /// The maximum bytes of blocks to retain although no object uses them.
    let limit: Int
    private let recorder: Recorder
    /// The trace dictionary number of the entity at an index of the model.
    private let traceID: @Sendable (Int) -> DictionaryID

    /// Creates an empty cache.
    ///
    /// - Parameter entities: The entities of the model, by index.
    init(_ entities: [EntityRuntime], limit: Int, recorder: Recorder) {
        let roots = entities.count
        self.recorder = recorder
        traceID = { [recorder] position in entities[position].traceID(recorder) }
        let maps = UnsafeMutableBufferPointer<KeyMap>.allocate(capacity: roots)
        for position in 0..<roots { (maps.baseAddress! + position).initialize(to: KeyMap()) }
        state = Mutex(State(maps: maps, history: RowHistory(roots: roots)))
        self.limit = limit
    }

    /// Whether rows read in a generation cannot be older than the cached ones; `nil` means just written.
    ///
    /// Called under the lock.
    private func isCurrent(_ generation: UInt64?) -> Bool {
        generation == nil || generation == self.generation
    }

    /// The number of saves that changed rows, to distinguish rows read before a save from rows read after it.
    var generation: UInt64 { saves.load(ordering: .acquiring) }

    /// Rejects rows that were read before a completed save from now on.
    func advance() {
        state.withLock { _ in _ = saves.add(1, ordering: .acquiringAndReleasing) }
    }

    /// Returns the row of a key, with its block retained.
    func row(root: Int, key: Int64) -> (row: RowPointer, block: RowBlock)? {
        state.withLock { state in
            guard let address = state.maps[root].address(key) else { return nil }
            let row = RowPointer(address: address)
            // The block may be deallocating, waiting for the lock to remove its rows from the cache.
            guard let block = swift_tryRetain(row.raw.pointee.block) else { return nil }
            return (row, Unmanaged<RowBlock>.fromOpaque(block).takeRetainedValue())
        }
    }

    /// The number of keys to look up before releasing the lock.
    private static let keysAtOnce = 256

    /// Returns the rows of several keys with their blocks retained, and the keys that are not cached.
    func rows(
        root: Int, keys: [Int64]
    ) -> (rows: ContiguousArray<RowPointer>, blocks: [RowBlock], missing: [Int64]) {
        var found: ContiguousArray<RowPointer> = []
        var blocks: [RowBlock] = []
        var missing: [Int64] = []
        found.reserveCapacity(keys.count)
        // Gives other threads a chance to take the lock.
        for start in stride(from: 0, to: keys.count, by: Self.keysAtOnce) {
            state.withLock { state in
                for key in keys[start..<min(start + Self.keysAtOnce, keys.count)] {
                    if let address = state.maps[root].address(key), State.hold(RowPointer(address: address), &blocks) {
                        found.append(RowPointer(address: address))
                    } else {
                        missing.append(key)
                    }
                }
            }
        }
        return (found, blocks, missing)
    }

    /// Inserts rows that were just read or written.
    ///
    /// A row that is cached in the same version is replaced by the cached copy. All users of a version then share one
    /// copy, and marking it superseded reaches all of them.
    ///
    /// Rows that were read before a completed save may be stale or deleted, so they are not cached.
    ///
    /// - Parameter generation: The cache's generation when the rows were read; `nil` if they were just written.
    /// - Returns: The number of rows that were cached in the same version, and the blocks of these.
    func insert(
        _ rows: inout ContiguousArray<RowPointer>, _ blocks: [RowBlock], generation: UInt64? = nil
    ) -> (hits: Int, held: [RowBlock]) {
        guard let root = blocks.first?.root else { return (0, []) }
        var hits = 0
        var held: [RowBlock] = []
        var evicted: [RowBlock] = []
        state.withLock { state in
            guard isCurrent(generation) else {
                for position in rows.indices {
                    guard let known = state.counterpart(of: rows[position], root, &held) else { continue }
                    rows[position] = known
                    hits += 1
                }
                return
            }
            state.maps[root].reserve(rows.count)
            var listed: UnsafeMutableRawPointer?
            let recordedAt = recorder.nowIfEnabled
            for position in rows.indices {
                if let known = state.insert(
                    rows[position], root, &listed, &held, isWritten: generation == nil, recordedAt: recordedAt)
                {
                    rows[position] = known
                    hits += 1
                }
            }
            evicted = state.trim(to: limit)
        }
        if !evicted.isEmpty { evict(consume evicted) }
        return (hits, held)
    }

    /// Inserts one row that was read, whose block the caller retains; see ``insert(_:_:generation:)``.
    func insert(_ row: RowPointer, generation: UInt64) -> (row: RowPointer, block: RowBlock) {
        let root = row.unmanagedBlock._withUnsafeGuaranteedRef(\.root)
        var held: [RowBlock] = []
        var evicted: [RowBlock] = []
        let known = state.withLock { state in
            guard isCurrent(generation) else { return state.counterpart(of: row, root, &held) }
            var listed: UnsafeMutableRawPointer?
            let recordedAt = recorder.nowIfEnabled
            let known = state.insert(row, root, &listed, &held, isWritten: false, recordedAt: recordedAt)
            evicted = state.trim(to: limit)
            return known
        }
        if !evicted.isEmpty { evict(consume evicted) }
        return withExtendedLifetime(held) { (known ?? row, (known ?? row).block) }
    }

    /// Releases blocks that exceed the limit.
    ///
    /// Called without the lock, because a deallocating block takes it.
    @inline(never)
    private func evict(_ blocks: consuming [RowBlock]) {
        if recorder.isEnabled { record(evictionOf: &blocks) }
    }

    /// Records the eviction of the blocks' rows for each inheritance tree, and how many of them are still held.
    private func record(evictionOf blocks: inout [RowBlock]) {
        var evictions: [Int: TraceEvent.Eviction] = [:]
        for position in blocks.indices {
            let isHeld = !isKnownUniquelyReferenced(&blocks[position])
            let block = blocks[position]
            var rows: UInt32 = 0
            block.forEachRow { _ in rows += 1 }
            evictions[block.root, default: TraceEvent.Eviction()].rows += rows
            evictions[block.root]?.heldRows += isHeld ? rows : 0
            evictions[block.root]?.bytes += UInt64(block.capacity)
        }
        for (root, var eviction) in evictions.sorted(by: { $0.key < $1.key }) where eviction.rows > 0 {
            guard let open = recorder.begin() else { return }
            eviction.entity = traceID(root)
            eviction.limit = UInt64(limit)
            recorder.end(open, eviction)
        }
    }

    /// Removes a row that was deleted.
    func remove(root: Int, key: Int64) {
        state.withLock { state in
            guard let address = state.maps[root].address(key) else { return }
            RowPointer(address: address).markSuperseded()
            state.maps[root].remove(key)
        }
    }

    /// Removes the rows of a deallocating block.
    func forget(_ block: RowBlock) {
        guard block.isListed else { return }
        state.withLock { state in
            block.forEachRow { state.maps[block.root].remove($0.key, address: $0.address) }
        }
    }

    /// Releases all blocks that no object uses.
    func removeUnused() {
        let released = state.withLock { state in
            let young = state.young
            state.young = []
            state.bytes = 0
            return young
        }
        _ = consume released
    }

    /// Removes all rows.
    ///
    /// Objects that hold a row read it again the next time they fire as faults.
    func removeAll() {
        let released = state.withLock { state in
            for position in state.maps.indices {
                // Mark the rows, so their holders are not served from them; a removed row is not marked by later
                // writes.
                state.maps[position].forEach { RowPointer(address: $1).markSuperseded() }
                state.maps[position] = KeyMap()
            }
            let young = state.young
            state.young = []
            state.bytes = 0
            return young
        }
        _ = consume released
    }

    /// The last time at which a row entered the cache while recording; `nil` if it never did.
    ///
    /// - Parameter time: The current time, in nanoseconds of `CLOCK_MONOTONIC`.
    func past(root: Int, key: Int64, at time: UInt64) -> RowHistory.Past? {
        state.withLock { $0.history.past(of: key, root: root, time: time, loaded: $0.loaded) }
    }

    /// The number of cached rows.
    var count: Int {
        state.withLock { state in
            var count = 0
            for position in state.maps.indices { count += state.maps[position].count }
            return count
        }
    }
}
