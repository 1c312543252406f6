import CStore
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
        /// The youngest blocks, oldest first from `oldest` on.
        var young: [RowBlock] = []
        var oldest = 0
        var bytes = 0
        /// Which keys were ever here while recording was on, one bit each, by root entity.
        var seen: [[UInt64]]

        deinit {
            maps.deinitialize()
            maps.deallocate()
        }
    }

    private let state: Mutex<State>
    /// Bytes of blocks that are kept although no object holds them.
    let limit: Int

    init(roots: Int, limit: Int) {
        let maps = UnsafeMutableBufferPointer<KeyMap>.allocate(capacity: roots)
        for place in 0..<roots { (maps.baseAddress! + place).initialize(to: KeyMap()) }
        state = Mutex(State(maps: maps, seen: Array(repeating: [], count: roots)))
        self.limit = limit
    }

    /// The row of a key, with its block held.
    func row(root: Int, key: Int64) -> (row: RowPointer, block: RowBlock)? {
        state.withLock { state in
            guard let address = state.maps[root].address(key) else { return nil }
            let row = RowPointer(address: address)
            // The block may be on its way out, waiting for the lock to take its rows from the cache.
            guard let block = swift_tryRetain(row.header.pointee.block.toOpaque()) else { return nil }
            return (row, Unmanaged<RowBlock>.fromOpaque(block).takeRetainedValue())
        }
    }

    /// Takes in rows that were just read or written.
    ///
    /// Where a row is here in the same version, that one is put in the new one's place: all who use a version of a row
    /// use one copy of it, so that marking that copy superseded reaches all of them.
    ///
    /// - Returns: how many rows were here in the same version, and what holds those.
    func insert(
        _ rows: inout ContiguousArray<RowPointer>, _ blocks: [RowBlock], isRecording: Bool
    ) -> (hits: Int, held: [RowBlock]) {
        guard let root = blocks.first?.root else { return (0, []) }
        var hits = 0
        var held: [RowBlock] = []
        // Let go of outside the lock: a block that goes away takes the lock itself.
        var evicted: [RowBlock] = []
        state.withLock { state in
            for place in rows.indices {
                let row = rows[place]
                if isRecording { Self.mark(row.key, &state.seen[root]) }
                if let address = state.maps[root].insert(row.key, row.address) {
                    let old = RowPointer(address: address)
                    if old.header.pointee.version != row.header.pointee.version {
                        old.markSuperseded()
                    } else if Self.hold(old, &held) {
                        state.maps[root].insert(row.key, address)
                        rows[place] = old
                        hits += 1
                        continue
                    }
                }
                row.block.isListed = true
            }
            for block in blocks where block.isListed {
                state.young.append(block)
                state.bytes += block.capacity
            }
            while state.bytes > limit, state.oldest < state.young.count - 1 {
                let block = state.young[state.oldest]
                evicted.append(block)
                state.bytes -= block.capacity
                state.oldest += 1
            }
            if !evicted.isEmpty {
                state.young.removeFirst(state.oldest)
                state.oldest = 0
            }
        }
        return (hits, held)
    }

    /// Retains a row's block, unless it is on its way out.
    ///
    /// Rows that were read together often lie together.
    private static func hold(_ row: RowPointer, _ held: inout [RowBlock]) -> Bool {
        let block = row.header.pointee.block
        if let last = held.last, Unmanaged.passUnretained(last).toOpaque() == block.toOpaque() { return true }
        guard let retained = swift_tryRetain(block.toOpaque()) else { return false }
        held.append(Unmanaged<RowBlock>.fromOpaque(retained).takeRetainedValue())
        return true
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
            state.oldest = 0
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
