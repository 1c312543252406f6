import CStore
import Foundation

/// A piece of memory that holds rows, one behind the other.
///
/// Objects hold the blocks that their rows lie in, and the row cache holds the youngest; a block that nobody holds
/// takes its rows out of the cache.
final class RowBlock: @unchecked Sendable {
    // Written by the one that fills it, before anyone else sees it; then only read (see RowHeader.superseded).
    let base: UnsafeMutableRawPointer
    let capacity: Int
    fileprivate(set) var used = 0
    /// The place of the root entity of its rows in the model.
    let root: Int
    /// Whether the cache refers to a row of it.
    ///
    /// Set by the cache, under its lock, before the block is shared.
    var isListed = false
    private let cache: RowCache

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
    var block: RowBlock { header.pointee.block.takeUnretainedValue() }

    /// Whether a newer version of the row, or its deletion, is known.
    @inline(__always)
    var isSuperseded: Bool {
        cstore_load(
            UnsafePointer(
                (address + MemoryLayout<RowHeader>.offset(of: \.superseded)!).assumingMemoryBound(to: UInt32.self)))
            != 0
    }

    func markSuperseded() {
        cstore_store(
            (address + MemoryLayout<RowHeader>.offset(of: \.superseded)!).assumingMemoryBound(to: UInt32.self), 1)
    }
}

/// Fills blocks with rows.
struct RowBuilder {
    private(set) var blocks: [RowBlock] = []
    private let cache: RowCache
    private let root: Int
    private var blockSize: Int
    // The row that is being filled.
    private var row: UnsafeMutableRawPointer
    private var rowStart = 0
    private var rowUsed = 0
    private var block: RowBlock

    /// Bytes that blocks grow to.
    private static let largestBlock = 64 << 10

    /// - Parameter blockSize: bytes of the first block. Each one that follows has twice as many, up to 64 KiB: the row
    ///   cache counts room as it counts rows. A block that must hold a longer row is larger.
    init(root: Int, cache: RowCache, blockSize: Int) {
        self.cache = cache
        self.root = root
        self.blockSize = blockSize
        block = RowBlock(capacity: blockSize, root: root, cache: cache)
        row = block.base
        blocks.append(block)
    }

    /// Makes room for a row's fixed part.
    ///
    /// The bits that say which columns have values are zero.
    @inline(__always)
    mutating func begin(_ layout: RowLayout, key: Int64, version: Int64, entity: Int) {
        rowStart = block.used
        rowUsed = 0
        reserve(layout.fixedSize)
        rowUsed = layout.fixedSize
        row.assumingMemoryBound(to: RowHeader.self).initialize(
            to: RowHeader(
                key: key, block: Unmanaged.passUnretained(block), version: version, entity: Int32(entity), size: 0,
                superseded: 0, reserved: 0))
        for word in 0..<layout.bitWords {
            row.storeBytes(of: 0, toByteOffset: RowHeader.size + word * 8, as: UInt64.self)
        }
    }

    @inline(__always)
    private mutating func mark(_ slot: Int) {
        let offset = RowHeader.size + (slot >> 6) * 8
        let word = row.load(fromByteOffset: offset, as: UInt64.self)
        row.storeBytes(of: word | (1 << UInt64(slot & 63)), toByteOffset: offset, as: UInt64.self)
    }

    @inline(__always)
    mutating func set(_ layout: RowLayout, slot: Int, integer: Int64) {
        mark(slot)
        row.storeBytes(of: integer, toByteOffset: layout.offset(ofSlot: slot), as: Int64.self)
    }

    @inline(__always)
    mutating func set(_ layout: RowLayout, slot: Int, real: Double) {
        mark(slot)
        row.storeBytes(of: real, toByteOffset: layout.offset(ofSlot: slot), as: Double.self)
    }

    @inline(__always)
    mutating func set(_ layout: RowLayout, slot: Int, bytes: UnsafeRawPointer?, count: Int) {
        reserve(rowUsed + count)
        mark(slot)
        if let bytes, count > 0 { (row + rowUsed).copyMemory(from: bytes, byteCount: count) }
        row.storeBytes(
            of: UInt64(rowUsed) | UInt64(count) << 32, toByteOffset: layout.offset(ofSlot: slot), as: UInt64.self)
        rowUsed += count
    }

    /// The filled row.
    @inline(__always)
    mutating func finish() -> RowPointer {
        let size = (rowUsed + 7) & ~7
        row.assumingMemoryBound(to: RowHeader.self).pointee.size = UInt32(size)
        block.used = rowStart + size
        return RowPointer(address: row)
    }

    /// Makes sure that the row can have so many bytes; moves what there is of it to a new block if it cannot.
    @inline(__always)
    private mutating func reserve(_ size: Int) {
        // 8 spare bytes, so that the rounded size fits as well.
        if rowStart + size + 8 <= block.capacity {
            row = block.base + rowStart
            return
        }
        move(size)
    }

    @inline(never)
    private mutating func move(_ size: Int) {
        blockSize = max(blockSize, min(blockSize * 2, Self.largestBlock))
        // Leaves room for the values that follow in the same row.
        let next = RowBlock(capacity: max(blockSize, size + size / 2 + 256), root: root, cache: cache)
        if rowUsed > 0 {
            next.base.copyMemory(from: block.base + rowStart, byteCount: rowUsed)
            next.base.assumingMemoryBound(to: RowHeader.self).pointee.block = Unmanaged.passUnretained(next)
        }
        if block.used == 0 { blocks.removeLast() }
        block = next
        blocks.append(next)
        rowStart = 0
        row = next.base
    }
}
