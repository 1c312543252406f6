import CSQLite
import CStore
import Foundation

/// A piece of memory that holds rows, one behind the other.
///
/// Objects hold the blocks that their rows lie in, and the row cache holds the youngest; a block that nobody holds
/// takes its rows out of the cache.
final class RowBlock: @unchecked Sendable {
    // Rows are written by the one that fills the block, each before anyone else sees it; then they are only read (see
    // RowPointer.isSuperseded). `used` is theirs as well until the block goes away.
    let base: UnsafeMutableRawPointer
    let capacity: Int
    fileprivate var used = 0
    /// The place of the root entity of its rows in the model.
    let root: Int
    /// Whether the cache refers to a row of it.
    ///
    /// Set by the cache, under its lock.
    var isListed = false
    private let cache: RowCache
    /// When its rows began to be read, in nanoseconds of ``now``.
    let time = RowBlock.now

    /// A clock of a few milliseconds' grain that costs next to nothing.
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// - Parameter capacity: bytes, a multiple of eight.
    fileprivate init(capacity: Int, root: Int, cache: RowCache) {
        base = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        self.capacity = capacity
        self.root = root
        self.cache = cache
    }

    deinit {
        cache.forget(self)
        base.deallocate()
    }

    func forEachRow(_ body: (RowPointer) -> Void) {
        var offset = 0
        while offset < used {
            let row = RowPointer(address: base + offset)
            let size = Int(row.header.pointee.size)
            body(row)
            offset += size
        }
    }
}

extension RowPointer {
    @inline(__always)
    var unmanagedBlock: Unmanaged<RowBlock> { Unmanaged.fromOpaque(raw.pointee.block) }

    @inline(__always)
    var block: RowBlock { unmanagedBlock.takeUnretainedValue() }

    /// Whether a newer version of the row, or its deletion, is known.
    @inline(__always)
    var isSuperseded: Bool { cstore_load(superseded) != 0 }

    func markSuperseded() {
        cstore_store(superseded, 1)
    }

    @inline(__always)
    private var superseded: UnsafeMutablePointer<UInt32> {
        (address + MemoryLayout<cstore_row>.offset(of: \.superseded)!).assumingMemoryBound(to: UInt32.self)
    }
}

/// Fills blocks with rows.
struct RowBuilder {
    private(set) var blocks: [RowBlock] = []
    private let cache: RowCache
    private let root: Int
    private var blockSize: Int
    private var block: RowBlock
    // The row that is being filled.
    private var row: RowPointer
    private var rowUsed = 0

    /// Bytes that blocks grow to.
    private static let largestBlock = 64 << 10

    /// - Parameter blockSize: bytes of the first block. Each one that follows has twice as many, up to 64 KiB: the row
    ///   cache counts room as it counts rows. A block that must hold a longer row is larger.
    init(root: Int, cache: RowCache, blockSize: Int) {
        self.cache = cache
        self.root = root
        self.blockSize = blockSize
        block = RowBlock(capacity: blockSize, root: root, cache: cache)
        row = RowPointer(address: block.base)
        blocks.append(block)
    }

    /// Copies the row that a statement stands on.
    @inline(__always)
    mutating func copy(
        _ statement: OpaquePointer, _ columns: EntityRuntime.RowColumns, _ layout: RowLayout, entity: Int
    ) -> RowPointer {
        while true {
            let used = block.used
            row = RowPointer(address: block.base + used)
            let room = block.capacity - used
            let size = cstore_row_copy(
                statement, columns.start, UInt32(truncatingIfNeeded: columns.count), Int32(truncatingIfNeeded: entity),
                layout.fixedSize, row.raw, room)
            if size <= room {
                row.raw.pointee.block = Unmanaged.passUnretained(block).toOpaque()
                block.used = used + size
                return row
            }
            addBlock(size)
        }
    }

    /// Copies the row that a statement stands on; the blocks that are full are left to whoever uses their rows.
    mutating func copySingle(
        _ statement: OpaquePointer, _ columns: EntityRuntime.RowColumns, _ layout: RowLayout, entity: Int
    ) -> RowPointer {
        let row = copy(statement, columns, layout, entity: entity)
        if blocks.count > 1 { blocks.removeFirst(blocks.count - 1) }
        return row
    }

    @inline(never)
    private mutating func addBlock(_ size: Int) {
        blockSize = max(blockSize, min(blockSize * 2, Self.largestBlock))
        if block.used == 0 { blocks.removeLast() }
        block = RowBlock(capacity: max(blockSize, (size + 7) & ~7), root: root, cache: cache)
        blocks.append(block)
    }

    // MARK: - Value by value

    /// Makes room for a row's fixed part; no column has a value.
    @inline(__always)
    mutating func begin(_ layout: RowLayout, key: Int64, version: Int64, entity: Int) {
        rowUsed = 0
        reserve(layout.fixedSize)
        rowUsed = layout.fixedSize
        cstore_row_begin(
            row.raw, UInt32(truncatingIfNeeded: layout.columns.count), Int32(truncatingIfNeeded: entity), key,
            version)
    }

    @inline(__always)
    mutating func set(slot: Int, integer: Int64) {
        row.mark(slot: slot)
        row.address.storeBytes(of: integer, toByteOffset: RowLayout.offset(ofSlot: slot), as: Int64.self)
    }

    @inline(__always)
    mutating func set(slot: Int, real: Double) {
        row.mark(slot: slot)
        row.address.storeBytes(of: real, toByteOffset: RowLayout.offset(ofSlot: slot), as: Double.self)
    }

    @inline(__always)
    mutating func set(slot: Int, bytes: UnsafeRawPointer?, count: Int) {
        reserve(rowUsed + count)
        row.mark(slot: slot)
        if let bytes, count > 0 { (row.address + rowUsed).copyMemory(from: bytes, byteCount: count) }
        row.address.storeBytes(
            of: UInt64(rowUsed) | UInt64(count) << 32, toByteOffset: RowLayout.offset(ofSlot: slot),
            as: UInt64.self)
        rowUsed += count
    }

    /// The filled row.
    @inline(__always)
    mutating func finish() -> RowPointer {
        let size = (rowUsed + 7) & ~7
        row.raw.pointee.size = UInt32(size)
        row.raw.pointee.block = Unmanaged.passUnretained(block).toOpaque()
        block.used += size
        return row
    }

    /// Makes sure that the row can have so many bytes; moves what there is of it to a new block if it cannot.
    @inline(__always)
    private mutating func reserve(_ size: Int) {
        // The capacity is a multiple of eight, so that the rounded size fits as well.
        if block.used + size <= block.capacity {
            row = RowPointer(address: block.base + block.used)
        } else {
            move(size)
        }
    }

    @inline(never)
    private mutating func move(_ size: Int) {
        let (begun, holder) = (row, block)
        // Leaves room for the values that follow in the same row.
        addBlock(size + size / 2 + 256)
        row = RowPointer(address: block.base)
        withExtendedLifetime(holder) {
            if rowUsed > 0 { row.address.copyMemory(from: begun.address, byteCount: rowUsed) }
        }
    }
}
