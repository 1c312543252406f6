import CStore
import FaultlineModel
import Foundation

/// Where the columns of an entity lie in a row; see `cstore_row`.
///
/// Decimals are text.
struct RowLayout: Sendable {
    let columns: [ColumnSchema]
    /// Bytes in front of the first column that has its value elsewhere.
    let fixedSize: Int

    init(_ columns: [ColumnSchema]) {
        self.columns = columns
        fixedSize = cstore_row_fixed_size(UInt32(columns.count))
    }

    @inline(__always)
    static func offset(ofSlot slot: Int) -> Int {
        MemoryLayout<cstore_row>.size + slot * 8
    }
}

/// What stands at the start of every row in memory.
struct RowHeader {
    fileprivate var row: cstore_row

    var version: Int64 { row.version }
    var entity: Int32 { row.entity }
    var size: UInt32 { row.size }
}

/// Where a value stands in a row that has it.
///
/// Made by the store only.
public struct StoredValuePlace {
    // Whoever reads has the object, and the object the row.
    @usableFromInline let row: UnsafeRawPointer
    @usableFromInline let offset: Int

    @inlinable
    @inline(__always)
    init(row: UnsafeRawPointer, slot: Int) {
        self.row = row
        offset = Self.columnsOffset &+ slot &* 8
    }

    /// In front of the columns, and of the bits that say which of them have values; as `cstore_row` has it.
    @inlinable static var columnsOffset: Int { 48 }
    @inlinable static var presenceOffset: Int { 40 }

    @inlinable
    @inline(__always)
    var integer: Int64 { row.load(fromByteOffset: offset, as: Int64.self) }

    @inlinable
    @inline(__always)
    var real: Double { row.load(fromByteOffset: offset, as: Double.self) }

    @inlinable
    @inline(__always)
    var text: String {
        let place = row.load(fromByteOffset: offset, as: UInt64.self)
        let bytes = UnsafeRawBufferPointer(
            start: row + Int(truncatingIfNeeded: place & 0xffff_ffff), count: Int(truncatingIfNeeded: place >> 32))
        return String(decoding: bytes, as: UTF8.self)
    }
}

@available(*, unavailable)
extension StoredValuePlace: Sendable {}

/// A row in memory.
///
/// Whoever has one also holds its block.
@usableFromInline
struct RowPointer: @unchecked Sendable {
    // The bytes behind the address do not change after the row was filled, but for one flag that is read atomically.
    @usableFromInline let address: UnsafeMutableRawPointer

    @inline(__always)
    var raw: UnsafeMutablePointer<cstore_row> {
        address.assumingMemoryBound(to: cstore_row.self)
    }

    @inline(__always)
    var header: UnsafePointer<RowHeader> {
        UnsafePointer(address.assumingMemoryBound(to: RowHeader.self))
    }

    @inline(__always)
    var key: Int64 { raw.pointee.key }

    /// Whether the column has a value.
    @inline(__always)
    func hasValue(slot: Int) -> Bool {
        let word = slot < 64 ? raw.pointee.present : furtherPresence(slot)
        return word & (1 << UInt64(slot & 63)) != 0
    }

    /// Notes that the column has a value.
    @inline(__always)
    func mark(slot: Int) {
        if slot < 64 {
            raw.pointee.present |= 1 << UInt64(slot)
        } else {
            cstore_row_mark(raw, Int32(truncatingIfNeeded: slot))
        }
    }

    @inline(never)
    private func furtherPresence(_ slot: Int) -> UInt64 {
        let place = Int(raw.pointee.columns) + (slot >> 6) - 1
        return address.load(fromByteOffset: MemoryLayout<cstore_row>.size + place * 8, as: UInt64.self)
    }

    @inline(__always)
    func integer(at offset: Int) -> Int64 { address.load(fromByteOffset: offset, as: Int64.self) }

    @inline(__always)
    func real(at offset: Int) -> Double { address.load(fromByteOffset: offset, as: Double.self) }

    @inline(__always)
    func bytes(at offset: Int) -> UnsafeRawBufferPointer {
        let place = address.load(fromByteOffset: offset, as: UInt64.self)
        return UnsafeRawBufferPointer(
            start: address + Int(truncatingIfNeeded: place & 0xffff_ffff), count: Int(truncatingIfNeeded: place >> 32))
    }

    @inline(__always)
    func text(at offset: Int) -> String {
        String(decoding: bytes(at: offset), as: UTF8.self)
    }

    /// Bytes of the row's values, as a trace counts them: eight a number, its length for everything else.
    func byteCount(_ layout: RowLayout) -> Int {
        var count = 0
        for slot in layout.columns.indices { count += byteCount(layout, slot: slot) }
        return count
    }

    @inline(__always)
    func byteCount(_ layout: RowLayout, slot: Int) -> Int {
        guard hasValue(slot: slot) else { return 0 }
        switch layout.columns[slot].storage {
        case .integer, .real: return 8
        case .text, .blob, .decimal: return bytes(at: RowLayout.offset(ofSlot: slot)).count
        }
    }
}
