/// A message in the wire format of protocol buffers (https://protobuf.dev/programming-guides/encoding).
///
/// Fields with their default, zero or nothing, are left out, as proto3 does.
struct Protobuf {
    private(set) var bytes: [UInt8] = []

    private enum WireType: UInt64 {
        case varint = 0
        case length = 2
    }

    /// Adds a number.
    mutating func add(_ field: UInt64, _ value: UInt64) {
        guard value != 0 else { return }
        addKey(field, .varint)
        addVarint(value)
    }

    /// Adds a flag.
    mutating func add(_ field: UInt64, _ value: Bool) { add(field, value ? 1 : 0) }

    /// Adds a list of numbers.
    mutating func add(_ field: UInt64, _ values: [UInt64]) {
        guard !values.isEmpty else { return }
        var packed = Protobuf()
        for value in values { packed.addVarint(value) }
        add(field, bytes: packed.bytes)
    }

    /// Adds a message, even if it is empty: repeated fields refer to one another by position.
    mutating func add(_ field: UInt64, _ message: Protobuf) { add(field, bytes: message.bytes) }

    /// Adds a text, even if it is empty.
    mutating func add(_ field: UInt64, text: String) { add(field, bytes: Array(text.utf8)) }

    private mutating func add(_ field: UInt64, bytes content: [UInt8]) {
        addKey(field, .length)
        addVarint(UInt64(content.count))
        bytes += content
    }

    private mutating func addKey(_ field: UInt64, _ type: WireType) { addVarint(field << 3 | type.rawValue) }

    private mutating func addVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
