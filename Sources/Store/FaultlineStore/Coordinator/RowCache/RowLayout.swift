import CStore
import FaultlineModel
import Foundation

/// The positions of an entity's columns in a row; see `cstore_row`.
///
/// Decimals are stored as text.
struct RowLayout: Sendable {
    let columns: [ColumnSchema]
    /// The bytes before the first value of variable length.
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

/// The start of every row in memory.
struct RowHeader {
    fileprivate var row: cstore_row

    var version: Int64 { row.version }
    var entity: Int32 { row.entity }
    var size: UInt32 { row.size }
}

/// The position of an existing value in a row.
///
/// Only the store creates it.
public struct StoredValueLocation {
    // The reader holds the object, and the object holds the row.
    @usableFromInline let row: UnsafeRawPointer
    @usableFromInline let offset: Int

    @inlinable
    @inline(__always)
    init(row: UnsafeRawPointer, slot: Int) {
        self.row = row
        offset = Self.columnsOffset &+ slot &* 8
    }

    /// The offsets of the columns and of the presence bits in `cstore_row`.
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
        let position = row.load(fromByteOffset: offset, as: UInt64.self)
        let bytes = UnsafeRawBufferPointer(
            start: row + Int(truncatingIfNeeded: position & 0xffff_ffff), count: Int(truncatingIfNeeded: position >> 32)
        )
        return String(decoding: bytes, as: UTF8.self)
    }
}

@available(*, unavailable)
extension StoredValueLocation: Sendable {}

/// A row in memory.
///
/// The owner of a pointer also retains the row's block.
@usableFromInline
struct RowPointer: @unchecked Sendable {
    // The bytes do not change once the row is filled, except for one flag that is accessed atomically.
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

    /// Marks the column as having a value.
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
        let position = Int(raw.pointee.columns) + (slot >> 6) - 1
        return address.load(fromByteOffset: MemoryLayout<cstore_row>.size + position * 8, as: UInt64.self)
    }

    @inline(__always)
    func integer(at offset: Int) -> Int64 { address.load(fromByteOffset: offset, as: Int64.self) }

    @inline(__always)
    func real(at offset: Int) -> Double { address.load(fromByteOffset: offset, as: Double.self) }

    @inline(__always)
    func bytes(at offset: Int) -> UnsafeRawBufferPointer {
        let position = address.load(fromByteOffset: offset, as: UInt64.self)
        return UnsafeRawBufferPointer(
            start: address + Int(truncatingIfNeeded: position & 0xffff_ffff),
            count: Int(truncatingIfNeeded: position >> 32))
    }

    @inline(__always)
    func text(at offset: Int) -> String {
        String(decoding: bytes(at: offset), as: UTF8.self)
    }

    /// The bytes of the row's values as a trace counts them: eight for a number, the length for other values.
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
