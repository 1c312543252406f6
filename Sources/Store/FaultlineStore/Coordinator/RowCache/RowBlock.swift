import CSQLite
import CStore
import Foundation

/// A block of memory that contains consecutive rows.
///
/// Objects retain the blocks of their rows, and the row cache retains the youngest blocks. A block that is released
/// removes its rows from the cache.
final class RowBlock: @unchecked Sendable {
    // Only the builder that fills the block writes its rows, each before publishing it; afterward they are read-only
    // (except for RowPointer.isSuperseded). `used` also belongs to the builder, until `deinit`.
    let base: UnsafeMutableRawPointer
    let capacity: Int
    fileprivate var used = 0
    /// The index of the rows' root entity in the model.
    let root: Int
    /// Whether the cache refers to one of its rows.
    ///
    /// Set by the cache, under its lock.
    var isListed = false
    private let cache: RowCache
    /// When reading its rows began, in nanoseconds of ``now``.
    let time = RowBlock.now

    /// A very cheap clock with a resolution of a few milliseconds.
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Allocates a block.
    ///
    /// - Parameter capacity: Bytes, a multiple of eight.
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
    // The row being built.
    private var row: RowPointer
    private var rowUsed = 0

    /// The maximum size of a block in bytes, unless a single row needs more.
    private static let largestBlock = 64 << 10

    /// Creates a builder with an empty block.
    ///
    /// - Parameter blockSize: Bytes of the first block. Each further block is twice as large, up to 64 KiB, because the
    ///   row cache's limit counts the whole capacity of a block, used or not. A block for a longer row is larger.
    init(root: Int, cache: RowCache, blockSize: Int) {
        self.cache = cache
        self.root = root
        self.blockSize = blockSize
        block = RowBlock(capacity: blockSize, root: root, cache: cache)
        row = RowPointer(address: block.base)
        blocks.append(block)
    }

    /// Copies a statement's current row.
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

    /// Copies a statement's current row; full blocks are left to the users of their rows.
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

    /// Begins a row: reserves its fixed part, with no values.
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

    /// Finishes the row.
    @inline(__always)
    mutating func finish() -> RowPointer {
        let size = (rowUsed + 7) & ~7
        row.raw.pointee.size = UInt32(size)
        row.raw.pointee.block = Unmanaged.passUnretained(block).toOpaque()
        block.used += size
        return row
    }

    /// Reserves bytes for the row; moves it to a new block if necessary.
    @inline(__always)
    private mutating func reserve(_ size: Int) {
        // The capacity is a multiple of eight, so the rounded size fits too.
        if block.used + size <= block.capacity {
            row = RowPointer(address: block.base + block.used)
        } else {
            move(size)
        }
    }

    @inline(never)
    private mutating func move(_ size: Int) {
        let (begun, holder) = (row, block)
        // Leaves room for further values of the same row.
        addBlock(size + size / 2 + 256)
        row = RowPointer(address: block.base)
        withExtendedLifetime(holder) {
            if rowUsed > 0 { row.address.copyMemory(from: begun.address, byteCount: rowUsed) }
        }
    }
}
