import CStore
import FaultlineRecorder
import FaultlineTrace
import Foundation
import Synchronization

/// The rows of a store that are in memory, shared by all contexts.
///
/// A row stays as long as an object holds its block. Beyond that the youngest blocks are kept, up to a limit in bytes,
/// so that memory follows what is alive.
final class RowCache: Sendable {
    private struct State: ~Copyable {
        /// Rows by primary key, one table a root entity.
        var maps: UnsafeMutableBufferPointer<KeyMap>
        /// The youngest blocks, oldest first.
        var young: [RowBlock] = []
        var bytes = 0
        /// Which keys were ever here while recording was on, one bit each, by root entity.
        var seen: [[UInt64]]

        deinit {
            maps.deinitialize()
            maps.deallocate()
        }

        /// Takes in a row, unless it is here in the same version.
        ///
        /// - Parameters:
        ///   - listed: the block of the row before: rows of a block follow each other.
        ///   - isWritten: whether the row was written, so that it is what the store has, and not read.
        /// - Returns: the copy that is here, whose block is held.
        @inline(__always)
        mutating func insert(
            _ row: RowPointer, _ root: Int, _ listed: inout UnsafeMutableRawPointer?, _ held: inout [RowBlock],
            isWritten: Bool, isRecording: Bool
        ) -> RowPointer? {
            if isRecording { Self.mark(row.key, &seen[root]) }
            var (isNew, isOlder) = (true, false)
            let address = maps[root].insert(row.key, row.address) { old in
                let old = RowPointer(address: old)
                let version = old.header.pointee.version
                // Another connection has read what another process wrote since this one began to read.
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
            return nil
        }

        /// The copy of a row that is here in the same version, whose block is held; an older one is marked so.
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
        }

        /// Takes out the oldest blocks that are too much.
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

        /// Retains a row's block, unless it is on its way out.
        ///
        /// Rows that were read together often lie together.
        fileprivate static func hold(_ row: RowPointer, _ held: inout [RowBlock]) -> Bool {
            let block = row.raw.pointee.block
            if let last = held.last, Unmanaged.passUnretained(last).toOpaque() == block { return true }
            guard let retained = swift_tryRetain(block) else { return false }
            held.append(Unmanaged<RowBlock>.fromOpaque(retained).takeRetainedValue())
            return true
        }

        /// Keys are dense, so a bit each is little; keys beyond 64 million (8 MiB of bits) are not remembered.
        private static func mark(_ key: Int64, _ seen: inout [UInt64]) {
            guard key >= 0, key < 1 << 26 else { return }
            let word = Int(key >> 6)
            if word >= seen.count {
                seen.append(contentsOf: repeatElement(0, count: max(word + 1, seen.count * 2) - seen.count))
            }
            seen[word] |= 1 << UInt64(key & 63)
        }
    }

    private let state: Mutex<State>
    /// Changed under the lock.
    private let saves = Atomic<UInt64>(0)
    /// Bytes of blocks that are kept although no object holds them.
    let limit: Int
    private let recorder: Recorder
    /// The number in the trace's dictionary of the entity at a place of the model.
    private let traceID: @Sendable (Int) -> DictionaryID

    /// - Parameter entities: those of the model, by place.
    init(_ entities: [EntityRuntime], limit: Int, recorder: Recorder) {
        let roots = entities.count
        self.recorder = recorder
        traceID = { [recorder] place in entities[place].traceID(recorder) }
        let maps = UnsafeMutableBufferPointer<KeyMap>.allocate(capacity: roots)
        for place in 0..<roots { (maps.baseAddress! + place).initialize(to: KeyMap()) }
        state = Mutex(State(maps: maps, seen: Array(repeating: [], count: roots)))
        self.limit = limit
    }

    /// Whether what was read in a generation cannot be older than what is here; `nil`: it was written.
    ///
    /// Under the lock.
    private func isCurrent(_ generation: UInt64?) -> Bool {
        generation == nil || generation == self.generation
    }

    /// How often a save has changed rows, so that what a connection has read before can be told from what it reads now.
    var generation: UInt64 { saves.load(ordering: .acquiring) }

    /// Refuses from now on what was read before a save that is done.
    func advance() {
        state.withLock { _ in _ = saves.add(1, ordering: .acquiringAndReleasing) }
    }

    /// The row of a key, with its block held.
    func row(root: Int, key: Int64) -> (row: RowPointer, block: RowBlock)? {
        state.withLock { state in
            guard let address = state.maps[root].address(key) else { return nil }
            let row = RowPointer(address: address)
            // The block may be on its way out, waiting for the lock to take its rows from the cache.
            guard let block = swift_tryRetain(row.raw.pointee.block) else { return nil }
            return (row, Unmanaged<RowBlock>.fromOpaque(block).takeRetainedValue())
        }
    }

    /// Keys that are looked up without letting go of the lock.
    private static let keysAtOnce = 256

    /// The rows of several keys, with what holds them, and the keys that have none here.
    func rows(
        root: Int, keys: [Int64]
    ) -> (rows: ContiguousArray<RowPointer>, blocks: [RowBlock], missing: [Int64]) {
        var found: ContiguousArray<RowPointer> = []
        var blocks: [RowBlock] = []
        var missing: [Int64] = []
        found.reserveCapacity(keys.count)
        // Others want the lock too.
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

    /// Takes in rows that were just read or written.
    ///
    /// Where a row is here in the same version, that one is put in the new one's place: all who use a version of a row
    /// use one copy of it, so that marking that copy superseded reaches all of them.
    ///
    /// What was read before a save that is done by now may be older than what is here, or deleted: it does not stay here.
    ///
    /// - Parameter generation: that of the cache when the rows were read; `nil`: they were just written.
    /// - Returns: how many rows were here in the same version, and what holds those.
    func insert(
        _ rows: inout ContiguousArray<RowPointer>, _ blocks: [RowBlock], generation: UInt64? = nil
    ) -> (hits: Int, held: [RowBlock]) {
        guard let root = blocks.first?.root else { return (0, []) }
        var hits = 0
        var held: [RowBlock] = []
        var evicted: [RowBlock] = []
        state.withLock { state in
            guard isCurrent(generation) else {
                for place in rows.indices {
                    guard let known = state.counterpart(of: rows[place], root, &held) else { continue }
                    rows[place] = known
                    hits += 1
                }
                return
            }
            state.maps[root].reserve(rows.count)
            var listed: UnsafeMutableRawPointer?
            let (isWritten, isRecording) = (generation == nil, recorder.isEnabled)
            for place in rows.indices {
                if let known = state.insert(
                    rows[place], root, &listed, &held, isWritten: isWritten, isRecording: isRecording)
                {
                    rows[place] = known
                    hits += 1
                }
            }
            evicted = state.trim(to: limit)
        }
        if !evicted.isEmpty { evict(consume evicted) }
        return (hits, held)
    }

    /// Takes in one row that was read, whose block the caller holds; see ``insert(_:_:generation:)``.
    func insert(_ row: RowPointer, generation: UInt64) -> (row: RowPointer, block: RowBlock) {
        let root = row.unmanagedBlock._withUnsafeGuaranteedRef(\.root)
        var held: [RowBlock] = []
        var evicted: [RowBlock] = []
        let known = state.withLock { state in
            guard isCurrent(generation) else { return state.counterpart(of: row, root, &held) }
            var listed: UnsafeMutableRawPointer?
            let known = state.insert(row, root, &listed, &held, isWritten: false, isRecording: recorder.isEnabled)
            evicted = state.trim(to: limit)
            return known
        }
        if !evicted.isEmpty { evict(consume evicted) }
        return withExtendedLifetime(held) { (known ?? row, (known ?? row).block) }
    }

    /// Lets go of blocks that there is no room for.
    ///
    /// Outside of the lock: a block that goes away takes it itself.
    @inline(never)
    private func evict(_ blocks: consuming [RowBlock]) {
        if recorder.isEnabled { record(evictionOf: &blocks) }
    }

    /// Records which rows are in blocks, tree by tree, and which of them something else holds.
    private func record(evictionOf blocks: inout [RowBlock]) {
        var evictions: [Int: TraceEvent.Eviction] = [:]
        for place in blocks.indices {
            let isHeld = !isKnownUniquelyReferenced(&blocks[place])
            let block = blocks[place]
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

    /// Takes a row out because it was deleted.
    func remove(root: Int, key: Int64) {
        state.withLock { state in
            guard let address = state.maps[root].address(key) else { return }
            RowPointer(address: address).markSuperseded()
            state.maps[root].remove(key)
        }
    }

    /// Takes out the rows of a block that goes away.
    func forget(_ block: RowBlock) {
        guard block.isListed else { return }
        state.withLock { state in
            block.forEachRow { state.maps[block.root].remove($0.key, address: $0.address) }
        }
    }

    /// Lets go of everything that no object holds.
    func removeUnused() {
        let released = state.withLock { state in
            let young = state.young
            state.young = []
            state.bytes = 0
            return young
        }
        _ = consume released
    }

    /// Lets go of everything.
    ///
    /// Objects that hold a row read it anew when they are faults the next time.
    func removeAll() {
        let released = state.withLock { state in
            for place in state.maps.indices {
                // Whoever holds the row must not be served from it; it is no longer marked when it is written.
                state.maps[place].forEach { RowPointer(address: $1).markSuperseded() }
                state.maps[place] = KeyMap()
            }
            let young = state.young
            state.young = []
            state.bytes = 0
            return young
        }
        _ = consume released
    }

    /// Whether a key was here before, as far as that was recorded.
    func hasSeen(root: Int, key: Int64) -> Bool {
        state.withLock { state in
            let word = Int(key >> 6)
            guard key >= 0, word < state.seen[root].count else { return false }
            return state.seen[root][word] & (1 << UInt64(key & 63)) != 0
        }
    }

    /// How many rows are here.
    var count: Int {
        state.withLock { state in
            var count = 0
            for place in state.maps.indices { count += state.maps[place].count }
            return count
        }
    }
}
