import CStore
import Foundation

/// Values of any type that a statement reads as a table.
final class ValueArray {
    private let table: OpaquePointer
    private var values: UnsafeMutableBufferPointer<cstore_value>
    /// The bytes of strings and blobs, one after the other.
    private var bytes: UnsafeMutableBufferPointer<UInt8>

    init(_ table: OpaquePointer) {
        self.table = table
        values = UnsafeMutableBufferPointer(start: nil, count: 0)
        bytes = UnsafeMutableBufferPointer(start: nil, count: 0)
    }

    deinit {
        values.deallocate()
        bytes.deallocate()
    }

    /// Sets the table's contents until the next call.
    func bind(_ new: [SQLValue]) {
        cstore_array_bind(table, nil, 0)
        values.deallocate()
        bytes.deallocate()
        values = UnsafeMutableBufferPointer.allocate(capacity: new.count)
        let size = new.reduce(0) { size, value in
            switch value {
            case .text, .blob: size + value.byteCount
            default: size
            }
        }
        // One extra byte gives an empty string an address.
        bytes = UnsafeMutableBufferPointer.allocate(capacity: size + 1)
        var used = 0
        for (position, value) in new.enumerated() {
            var entry = cstore_value()
            switch value {
            case .null: entry.type = CSTORE_NULL
            case .integer(let value): (entry.type, entry.integer) = (CSTORE_INTEGER, value)
            case .real(let value): (entry.type, entry.real) = (CSTORE_REAL, value)
            case .text(let value): entry = add(value.utf8, CSTORE_TEXT, &used)
            case .blob(let value): entry = add(value, CSTORE_BLOB, &used)
            }
            values.initializeElement(at: position, to: entry)
        }
        cstore_array_bind(table, values.baseAddress, Int64(values.count))
    }

    private func add(_ new: some Collection<UInt8>, _ type: cstore_type, _ used: inout Int) -> cstore_value {
        var entry = cstore_value()
        entry.type = type
        entry.bytes = UnsafeRawPointer(bytes.baseAddress! + used)
        let end = bytes[used...].initialize(fromContentsOf: new)
        entry.count = Int32(end - used)
        used = end
        return entry
    }
}
