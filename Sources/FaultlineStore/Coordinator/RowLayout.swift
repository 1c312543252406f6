import FaultlineModel
import Foundation

/// What stands at the start of every row in memory.
struct RowHeader {
    /// `Z_PK`.
    var key: Int64
    /// The block that the row lies in.
    var block: Unmanaged<RowBlock>
    /// `Z_OPT`.
    var version: Int64
    /// The place of the row's entity in the model.
    var entity: Int32
    /// Bytes of the whole row.
    var size: UInt32
    /// 1 once another version of the row, or its deletion, is known.
    ///
    /// Read by other threads: see ``RowPointer/isSuperseded``.
    var superseded: UInt32
    var reserved: UInt32

    static var size: Int { 40 }
}

/// Where the columns of an entity lie in a row: behind the header one bit a column that says whether there is a value,
/// then eight bytes a column, then what did not fit there.
///
/// Integers and floating-point numbers stand in their eight bytes, text and blobs as offset from the row's start and
/// length. Decimals are text.
struct RowLayout: Sendable {
    let columns: [ColumnSchema]
    let bitWords: Int
    /// Bytes in front of the first column that has its value elsewhere.
    let fixedSize: Int

    init(_ columns: [ColumnSchema]) {
        self.columns = columns
        bitWords = (columns.count + 63) / 64
        fixedSize = RowHeader.size + (bitWords + columns.count) * 8
    }

    @inline(__always)
    func offset(ofSlot slot: Int) -> Int {
        RowHeader.size + (bitWords + slot) * 8
    }
}

/// A row in memory.
///
/// Whoever has one also holds its block.
struct RowPointer: @unchecked Sendable {
    // The bytes behind the address do not change after the row was filled, but for one flag that is read atomically.
    let address: UnsafeMutableRawPointer

    @inline(__always)
    var header: UnsafeMutablePointer<RowHeader> {
        address.assumingMemoryBound(to: RowHeader.self)
    }

    @inline(__always)
    var key: Int64 { header.pointee.key }

    /// Whether the column has a value.
    @inline(__always)
    func hasValue(slot: Int) -> Bool {
        address.load(fromByteOffset: RowHeader.size + (slot >> 6) * 8, as: UInt64.self) & (1 << UInt64(slot & 63)) != 0
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
        case .text, .blob, .decimal: return bytes(at: layout.offset(ofSlot: slot)).count
        }
    }
}
